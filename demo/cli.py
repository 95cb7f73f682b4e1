"""Arguments -> Settings -> bench or window, and what went wrong -> one line and an exit code."""

import argparse
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NoReturn, TypeVar, get_args

from compute.kernel import SCHEDULES, How, LimitError
from compute.workloads.elementwise import WORKLOADS
from demo.explain import explain_lines
from demo.settings import (
    EXIT_CHECK,
    EXIT_DONE,
    EXIT_ENVIRONMENT,
    EXIT_INPUT,
    EXIT_INTERRUPTED,
    CheckError,
    FitOn,
    FitSettings,
    InputError,
    Settings,
)
from renderers.device import INTERFACES, DeviceLostError, Interface, UnavailableError
from renderers.materials import STATES
from renderers.plan import Submission
from renderers.scene import ORDERS, SCENES

T = TypeVar("T")
MAX_OBJECTS_ASKED = (1 << 31) - 1  # what fits is known only when the devices are open
MAX_SHADER_COST = 10_000
MAX_ELEMENTS = 1 << 30
MAX_EXTENT_PX = 8192
_ALIASES: dict[str, Interface] = {"gl": "opengl", "opengl": "opengl", "wgpu": "webgpu", "webgpu": "webgpu"}
_COMMANDS = ("run", "bench", "explain")


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
    except BrokenPipeError:  # whoever read the output has seen enough
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115  for what is flushed at exit
        return EXIT_DONE
    except tuple(_EXITS) as error:
        if debug:
            traceback.print_exc()
        print(f"interface-tax: {str(error) or 'not enough memory; lower --elements'}", file=sys.stderr)
        return next(code for kind, code in _EXITS.items() if isinstance(error, kind))


_EXITS: dict[type[Exception], int] = {
    InputError: EXIT_INPUT,
    LimitError: EXIT_INPUT,
    CheckError: EXIT_CHECK,
    UnavailableError: EXIT_ENVIRONMENT,
    MemoryError: EXIT_ENVIRONMENT,  # AllocationError is one
    DeviceLostError: EXIT_ENVIRONMENT,
}


def _dispatch(arguments: list[str]) -> int:
    command = "run" if not arguments or arguments[0] not in _COMMANDS else arguments.pop(0)
    if command == "explain":
        return _explain(arguments)
    options = _parser(command).parse_args(arguments)
    if options.list:
        return _list(options.adapter)
    settings = _settings(command, options)
    if command == "bench":
        from demo.headless import bench

        return bench(settings)
    from demo.probe import Probe

    probes = {settings.interfaces[0]: Probe(settings.interfaces[0], settings.adapter)}
    try:
        from demo.app import run  # loads for most of a second, which the probe uses

        return run(settings, probes)
    finally:
        for probe in probes.values():
            probe.stop()


def _explain(arguments: list[str]) -> int:
    parser = _Parser(
        prog="interface-tax explain",
        description="Print a workload's kernels by each schedule, and why there is not one only.",
        allow_abbrev=False,
    )
    parser.add_argument("--workload", default="wave", help=f"{', '.join(WORKLOADS)} (wave)")
    parser.add_argument("--elements", type=int, default=1_000_000, metavar="N", help="floats it computes (1000000)")
    parser.add_argument("--schedule", default="all", help="eager, batched, fused; comma list or all (all)")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    options = parser.parse_args(arguments)
    _one_of("--workload", options.workload, tuple(WORKLOADS))
    _within("--elements", options.elements, 0, MAX_ELEMENTS)
    schedules = _listed("--schedule", options.schedule, SCHEDULES, several=True)
    print("\n".join(explain_lines(options.workload, options.elements, schedules)))
    return EXIT_DONE


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
            "F schedule, D submission, B fit, Space pause, V vsync, F1 all keys, Esc quit. "
            "The other commands: interface-tax bench --help, interface-tax explain --help."
        ),
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--interface", help="opengl (gl), webgpu (wgpu)" + ("; comma list, default all that exist" if bench else ""))
    add("--scene", default="field", help="field")
    add("--objects", type=int, default=1000, metavar="N", help="solids (1000)")
    several = "; comma list or all" if bench else ""
    add("--submission", help=f"{', '.join(each.value for each in Submission)}{several} (immediate-bind)")
    add("--state", default="none", help=f"what differs between materials: none, texture, pipeline{several} (none)")
    add(
        "--order",
        default="sorted",
        help=f"of the draw list: sorted by material and mesh, or shuffled{several} (sorted)",
    )
    add("--shader-cost", type=int, default=0, metavar="K", help="rounds of invisible work in each pixel (0)")
    add("--workload", default="wave", help=f"{', '.join(WORKLOADS)} (wave: lifts the solids)")
    add("--elements", type=int, metavar="N", help="floats the workload computes (default: objects)")
    schedules = "; comma list or all (all; fused where draws are compared)" if bench else " (fused)"
    add("--schedule", help=f"eager, batched, fused{schedules}")
    add("--size", default="640x360" if bench else "1280x720", metavar="WxH", help="pixels")
    add("--frames", type=int, metavar="N", help="frames per configuration (120)" if bench else "exit after N frames")
    in_flight = "2; 1 where draws are compared" if bench else "2"
    add("--in-flight", type=int, metavar="1|2|3", help=f"frames in flight ({in_flight})")
    add("--no-validation", action="store_true", help="leave out the drivers' checks where they can be")
    add("--screenshot", type=Path, metavar="FILE.png", help="FILE-INTERFACE.png each" if bench else "saved at the end")
    add("--adapter", metavar="NAME", help="part of the adapter's name; see --list")
    add("--list", action="store_true", help="interfaces, adapters, drivers; then exit")
    add("--debug", action="store_true", help="show the traceback of an error")
    add("--version", action="version", version=f"interface-tax {_version()}")
    if bench:
        add("--warmup", type=int, default=5, metavar="N", help="frames before each block that are not counted (5)")
        add("--json", metavar="FILE", help="write everything measured; - for standard output")
        add(
            "--null-driver",
            action="store_true",
            help="also describe the frames to a driver that renders nothing (Mesa)",
        )
        add("--fit", action="store_true", help="find how many objects fit in the budget")
        add("--fit-on", default="frame", help="frame time or cpu: CPU work alone (frame)")
        add(
            "--fit-percentile",
            type=int,
            default=95,
            metavar="P",
            help="that must stay within the budget, 50 to 95 (95)",
        )
        add("--fit-seconds", type=int, default=20, metavar="S", help="at most, for each configuration (20)")
    return parser


def _settings(command: str, options: argparse.Namespace) -> Settings:
    """Every rule about arguments in one place. Raises InputError."""
    bench = command == "bench"
    _within("--objects", options.objects, 0, MAX_OBJECTS_ASKED)
    if options.elements is not None:
        _within("--elements", options.elements, 1, MAX_ELEMENTS)
    if options.in_flight is not None:
        _within("--in-flight", options.in_flight, 1, 3)
    _within("--shader-cost", options.shader_cost, 0, MAX_SHADER_COST)
    if options.frames is not None:
        _within("--frames", options.frames, 1, 1_000_000)
    if bench:
        _within("--warmup", options.warmup, 0, 10_000)
    _one_of("--scene", options.scene, tuple(SCENES))
    _one_of("--workload", options.workload, tuple(WORKLOADS))
    json_target = options.json if bench else None
    _writable("--json", None if json_target in (None, "-") else Path(json_target))
    _writable("--screenshot", options.screenshot)
    names = [each.value for each in Submission]
    submission_names = _listed("--submission", options.submission or "immediate-bind", names, bench)
    states = _listed("--state", options.state, STATES, bench)
    orders = _listed("--order", options.order, ORDERS, bench)
    compared = bench and len(submission_names) * len(states) * len(orders) > 1
    return Settings(
        interfaces=_interfaces(options.interface, several=bench),
        interfaces_named=options.interface is not None,
        scene=options.scene,
        objects=options.objects,
        workload=options.workload,
        elements=options.elements,
        schedules=_schedules(options.schedule, several=bench, compared=compared or (bench and options.fit)),
        submissions=tuple(Submission(name) for name in submission_names),
        submissions_named=options.submission is not None and options.submission.strip().lower() != "all",
        states=states,
        orders=orders,
        shader_cost=options.shader_cost,
        size_px=_size(options.size),
        frames=(120 if options.frames is None else options.frames) if bench else options.frames,
        warmup=options.warmup if bench else 0,
        frames_in_flight=options.in_flight or (1 if compared and not options.fit else 2),
        adapter=options.adapter,
        validation=not options.no_validation,
        null_driver=bench and options.null_driver,
        fit=_fit(options) if bench and options.fit else None,
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


def _schedules(text: str | None, several: bool, compared: bool) -> tuple[How, ...]:
    """All of them where they are what is compared, else one."""
    if text is None:
        return SCHEDULES if several and not compared else ("fused",)
    return _listed("--schedule", text, SCHEDULES, several)


def _fit(options: argparse.Namespace) -> FitSettings:
    if options.null_driver:
        raise InputError("--fit: measures frames that are rendered; leave out --null-driver")
    _one_of("--fit-on", options.fit_on, get_args(FitOn))
    _within("--fit-percentile", options.fit_percentile, 50, 95)
    _within("--fit-seconds", options.fit_seconds, 1, 3600)
    return FitSettings(options.fit_on, options.fit_percentile, options.fit_seconds)


def _listed(option: str, text: str, known: Sequence[T], several: bool) -> tuple[T, ...]:
    """The names of a comma list, in the order of ``known``; ``all`` is all of them where there may be several."""
    if several and text.strip().lower() == "all":
        return tuple(known)
    names = _names(option, text, several)
    for name in names:
        _one_of(option, name, [str(each) for each in known])
    return tuple(each for each in known if each in names)


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
