"""Every benchmark still runs, at toy size; what it measures is not looked at here."""

import subprocess
import sys
from pathlib import Path

import pytest

from renderers.device import Device

_FOLDER = Path(__file__).parent
_SCRIPTS = sorted(path.name for path in _FOLDER.glob("*.py") if not path.name.startswith(("_", "test_")))


@pytest.mark.parametrize("script", _SCRIPTS)
def test_a_benchmark_runs_at_toy_size(script: str, display: str, opengl: Device, webgpu: Device) -> None:
    command = [sys.executable, str(_FOLDER / script), "--toy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
