"""What is measured: each interface times each variant that was asked for, and what refuses. Feeds bench and report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Protocol

from compute.kernel import How, Limits
from demo.budget import Sample
from demo.content import Content
from demo.progress import Check
from demo.proof import Proof
from demo.settings import InputError, Settings
from renderers.device import MAX_OBJECTS, Device, Executable, Interface, PassKind
from renderers.materials import State
from renderers.plan import Submission
from renderers.scene import Order
from renderers.trust import Trust


@dataclass(frozen=True, slots=True)
class Bench:
    """An opened device and what was found out about it. ``driver_threads``: started by opening it; None: unknown."""

    device: Device
    trust: Mapping[PassKind, Trust]
    driver_threads: int | None


@dataclass(frozen=True, slots=True)
class Picture:
    """Variants with the same one draw the same picture."""

    state: State = "none"
    order: Order = "sorted"


@dataclass(frozen=True, slots=True)
class Variant:
    """What is drawn and computed, and how it is handed over, apart from the interface."""

    how: How
    submission: Submission
    picture: Picture = Picture()


@dataclass(frozen=True, slots=True)
class FirstFrame:
    """The first frame of a configuration, which no statistic counts: first use of its pipelines and buffers. ms."""

    frame_ms: float
    cpu_work_ms: float


class Remote(Protocol):
    """Measures a configuration's blocks elsewhere: a child process on a null driver."""

    def run_block(self, variant: Variant, first: int, frames: int, interrupt: Check) -> list[Sample]:
        """``interrupt`` is asked meanwhile."""
        ...


@dataclass(slots=True)
class Configuration:
    """One interface and variant, its concrete plan, and what was measured of it.

    ``recording_ms``: thread time of recording its draws, None where nothing is recorded; ``work.build`` has that of the
    first time, first use of the calls that record included. ``remote``: measured on a null driver, which renders
    nothing: no picture, no proof.
    """

    bench: Bench
    variant: Variant
    content: Content
    work: Executable
    recording_ms: float | None = None
    remote: Remote | None = None
    blocks: list[list[Sample]] = field(default_factory=list)
    proof: Proof = field(default_factory=Proof)
    first: FirstFrame | None = None
    failure: str | None = None

    @property
    def interface(self) -> Interface:
        return self.bench.device.info.interface

    @property
    def null_driver(self) -> bool:
        return self.remote is not None

    @property
    def name(self) -> str:
        picture = self.variant.picture
        parts = [self.interface, self.variant.how, self.variant.submission.value]
        parts += [picture.state, picture.order] if picture != Picture() else []
        return " ".join([*parts, *(["on the null driver"] if self.null_driver else [])])

    @property
    def samples(self) -> list[Sample]:
        """All frames that count, block after block."""
        return [each for block in self.blocks for each in block]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something asked for that an interface does not have, and why."""

    interface: Interface
    what: str
    reason: str


def common_limits(devices: Sequence[Device]) -> Limits:
    """What every device grants: with it, the plan is the same on all."""
    limits = devices[0].info.limits
    for device in devices[1:]:
        limits = limits.common(device.info.limits)
    return limits


def pictures(settings: Settings) -> list[Picture]:
    return [Picture(state, order) for state, order in product(settings.states, settings.orders)]


def variants(settings: Settings, bench: Bench) -> list[Variant]:
    """All that the device supports of what was asked for.

    Where it cannot record, ``indirect`` stands beside the others' ``recorded``: its own way to describe draws once.
    """
    supported = [each for each in settings.submissions if bench.device.info.submissions[each] is None]
    if Submission.RECORDED in settings.submissions and Submission.RECORDED not in supported:
        answer = Submission.INDIRECT
        if answer not in supported and bench.device.info.submissions[answer] is None:
            supported.append(answer)
    every = product(pictures(settings), settings.schedules, supported)
    return [Variant(how, submission, picture) for picture, how, submission in every]


def refusals(settings: Settings, benches: Sequence[Bench]) -> list[Refusal]:
    """Submissions that some interface lacks. Raises InputError for one that was named and that none has."""
    found = []
    for submission in settings.submissions:
        reasons = {bench.device.info.interface: bench.device.info.submissions[submission] for bench in benches}
        if settings.submissions_named and None not in reasons.values():
            why = "; ".join(f"{interface}: {reason}" for interface, reason in reasons.items())
            raise InputError(f"--submission: no interface here supports {submission.value} ({why})")
        found += [
            Refusal(interface, f"submission {submission.value}", reason)
            for interface, reason in reasons.items()
            if reason is not None
        ]
    return found


def check_objects(objects: int, benches: Sequence[Bench]) -> None:
    """Before anything is allocated. Raises InputError with what each interface takes."""
    most = {bench.device.info.interface: bench.device.info.most_objects for bench in benches}
    if objects <= min(most.values()):
        return
    each = ", ".join(f"{interface} {count:,}" for interface, count in most.items())
    raise InputError(
        f"--objects: {objects:,} do not fit; largest here: {each} (a scene holds at most {MAX_OBJECTS:,}); "
        "choose a smaller number"
    )
