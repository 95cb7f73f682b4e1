"""What a machine lacks is named, with a next step, and the interface that exists is measured all the same."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from demo.probe import Probe
from renderers.device import Device, UnavailableError

_ROOT = Path(__file__).parents[2]
_NO_VULKAN = {"VK_DRIVER_FILES": "/nowhere.json", "VK_ICD_FILENAMES": "/nowhere.json"}
_NO_GL = {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nowhere.json"}
_FAST = ["--objects", "20", "--size", "160x90", "--frames", "5", "--warmup", "1", "--schedule", "fused"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="drivers are hidden by Linux loaders' variables")


def _demo(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    variables = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return subprocess.run(
        [sys.executable, "-m", "demo", *arguments],
        cwd=_ROOT,
        env={**variables, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def _is_short_and_calm(errors: str) -> bool:
    return 1 <= len(errors.strip().splitlines()) <= 2 and "Traceback" not in errors


@pytest.fixture(autouse=True)
def _devices_exist(opengl: Device, webgpu: Device) -> None:
    """Hiding a driver proves something only where there is one."""


@pytest.mark.parametrize(("hidden", "lost", "kept"), [(_NO_VULKAN, "webgpu", "opengl"), (_NO_GL, "opengl", "webgpu")])
@pytest.mark.parametrize("named", [True, False])
def test_the_other_interface_is_measured(
    hidden: dict[str, str], lost: str, kept: str, named: bool, tmp_path: Path
) -> None:
    target = tmp_path / "out.json"
    names = ["--interface", "opengl,webgpu"] if named else []
    done = _demo("bench", *_FAST, *names, "--json", str(target), **hidden)
    assert done.returncode == (3 if named else 0)
    assert _is_short_and_calm(done.stderr)
    assert done.stderr.startswith(f"interface-tax: {lost}: ")
    assert "install" in done.stderr
    content: dict[str, Any] = json.loads(target.read_text())
    assert [run["interface"] for run in content["runs"]] == [kept]
    assert [each["interface"] for each in content["unavailable"]] == [lost]
    assert content["devices"][lost]["unavailable"]
    assert content["equivalence"] is None


def test_without_any_interface_there_is_nothing_to_measure(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    done = _demo("bench", *_FAST, "--json", str(target), **_NO_VULKAN, **_NO_GL)
    assert done.returncode == 3
    assert _is_short_and_calm(done.stderr)
    content = json.loads(target.read_text())
    assert content["runs"] == []
    assert len(content["unavailable"]) == 2


def test_a_window_without_a_display_names_the_headless_command() -> None:
    done = _demo("run")
    assert done.returncode == 3
    assert _is_short_and_calm(done.stderr)
    assert "display" in done.stderr
    assert "interface-tax bench" in done.stderr


@pytest.mark.parametrize(("interface", "hidden"), [("webgpu", _NO_VULKAN), ("opengl", _NO_GL)])
def test_the_bench_of_one_missing_interface_says_why(interface: str, hidden: dict[str, str]) -> None:
    done = _demo("bench", *_FAST, "--interface", interface, **hidden)
    assert done.returncode == 3
    assert _is_short_and_calm(done.stderr)
    assert done.stdout == ""


def test_the_list_names_adapters_and_what_is_missing() -> None:
    whole = _demo("--list")
    assert whole.returncode == 0
    assert [line.split()[0] for line in whole.stdout.splitlines()] == ["opengl", "webgpu"]
    half = _demo("--list", **_NO_VULKAN)
    assert half.returncode == 0
    assert "webgpu   unavailable: no adapter found" in half.stdout
    assert _demo("--list", **_NO_VULKAN, **_NO_GL).returncode == 3


def test_headless_runs_never_import_a_window() -> None:
    program = (
        "import sys; from demo.cli import main;"
        f"code = main(['bench', *{_FAST!r}]);"
        "assert not [name for name in sys.modules if name.startswith('pyglet.window')], 'a window module was imported';"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_driver_that_aborts_kills_a_child_and_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A native panic ends Python without a traceback: only another process can tell of it."""
    (tmp_path / "sitecustomize.py").write_text("import os; os.write(2, b'panicked at surface.rs\\n'); os.abort()\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    probe = Probe("webgpu", None)
    with pytest.raises(UnavailableError, match=r"signal 6: panicked at surface.rs") as died:
        probe.found()
    probe.stop()
    assert str(died.value).startswith("webgpu: ")
