"""Who may import whom: read off every import statement, wherever in a file it stands."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("assets", "compute", "renderers", "demo")

# Folder -> what its modules may import beside the standard library. The deepest folder that matches decides.
ALLOWED = {
    "assets": {"assets"},
    "compute": {"compute", "numpy"},
    "renderers": {"assets", "compute", "numpy", "renderers"},
    "renderers/opengl": {"assets", "compute", "moderngl", "numpy", "pyglet", "renderers"},
    "renderers/webgpu": {"assets", "compute", "numpy", "renderers", "wgpu"},
}
_OVERLAY_PARTS = ("controls", "facts", "figures", "plots", "timeline", "widgets")
OVERLAYS = ("demo/overlay.py", *(f"demo/{part}.py" for part in _OVERLAY_PARTS), "demo/ui.py", "renderers/*/overlay.py")
# Module -> the only files that may import it, wherever they stand.
OWNERS = {
    "imgui_bundle": OVERLAYS,
    "moderngl": ("renderers/opengl/*.py",),
    "pyglet.gl": ("renderers/opengl/*.py",),
    "pyglet.window": ("demo/window.py",),
    "wgpu": ("renderers/webgpu/*.py",),
}


def imported(path: str, source: str) -> Iterator[str]:
    """Dotted names that ``source`` imports, or reaches as an attribute of pyglet, which imports on first use."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            folders = path.split("/")[: -node.level] if node.level else []
            module = ".".join([*folders, *filter(None, [node.module])])
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "pyglet":
            yield f"pyglet.{node.attr}"


def violations(path: str, source: str) -> list[str]:
    """What ``source``, standing at ``path`` below the repository's root, imports against the rules."""
    return [f"{path} imports {name}" for name in imported(path, source) if not _may_import(path, name)]


def _may_import(path: str, name: str) -> bool:
    file, package = PurePosixPath(path), name.partition(".")[0]
    for module, owners in OWNERS.items():
        if name == module or name.startswith(f"{module}."):
            return any(file.match(owner) for owner in owners)
    allowed = next((ALLOWED[str(folder)] for folder in file.parents if str(folder) in ALLOWED), None)
    return allowed is None or package in allowed or package in sys.stdlib_module_names


def _modules() -> list[str]:
    return [str(path.relative_to(ROOT).as_posix()) for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]


@pytest.mark.parametrize("path", _modules())
def test_every_module_imports_only_what_its_layer_may(path: str) -> None:
    assert violations(path, (ROOT / path).read_text()) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_is_walked(package: str) -> None:
    assert f"{package}/__init__.py" in _modules()


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("compute/emit.py", "import moderngl"),
        ("compute/emit.py", "from renderers.plan import Plan"),
        ("compute/workloads/decode.py", "import torch"),
        ("renderers/scene.py", "import demo.cli"),
        ("renderers/scene.py", "from pyglet import gl"),
        ("renderers/scene.py", "def late():\n    import wgpu.backends"),
        ("renderers/opengl/draws.py", "import wgpu"),
        ("renderers/opengl/draws.py", "from pyglet.window import Window"),
        ("renderers/opengl/draws.py", "from ...demo import cli"),
        ("renderers/webgpu/draws.py", "import pyglet"),
        ("renderers/webgpu/draws.py", "import imgui_bundle"),
        ("demo/cli.py", "from pyglet.window import Window"),
        ("demo/cli.py", "import pyglet\npyglet.window.Window()"),
        ("demo/window.py", "from pyglet.gl import glFinish"),
        ("demo/window.py", "from imgui_bundle import imgui"),
        ("demo/shown.py", "from imgui_bundle import imgui"),
        ("demo/bench.py", "import moderngl"),
    ],
)
def test_an_import_against_the_rules_is_found(path: str, source: str) -> None:
    assert len(violations(path, source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("compute/emit.py", "import math, numpy.typing\nfrom . import ops"),
        ("renderers/opengl/native.py", "from pyglet import gl\nimport moderngl"),
        ("renderers/webgpu/overlay.py", "from imgui_bundle import imgui\nimport wgpu"),
        ("demo/window.py", "import pyglet.window"),
        ("demo/report.py", "from pyglet.extlibs import png"),
        ("demo/overlay.py", "from imgui_bundle import implot"),
    ],
)
def test_an_import_within_the_rules_passes(path: str, source: str) -> None:
    assert violations(path, source) == []
