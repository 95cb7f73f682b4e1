"""Workloads in the bench, from end to end: kernels, described bytes and values of each by every schedule."""

import json
from pathlib import Path
from typing import Any

import pytest

from demo.cli import main
from renderers.device import Device

_SMALL = ["--size", "64x36", "--warmup", "1", "--frames", "5", "--objects", "10"]
_ELEMENTS = 5_000


@pytest.mark.parametrize(
    ("workload", "kernels", "bytes_an_element"),
    [("relu", (3, 3, 1), (24, 24, 8)), ("chain", (12, 12, 1), (116, 116, 12)), ("sum", (5, 5, 2), (28, 28, 4))],
)
def test_a_workload_counts_what_its_schedules_describe_and_computes_what_float64_says(
    workload: str,
    kernels: tuple[int, ...],
    bytes_an_element: tuple[int, ...],
    tmp_path: Path,
    opengl: Device,
    webgpu: Device,
) -> None:
    target = tmp_path / "out.json"
    arguments = ["--workload", workload, "--elements", str(_ELEMENTS), "--json", str(target)]
    assert main(["bench", *_SMALL, *arguments]) == 0
    content: dict[str, Any] = json.loads(target.read_text())
    assert content["failures"] == []
    assert content["equivalence"]["image_pixels_differing"] == 0
    for interface in ("opengl", "webgpu"):
        runs = [run for run in content["runs"] if run["interface"] == interface]
        mine = [[each for each in run["passes"] if each["label"].startswith(f"{workload}/")] for run in runs]
        assert tuple(sum(each["kernels"] for each in passes) for passes in mine) == kernels
        moved = [sum(each["memory_bytes"] for each in passes) / _ELEMENTS for passes in mine]
        assert moved == pytest.approx(bytes_an_element, rel=0.05)
        assert all(run["workload"] == workload for run in runs)
        assert all(0.0 <= run["checks"]["values_max_scaled_error"] <= 1.0 for run in runs)
        assert all(run["conditions"]["kernel_shape"]["workgroup_size"] == 256 for run in runs)
