"""bench --fit: how many objects fit in the budget, each configuration on proven blocks. Feeds report and table."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from demo.bench import block_of, contents, run_block
from demo.budget import BUDGET_MS
from demo.configuration import Bench, Configuration, Refusal, Variant, variants
from demo.fit import Fit, FitSearch
from demo.progress import Check, Interrupt, Progress
from demo.settings import CheckError, FitSettings, Settings
from renderers.device import AllocationError, BuildError

_FRAMES = 20  # of a block: one of them may be late and p95 still holds


@dataclass(frozen=True, slots=True)
class Fitted:
    """How many objects fit, of one interface and variant."""

    bench: Bench
    variant: Variant
    fit: Fit

    @property
    def text(self) -> str:
        return self.fit.text(BUDGET_MS)


@dataclass(slots=True)
class FitResult:
    fitted: list[Fitted] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    interrupted: bool = False


class TimeIsUpError(Exception):
    """Raised between two frames."""


@dataclass(frozen=True, slots=True)
class _Deadline:
    interrupt: Interrupt
    at_s: float

    def check(self) -> None:
        self.interrupt.check()
        if time.monotonic() > self.at_s:
            raise TimeIsUpError


def run_fit(settings: Settings, benches: Sequence[Bench], refused: list[Refusal]) -> FitResult:
    """One search after the other, each within its time. Ctrl-C keeps those that are done."""
    assert settings.fit is not None
    result = FitResult(refused=refused)
    searches = [(bench, variant) for bench in benches for variant in variants(settings, bench)]
    progress = Progress()
    progress.start(len(searches))
    with Interrupt() as interrupt:
        try:
            for bench, variant in searches:
                progress.step(_name(bench, variant))
                deadline = _Deadline(interrupt, time.monotonic() + settings.fit.seconds)
                try:
                    fit = _search(settings, settings.fit, benches, bench, variant, progress, deadline)
                    result.fitted.append(Fitted(bench, variant, fit))
                except (CheckError, BuildError) as error:  # the other searches go on
                    result.failures.append(str(error))
        except KeyboardInterrupt:
            result.interrupted = True
    progress.close()
    return result


def _search(
    settings: Settings,
    fit: FitSettings,
    benches: Sequence[Bench],
    bench: Bench,
    variant: Variant,
    progress: Progress,
    deadline: Check,
) -> Fit:
    search = FitSearch(BUDGET_MS, fit.percent, bench.device.info.most_objects)
    try:
        while search.asks is not None:
            deadline.check()
            progress.note(f"{_name(bench, variant)}: {search.asks:,} objects; so far {search.result.text(BUDGET_MS)}")
            search.report(_block_ms(settings, fit, benches, bench, variant, search.asks, deadline))
    except (TimeIsUpError, AllocationError):
        pass
    return search.result


def _block_ms(
    settings: Settings,
    fit: FitSettings,
    benches: Sequence[Bench],
    bench: Bench,
    variant: Variant,
    objects: int,
    deadline: Check,
) -> list[float]:
    """Times of one proven block with ``objects`` objects, ms. Raises CheckError, AllocationError, TimeIsUpError."""
    content = contents(settings, objects, benches)[variant.picture]
    work = content.compile(bench.device, variant.how, variant.submission)
    blank = content.compile_blank(bench.device)
    configuration = Configuration(bench, variant, content, work)
    try:
        deadline.check()  # building a large scene takes seconds of its own
        block = block_of(settings, {variant.picture: content}, 0, _FRAMES)
        deadline.check()
        run_block(settings, configuration, blank, block, deadline)
    finally:
        work.release()
        blank.release()
    if configuration.failure is not None:
        raise CheckError(configuration.failure)
    (samples,) = configuration.blocks
    return [each.cpu_work_ms if fit.on == "cpu" else each.frame_ms for each in samples]


def _name(bench: Bench, variant: Variant) -> str:
    return f"{bench.device.info.interface} {variant.how} {variant.submission.value}"
