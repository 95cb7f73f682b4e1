"""The same draws in one bundle, in bundles of some, and in bundles of one. Used by draws."""

from dataclasses import replace
from typing import Any

from _ways import Size, Way, content_of, measure_in_turns, print_ways, proven

from demo.configuration import Bench, Variant
from demo.progress import Interrupt
from renderers.device import Interface
from renderers.plan import StateRun, Submission

_GRAINS = (100, 1)  # draws a bundle, beside all of them in one


def bundle_grain(size: Size, benches: dict[Interface, Bench], interrupt: Interrupt) -> None:
    """Beside them the same draws encoded anew, and none."""
    content, bench = content_of(size, benches), benches["webgpu"]

    def way(submission: Submission, grain: int | None = None) -> Way:
        work, name = content.compile(bench.device, "fused", submission), f"webgpu {submission.value}"
        if grain is not None:
            name += f", bundles: {_regrain(work, grain):,} of {grain:,}"
        return proven(name, size, bench, content, Variant("fused", submission), work, interrupt)

    ways = [way(Submission.RECORDED, grain) for grain in (size.objects, *_GRAINS)]
    ways += [way(Submission.IMMEDIATE), way(Submission.NONE)]
    measure_in_turns(size, content, ways, interrupt)
    print_ways(size, "objects in bundles", ways)


def _regrain(work: Any, grain: int) -> int:
    """Record the draws of ``work`` anew, ``grain`` to a bundle. Below the renderer's interface: it records one."""
    (draws,) = work._scenes()
    objects = [
        replace(each, first_object=i, object_count=1)
        for each in draws._scene.draws
        for i in range(each.first_object, each.first_object + each.object_count)
    ]
    bundles = []
    for first in range(0, len(objects), grain):
        draws._runs, draws._bundles = (StateRun(0, first, tuple(objects[first : first + grain])),), []
        draws._record_bundle()
        bundles += draws._bundles
    draws._bundles = bundles
    return len(bundles)
