"""A draw list as the bytes that indirect draws read: one layout, the same on every interface. Used by draws."""

import numpy as np
import numpy.typing as npt

from renderers.plan import DrawRange, ScenePass

COMMAND_BYTES = 20
Commands = npt.NDArray[np.uint32]


def object_commands(scene: ScenePass) -> Commands:
    """(objects, 5): one draw of one instance each. Columns as in ``range_commands``."""
    ranges = range_commands(scene.draws)
    commands = np.repeat(ranges, ranges[:, 1], axis=0)
    commands[:, 1] = 1
    commands[:, 4] = np.arange(len(commands))
    return commands


def range_commands(draws: tuple[DrawRange, ...]) -> Commands:
    """(draws, 5): index count, instances, first index, base vertex, first instance."""
    rows = [
        (draw.index_count, draw.object_count, draw.first_index, draw.base_vertex, draw.first_object) for draw in draws
    ]
    return np.array(rows, np.uint32).reshape(-1, 5)
