"""What a person types wrong costs one line on stderr and exit code 2, before anything is opened or measured."""

import sys
from pathlib import Path

import pytest

from demo.cli import main
from demo.settings import EXIT_INPUT, Settings
from renderers.plan import Submission

BAD_ARGUMENTS = [
    # arguments, what the message names: option, rule, value
    (["bench", "--interface", "metal"], ["--interface", "opengl", "webgpu", "metal"]),
    (["bench", "--interface", "gl,metal"], ["--interface", "opengl", "webgpu", "metal"]),
    (["bench", "--interface", "gl,,wgpu"], ["--interface", "opengl", "nothing"]),
    (["--interface", "gl,wgpu"], ["--interface", "one at a time", "gl,wgpu", "bench"]),
    (["--schedule", "eager,fused"], ["--schedule", "one at a time", "eager,fused", "bench"]),
    (["run", "--schedule", "eager,fused"], ["--schedule", "one at a time", "eager,fused", "bench"]),
    (["--schedule", "all"], ["--schedule", "eager, batched, fused", "all"]),
    (["bench", "--schedule", "lazy"], ["--schedule", "eager, batched, fused", "lazy"]),
    (["bench", "--schedule", ""], ["--schedule", "eager, batched, fused", "nothing"]),
    (["bench", "--size", "640"], ["--size", "WIDTHxHEIGHT", "640", "640x360"]),
    (["bench", "--size", "640x"], ["--size", "WIDTHxHEIGHT", "640x"]),
    (["bench", "--size", "-640x360"], ["--size"]),
    (["bench", "--size", "640x360x3"], ["--size", "WIDTHxHEIGHT", "640x360x3"]),
    (["bench", "--size", "6.4x3.6"], ["--size", "WIDTHxHEIGHT", "6.4x3.6"]),
    (["bench", "--size", "8x360"], ["--size", "16 to 8,192", "8"]),
    (["bench", "--size", "640x9000"], ["--size", "16 to 8,192", "9,000"]),
    (["bench", "--size", f"{'9' * 5000}x360"], ["--size"]),
    (["bench", "--objects", "-5"], ["--objects", "0 to 2,147,483,647", "got -5"]),
    (["bench", "--objects", "2147483648"], ["--objects", "0 to 2,147,483,647", "2,147,483,648"]),
    (["bench", "--submission", "fast"], ["--submission", "immediate-bind, immediate, instanced", "fast"]),
    (["bench", "--submission", "recorded,"], ["--submission", "nothing"]),
    (["--submission", "all"], ["--submission", "recorded", "all"]),
    (["--submission", "recorded,indirect"], ["--submission", "one at a time", "bench"]),
    (["bench", "--state", "blend"], ["--state", "none, texture, pipeline", "blend"]),
    (["--state", "all"], ["--state", "none, texture, pipeline", "all"]),
    (["bench", "--order", "random"], ["--order", "sorted, shuffled", "random"]),
    (["bench", "--shader-cost", "-1"], ["--shader-cost", "0 to 10,000", "got -1"]),
    (["bench", "--fit", "--fit-on", "gpu"], ["--fit-on", "frame, cpu", "gpu"]),
    (["bench", "--fit", "--fit-percentile", "99"], ["--fit-percentile", "50 to 95", "got 99"]),
    (["bench", "--fit", "--fit-seconds", "0"], ["--fit-seconds", "1 to 3,600", "got 0"]),
    (["bench", "--fit", "--null-driver"], ["--fit", "leave out --null-driver"]),
    (["--null-driver"], ["--null-driver", "interface-tax run --help"]),
    (["--fit"], ["--fit", "interface-tax run --help"]),
    (["bench", "--objects", "many"], ["--objects", "int", "many"]),
    (["bench", "--objects", "1e3"], ["--objects", "int", "1e3"]),
    (["bench", "--elements", "0"], ["--elements", "1 to 1,073,741,824", "got 0"]),
    (["bench", "--elements", "1073741825"], ["--elements", "1 to 1,073,741,824", "1,073,741,825"]),
    (["bench", "--in-flight", "4"], ["--in-flight", "1 to 3", "got 4"]),
    (["bench", "--in-flight", "0"], ["--in-flight", "1 to 3", "got 0"]),
    (["bench", "--frames", "0"], ["--frames", "1 to 1,000,000", "got 0"]),
    (["bench", "--warmup", "-1"], ["--warmup", "0 to 10,000", "got -1"]),
    (["bench", "--scene", "forest"], ["--scene", "field", "forest"]),
    (["bench", "--workload", "sort"], ["--workload", "wave", "sort"]),
    (["bench", "--fast"], ["--fast", "interface-tax bench --help"]),
    (["bench", "--obj", "5"], ["--obj", "interface-tax bench --help"]),
    (["bench", "--objects"], ["--objects", "expected one argument", "interface-tax bench --help"]),
    (["--json", "out.json"], ["--json", "interface-tax run --help"]),
    (["benhc"], ["benhc", "interface-tax run --help"]),
]


@pytest.fixture(autouse=True)
def _nothing_opens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An argument that is taken by mistake fails at once instead of measuring for a minute."""
    monkeypatch.setitem(sys.modules, "demo.headless", None)
    monkeypatch.setitem(sys.modules, "demo.app", None)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # ``main`` sets it where it is missing


def _complaint(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What ``main`` says on stderr, checked for form."""
    assert main(arguments) == EXIT_INPUT
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("interface-tax: ")
    assert 1 <= len(captured.err.splitlines()) <= 2
    assert "Traceback" not in captured.err
    return captured.err


@pytest.mark.parametrize(
    ("arguments", "named"), BAD_ARGUMENTS, ids=[" ".join(arguments)[:40] for arguments, _ in BAD_ARGUMENTS]
)
def test_a_bad_argument_is_refused_with_option_rule_and_value(
    arguments: list[str], named: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    message = _complaint(arguments, capsys)
    assert [each for each in named if each not in message] == []


@pytest.mark.parametrize("option", ["--json", "--screenshot"])
def test_a_file_in_a_folder_that_is_missing_is_refused_before_measuring(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "missing" / "out"
    message = _complaint(["bench", option, str(target)], capsys)
    assert f"{option}: {target} cannot be written" in message
    assert "a folder that exists" in message


@pytest.mark.parametrize("option", ["--json", "--screenshot"])
def test_a_folder_in_place_of_a_file_is_refused(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"{option}: {tmp_path} cannot be written" in _complaint(["bench", option, str(tmp_path)], capsys)


@pytest.mark.parametrize("option", ["--json", "--screenshot"])
def test_a_folder_that_may_not_be_written_is_refused(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write everywhere
    assert "cannot be written" in _complaint(["bench", option, str(tmp_path / "out")], capsys)


@pytest.mark.parametrize("option", ["--json", "--screenshot"])
def test_a_name_too_long_for_the_file_system_is_refused(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / ("n" * 300)
    assert "cannot be written" in _complaint(["bench", option, str(target)], capsys)


def test_with_debug_the_traceback_stands_before_the_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--debug", "--objects", "-1"]) == EXIT_INPUT
    errors = capsys.readouterr().err
    assert "Traceback" in errors
    assert errors.strip().splitlines()[-1].startswith("interface-tax: --objects")


@pytest.mark.parametrize("arguments", [["--version"], ["run", "--version"], ["bench", "--version"]])
def test_the_version_is_printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("interface-tax ")


@pytest.mark.parametrize("command", ["run", "bench"])
def test_help_lists_every_option_of_its_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    for option in (
        "--interface", "--schedule", "--objects", "--elements", "--size", "--frames", "--in-flight", "--submission",
        "--state", "--order", "--shader-cost", "--no-validation",
    ):  # fmt: skip
        assert option in text
    for option in ("--json", "--fit", "--null-driver"):
        assert (option in text) == (command == "bench")


def test_where_draws_are_compared_one_schedule_and_an_idle_queue_are_enough() -> None:
    """Unless the person says otherwise."""
    from demo.cli import _parser, _settings

    def settings(*arguments: str) -> Settings:
        return _settings("bench", _parser("bench").parse_args(arguments))

    plain, compared = settings(), settings("--submission", "all")
    assert (len(plain.schedules), plain.frames_in_flight, len(plain.submissions)) == (3, 2, 1)
    assert (compared.schedules, compared.frames_in_flight, compared.submissions) == (("fused",), 1, tuple(Submission))
    assert not compared.submissions_named
    chosen = settings("--state", "all", "--order", "all", "--schedule", "eager", "--in-flight", "3")
    assert (chosen.schedules, chosen.frames_in_flight) == (("eager",), 3)
    assert (chosen.states, chosen.orders) == (("none", "texture", "pipeline"), ("sorted", "shuffled"))
    named = settings("--submission", "recorded,immediate")
    assert named.submissions == (Submission.IMMEDIATE, Submission.RECORDED)
    assert named.submissions_named
