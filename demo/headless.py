"""The bench command: probe, open, judge timers, measure, report. No display, no window. Called by cli."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from demo.bench import Result, run_bench
from demo.configuration import Bench, Refusal, check_objects, refusals
from demo.fit_bench import FitResult, run_fit
from demo.null_driver import null_drivers
from demo.probe import Probe
from demo.report import as_json, fit_json, save_picture, write_json
from demo.settings import EXIT_CHECK, EXIT_DONE, EXIT_ENVIRONMENT, EXIT_INTERRUPTED, Settings
from demo.table import fit_lines, table_lines
from renderers.device import DeviceOptions, Interface, Offscreen, UnavailableError
from renderers.interfaces import open_device


def bench(settings: Settings) -> int:
    """Measure what exists, say what does not, and return the exit code."""
    benches, missing = _open_all(settings)
    for error in missing:
        print(f"interface-tax: {error}", file=sys.stderr)
    if benches:
        check_objects(settings.objects, benches)
        refused = refusals(settings, benches)
        if settings.fit is not None:
            return _fit(settings, benches, missing, refused)
    result = _measure(settings, benches, refused) if benches else None
    with _uninterrupted():  # what took minutes to measure is written before anything else can go wrong
        if settings.json is not None:
            write_json(as_json(settings, benches, missing, result), settings.json)
        if result is not None and settings.screenshot is not None:
            for interface, image in result.pictures.items():
                save_picture(image, _for_interface(settings.screenshot, interface))
    if result is not None and settings.json != "-":
        print("\n".join(table_lines(settings, benches, result)))
    return _exit_code(settings, missing, result)


def _measure(settings: Settings, benches: Sequence[Bench], refused: list[Refusal]) -> Result:
    if not settings.null_driver:
        return run_bench(settings, benches, refused)
    with null_drivers(settings, benches) as (remotes, without):
        return run_bench(settings, benches, [*refused, *without], remotes)


def _fit(
    settings: Settings, benches: Sequence[Bench], missing: Sequence[UnavailableError], refused: list[Refusal]
) -> int:
    result = run_fit(settings, benches, refused)
    with _uninterrupted():
        if settings.json is not None:
            write_json(fit_json(settings, benches, missing, result), settings.json)
    if settings.json != "-":
        print("\n".join(fit_lines(settings, benches, result)))
    return _exit_code(settings, missing, result)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """A second Ctrl-C waits until the first one's results are saved."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _open_all(settings: Settings) -> tuple[list[Bench], list[UnavailableError]]:
    """Every interface that opens, each tried in a child process first, and why the others do not."""
    benches: list[Bench] = []
    missing: list[UnavailableError] = []
    options = DeviceOptions(
        frames_in_flight=settings.frames_in_flight, adapter=settings.adapter, validation=settings.validation
    )
    probes = {each: Probe(each, settings.adapter) for each in settings.interfaces}
    try:
        for interface, probe in probes.items():
            try:
                probe.found()
                benches.append(_open(interface, settings.size_px, options, probe))
            except UnavailableError as error:
                missing.append(error)
    finally:
        for probe in probes.values():
            probe.stop()
    return benches, missing


def _open(interface: Interface, size_px: tuple[int, int], options: DeviceOptions, probe: Probe) -> Bench:
    """The timer is judged in the probe's process: here it would take the first use of pipelines away."""
    before = _threads()
    device = open_device(interface, Offscreen(size_px), options)
    after = _threads()
    started = None if before is None or after is None else after - before
    return Bench(device, probe.wait_for_trust(), started)


def _exit_code(settings: Settings, missing: Sequence[UnavailableError], result: Result | FitResult | None) -> int:
    if result is not None and result.failures:
        for failure in result.failures:
            print(f"interface-tax: {failure}", file=sys.stderr)
        return EXIT_CHECK
    if result is not None and result.interrupted:
        return EXIT_INTERRUPTED
    if result is None or (missing and settings.interfaces_named):
        return EXIT_ENVIRONMENT
    return EXIT_DONE


def _for_interface(path: Path, interface: Interface) -> Path:
    return path.with_name(f"{path.stem}-{interface}{path.suffix or '.png'}")


def _threads() -> int | None:
    """Threads of this process; None where the system does not list them."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return None
