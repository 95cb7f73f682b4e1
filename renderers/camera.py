"""The camera, and every per-frame value of a scene driven by the wave workload. Plain NumPy in float64."""

import numpy as np
import numpy.typing as npt

from compute.kernel import Scalar

Matrix = npt.NDArray[np.float64]  # (4, 4), row-major, for column vectors


def frame_values(time_s: float, size_px: tuple[int, int], shader_cost: int = 0) -> dict[str, Scalar]:
    """Everything a frame of ``field`` driven by ``wave`` needs: camera, time, and the wave's a and b."""
    matrix = view_projection(time_s, size_px[0] / size_px[1])
    return {
        "view_projection": tuple(matrix.T.ravel().tolist()),
        "time": time_s,
        "shader_cost": shader_cost,
        "a": 0.85 * float(np.cos(0.9 * time_s)),
        "b": 0.2 + 0.15 * float(np.sin(0.31 * time_s)),
    }


def view_projection(time_s: float, aspect: float) -> Matrix:
    """A camera that sways slowly over the field. Clip depth 0 (near) to 1 (far), y up; (4, 4), row-major."""
    angle = 0.35 + 0.18 * np.sin(0.21 * time_s)
    eye = np.array([13.5 * np.sin(angle), 6.6 + 0.5 * np.sin(0.13 * time_s), 13.5 * np.cos(angle)])
    return perspective(np.radians(42.0), aspect, 0.1, 80.0) @ look_at(eye, np.array([0.0, -0.4, 1.2]))


def perspective(fov_y: float, aspect: float, near: float, far: float) -> Matrix:
    """Right-handed, depth 0 to 1: WebGPU's clip space, and OpenGL's after glClipControl(ZERO_TO_ONE)."""
    scale = 1.0 / np.tan(fov_y / 2.0)
    matrix = np.zeros((4, 4))
    matrix[0, 0], matrix[1, 1] = scale / aspect, scale
    matrix[2, 2], matrix[2, 3] = far / (near - far), near * far / (near - far)
    matrix[3, 2] = -1.0
    return matrix


def look_at(eye: npt.NDArray[np.float64], target: npt.NDArray[np.float64]) -> Matrix:
    """World to view space: the camera looks along -z, with y up."""
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross([0.0, 1.0, 0.0], back)
    right /= np.linalg.norm(right)
    matrix = np.eye(4)
    matrix[:3, :3] = right, np.cross(back, right), back
    matrix[:3, 3] = -matrix[:3, :3] @ eye
    return matrix
