"""Peers that draw as many boxes: the thread time of one frame of theirs. A child of draws.

``_peers.py PEER BOXES`` says whether it is installed, then answers each line of its input, a number of frames, with the
boxes and the ms of each frame.
"""

import math
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

SIZE_PX = (640, 360)
Frame = Callable[[], float]  # draws one frame; its thread time, ms


def places(boxes: int) -> list[tuple[float, float]]:
    """A square grid that spans [-10, 10] on both axes."""
    columns = max(1, math.ceil(math.sqrt(boxes)))
    spacing = 20.0 / columns
    return [((i % columns + 0.5) * spacing - 10.0, (i // columns + 0.5) * spacing - 10.0) for i in range(boxes)]


def timed_ms(draw: Callable[[], None]) -> float:
    begin = time.thread_time_ns()
    draw()
    return (time.thread_time_ns() - begin) / 1e6


def pygfx(boxes: int) -> Frame:
    """A mesh an object, all of one geometry and one material. Waits for each picture, outside of what is timed."""
    import numpy as np
    import pygfx as gfx

    renderer = gfx.renderers.WgpuRenderer(gfx.Texture(dim=2, size=(*SIZE_PX, 1), format="rgba8unorm"))
    scene, camera = gfx.Scene(), gfx.PerspectiveCamera(42, SIZE_PX[0] / SIZE_PX[1])
    scene.add(gfx.AmbientLight(), gfx.DirectionalLight())
    edge = 14.0 / math.sqrt(boxes)
    geometry, material = gfx.box_geometry(edge, edge, edge), gfx.MeshPhongMaterial(color="#e0a040")
    for x, z in places(boxes):
        mesh = gfx.Mesh(geometry, material)
        mesh.local.position = (x, 0.0, z)
        scene.add(mesh)
    camera.local.position = (0.0, 20.0, 40.0)
    camera.look_at((0.0, 0.0, 0.0))

    def frame() -> float:
        took = timed_ms(partial(renderer.render, scene, camera))
        check(np.asarray(renderer.snapshot()))
        return took

    return frame


def panda3d(boxes: int) -> Frame:
    """A node an object, of one box that ships with Panda3D. App, cull and draw on the calling thread: its default."""
    import numpy as np
    from panda3d.core import loadPrcFileData

    settings = ("window-type offscreen", "load-display p3headlessgl", "audio-library-name null", "sync-video false")
    loadPrcFileData("", "\n".join((*settings, f"win-size {SIZE_PX[0]} {SIZE_PX[1]}", "notify-level error")))
    from direct.showbase.ShowBase import ShowBase

    base: Any = ShowBase()
    model = base.loader.loadModel("models/box")
    model.setScale(14.0 / math.sqrt(boxes))
    for x, y in places(boxes):
        model.copyTo(base.render).setPos(x, y, 0.0)
    base.camera.setPos(0.0, -40.0, 20.0)  # all boxes are in view: none is culled
    base.camera.lookAt(0.0, 0.0, 0.0)

    def frame() -> float:
        took = timed_ms(base.graphicsEngine.renderFrame)
        shown = base.win.getScreenshot()
        check(np.frombuffer(shown.getRamImage(), np.uint8).reshape(SIZE_PX[1], SIZE_PX[0], -1))
        return took

    return frame


def check(image: Any) -> None:
    """Except on a null driver, which has no picture."""
    if "GALLIUM_NOOP" not in os.environ and (image[:, :, :3] == image[0, 0, :3]).all():
        raise RuntimeError("the picture is one colour; nothing was drawn")


_PEERS: dict[str, Callable[[int], Frame]] = {"pygfx": pygfx, "panda3d": panda3d}


def main(peer: str, boxes: int) -> None:
    if find_spec(peer) is None:
        print("not installed", flush=True)
        return
    frame = _PEERS[peer](boxes)
    frame()  # first use of everything
    print("ready", flush=True)
    for line in sys.stdin:
        print(boxes, *(frame() for _ in range(int(line))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
