"""Arguments -> Settings -> bench or window, and what went wrong -> one line and an exit code."""

import argparse
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NoReturn, get_args

from compute.kernel import SCHEDULES, How, LimitError
from demo.settings import (
    EXIT_CHECK,
    EXIT_DONE,
    EXIT_ENVIRONMENT,
    EXIT_INPUT,
    EXIT_INTERRUPTED,
    CheckError,
    InputError,
    Settings,
)
from renderers.device import INTERFACES, AllocationError, DeviceLostError, Interface, UnavailableError
from renderers.scene import MAX_OBJECTS, SCENES

MAX_ELEMENTS = 1 << 30
MAX_EXTENT_PX = 8192
_ALIASES: dict[str, Interface] = {"gl": "opengl", "opengl": "opengl", "wgpu": "webgpu", "webgpu": "webgpu"}
_COMMANDS = ("run", "bench")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of ``interface-tax`` and ``python -m demo``. Returns the exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in arguments
    if "XDG_RUNTIME_DIR" not in os.environ:  # Mesa complains on stderr without one
        os.environ["XDG_RUNTIME_DIR"] = tempfile.gettempdir()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ended from outside: as calmly as by Ctrl-C
    try:
        return _dispatch(arguments)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except tuple(_EXITS) as error:
        if debug:
            raise
        print(f"interface-tax: {error}", file=sys.stderr)
        return next(code for kind, code in _EXITS.items() if isinstance(error, kind))


_EXITS: dict[type[Exception], int] = {
    InputError: EXIT_INPUT,
    LimitError: EXIT_INPUT,
    CheckError: EXIT_CHECK,
    UnavailableError: EXIT_ENVIRONMENT,
    AllocationError: EXIT_ENVIRONMENT,
    DeviceLostError: EXIT_ENVIRONMENT,
}


def _dispatch(arguments: list[str]) -> int:
    command = "run" if not arguments or arguments[0] not in _COMMANDS else arguments.pop(0)
    options = _parser(command).parse_args(arguments)
    if options.list:
        return _list(options.adapter)
    settings = _settings(command, options)
    if command == "bench":
        from demo.headless import bench

        return bench(settings)
    from demo.app import run

    return run(settings)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see interface-tax {self.prog.split()[-1]} --help")


def _parser(command: str) -> argparse.ArgumentParser:
    bench = command == "bench"
    parser = _Parser(
        prog=f"interface-tax {command}",
        description=(
            "Measure every interface and schedule headless, interleaved, with proof of equal work."
            if bench
            else "Draw the scene in a window and switch interface and schedule live. Keys: 1 OpenGL, 2 webgpu, "
            "F schedule, Space pause, V vsync, Esc quit. The other command: interface-tax bench --help."
        ),
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--interface", help="opengl (gl), webgpu (wgpu)" + ("; comma list, default all that exist" if bench else ""))
    add("--scene", default="field", help="field")
    add("--objects", type=int, default=1000, metavar="N", help="solids, each its own draw (1000)")
    add("--workload", default="wave", help="wave: relu(x*a + b)")
    add("--elements", type=int, metavar="N", help="floats the workload computes (default: objects)")
    add("--schedule", help="eager, batched, fused" + ("; comma list or all (default)" if bench else " (default fused)"))
    add("--size", default="640x360" if bench else "1280x720", metavar="WxH", help="pixels")
    add("--frames", type=int, metavar="N", help="frames per configuration (120)" if bench else "exit after N frames")
    add("--in-flight", type=int, default=2, metavar="1|2|3", help="frames in flight (2)")
    add("--screenshot", type=Path, metavar="FILE.png", help="FILE-INTERFACE.png each" if bench else "saved at the end")
    add("--adapter", metavar="NAME", help="part of the adapter's name; see --list")
    add("--list", action="store_true", help="interfaces, adapters, drivers; then exit")
    add("--debug", action="store_true", help="show the traceback of an error")
    add("--version", action="version", version=f"interface-tax {_version()}")
    if bench:
        add("--warmup", type=int, default=5, metavar="N", help="frames before each block that are not counted (5)")
        add("--json", metavar="FILE", help="write everything measured; - for standard output")
    return parser


def _settings(command: str, options: argparse.Namespace) -> Settings:
    """Every rule about arguments in one place. Raises InputError."""
    bench = command == "bench"
    elements = options.objects if options.elements is None else options.elements
    _within("--objects", options.objects, 1, MAX_OBJECTS)
    _within("--elements", elements, 1, MAX_ELEMENTS)
    _within("--in-flight", options.in_flight, 1, 3)
    if options.frames is not None:
        _within("--frames", options.frames, 1, 1_000_000)
    if bench:
        _within("--warmup", options.warmup, 0, 10_000)
    _one_of("--scene", options.scene, tuple(SCENES))
    _one_of("--workload", options.workload, ("wave",))
    json_target = options.json if bench else None
    _writable("--json", None if json_target in (None, "-") else Path(json_target))
    _writable("--screenshot", options.screenshot)
    return Settings(
        interfaces=_interfaces(options.interface, several=bench),
        interfaces_named=options.interface is not None,
        scene=options.scene,
        objects=options.objects,
        workload=options.workload,
        elements=elements,
        schedules=_schedules(options.schedule, several=bench),
        size_px=_size(options.size),
        frames=(120 if options.frames is None else options.frames) if bench else options.frames,
        warmup=options.warmup if bench else 0,
        frames_in_flight=options.in_flight,
        adapter=options.adapter,
        screenshot=options.screenshot,
        json=json_target,
    )


def _interfaces(text: str | None, several: bool) -> tuple[Interface, ...]:
    if text is None:
        return INTERFACES if several else INTERFACES[:1]
    names = _names("--interface", text, several)
    for name in names:
        _one_of("--interface", name, tuple(_ALIASES))
    return tuple(dict.fromkeys(_ALIASES[name] for name in names))


def _schedules(text: str | None, several: bool) -> tuple[How, ...]:
    if several and (text is None or text.lower() == "all"):
        return SCHEDULES
    names = _names("--schedule", "fused" if text is None else text, several)
    for name in names:
        _one_of("--schedule", name, get_args(How))
    return tuple(how for how in SCHEDULES if how in names)


def _names(option: str, text: str, several: bool) -> list[str]:
    names = [name.strip().lower() for name in text.split(",")]
    if len(names) > 1 and not several:
        raise InputError(f"{option}: a window shows one at a time, got {text}; name one, or use interface-tax bench")
    return names


def _size(text: str) -> tuple[int, int]:
    width, cross, height = text.lower().partition("x")
    if not (cross and width.isdecimal() and height.isdecimal() and len(text) < 20):
        raise InputError(f"--size: must be WIDTHxHEIGHT in pixels, got {text[:40]}; for example 640x360")
    _within("--size", int(width), 16, MAX_EXTENT_PX)
    _within("--size", int(height), 16, MAX_EXTENT_PX)
    return int(width), int(height)


def _within(option: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InputError(f"{option}: must be {low:,} to {high:,}, got {value:,}; choose a number in that range")


def _one_of(option: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"{option}: must be one of {', '.join(allowed)}, got {value or 'nothing'}")


def _writable(option: str, path: Path | None) -> None:
    """Before minutes of measuring, not after."""
    try:
        if path is None or (path.parent.is_dir() and not path.is_dir() and os.access(path.parent, os.W_OK)):
            return
    except OSError:  # a name that no file system takes
        pass
    raise InputError(f"{option}: {path} cannot be written; name a file in a folder that exists")


def _list(adapter: str | None) -> int:
    """One line an interface; exit code 3 when there is none at all."""
    from demo.probe import Probe

    found = 0
    for probe in [Probe(interface, adapter) for interface in INTERFACES]:
        try:
            each = probe.found()
        except UnavailableError as error:
            print(f"{error.subject:8} unavailable: {error.what}; {error.next_step}")
            continue
        finally:
            probe.stop()
        found += 1
        software = ", software" if each.is_software else ""
        print(f"{each.interface:8} {each.title}: {each.adapter}{software}; driver {each.driver}")
    return EXIT_DONE if found else EXIT_ENVIRONMENT


def _version() -> str:
    try:
        return version("interface-tax")
    except PackageNotFoundError:
        return "(not installed)"
