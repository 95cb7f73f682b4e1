"""The explain command says what each schedule makes of a workload, and opens no device."""

import sys

import pytest

from compute.workloads.elementwise import WORKLOADS
from demo.cli import main


@pytest.fixture(autouse=True)
def _nothing_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "demo.headless", None)
    monkeypatch.setitem(sys.modules, "moderngl", None)
    monkeypatch.setitem(sys.modules, "wgpu", None)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_workload_is_explained_by_every_schedule(workload: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--workload", workload]) == 0
    text = capsys.readouterr().out
    assert [line for line in text.splitlines() if line in ("eager:", "batched:", "fused:")] == [
        "eager:", "batched:", "fused:",
    ]  # fmt: skip
    assert "not measured traffic" in text


def test_the_chain_is_twelve_kernels_of_29_accesses_or_one_of_3(capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", "--workload", "chain", "--elements", "1000", "--schedule", "batched,fused"])
    totals = [line for line in capsys.readouterr().out.splitlines() if line.endswith("bytes described")]
    assert totals == ["12 kernels, 116,000 bytes described", "1 kernel, 12,000 bytes described"]


def test_it_says_what_a_launcher_of_one_fixed_order_cannot_say(capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain"])
    text = capsys.readouterr().out
    assert "a launcher of buffers first cannot say (out, n, inp, k, off, z)" in text


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--workload", "sort"], "wave, relu, chain, sum"),
        (["--elements", "-1"], "0 to"),
        (["--schedule", "lazy"], "eager"),
    ],
)
def test_what_cannot_be_explained_is_bad_input(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *arguments]) == 2
    assert named in capsys.readouterr().err
