"""Costs are differences of block medians of peers that differ in one thing; n/a where there is no such peer."""

from dataclasses import dataclass, replace
from typing import cast

import pytest

from compute.kernel import FLOOR
from demo.budget import Sample
from demo.configuration import Bench, Configuration, Picture, Remote, Variant
from demo.content import Content
from demo.costs import (
    DESCRIBED_ANEW,
    DESCRIBED_ONCE,
    cheapest,
    difference_ms,
    over_base_percent,
    pays_off_after,
    per_draw_us,
    rendered_ms,
)
from demo.progress import Check
from renderers.device import Counters, Device, Executable
from renderers.plan import Submission

DRAWS = 100
BENCH = Bench(cast(Device, None), {}, None)
PLAIN = Sample(10.0, 2.0, 1.5, 0.5, 1.0, 4.0, None, {})


@dataclass
class StubWork:
    counters: Counters = Counters(1, DRAWS, 1, None, 0, 0, 0)


class StubRemote:
    def run_block(self, variant: Variant, first: int, frames: int, interrupt: Check) -> list[Sample]:
        return []


def measured(
    submission: Submission,
    *cpu_work_ms: float,
    picture: Picture = Picture(),
    recording_ms: float | None = None,
    remote: Remote | None = None,
) -> Configuration:
    """A block of three equal frames for each CPU work."""
    work = cast(Executable, StubWork())
    blocks = [[replace(PLAIN, cpu_work_ms=time)] * 3 for time in cpu_work_ms]
    content = Content("field", DRAWS, DRAWS, FLOOR)
    return Configuration(
        BENCH, Variant("fused", submission, picture), content, work, recording_ms, remote=remote, blocks=blocks
    )


INSTANCED = measured(Submission.INSTANCED, 1.0, 1.1, 1.2)
IMMEDIATE = measured(Submission.IMMEDIATE, 3.0, 3.2, 3.1)


def test_a_difference_is_the_median_over_blocks_with_its_range() -> None:
    spread = difference_ms(IMMEDIATE, INSTANCED, "cpu_work_ms")
    assert spread is not None
    assert (spread.median, spread.low, spread.high) == pytest.approx((2.0, 1.9, 2.1))
    assert spread.blocks == 3


def test_blocks_that_only_one_of_the_two_has_are_left_out() -> None:
    interrupted = measured(Submission.INSTANCED, 1.0)
    spread = difference_ms(IMMEDIATE, interrupted, "cpu_work_ms")
    assert spread is not None
    assert (spread.blocks, spread.median) == (1, 2.0)
    assert difference_ms(IMMEDIATE, measured(Submission.INSTANCED), "cpu_work_ms") is None
    assert difference_ms(IMMEDIATE, INSTANCED, "gpu_ms") is None


def test_a_draw_costs_what_it_adds_over_instanced() -> None:
    spread = per_draw_us(IMMEDIATE, [INSTANCED, IMMEDIATE], in_flight=1)
    assert spread is not None
    assert spread.median == pytest.approx(2.0 * 1000.0 / DRAWS)


def test_the_cost_of_a_draw_is_unknown_without_a_base_or_with_frames_in_flight() -> None:
    both = [INSTANCED, IMMEDIATE]
    assert per_draw_us(IMMEDIATE, [IMMEDIATE], in_flight=1) is None
    assert per_draw_us(IMMEDIATE, both, in_flight=2) is None
    assert per_draw_us(INSTANCED, both, in_flight=1) is None
    assert per_draw_us(measured(Submission.NONE, 0.1, 0.1, 0.1), both, in_flight=1) is None


def test_a_change_of_state_costs_percent_of_its_base_row() -> None:
    shuffled = measured(Submission.IMMEDIATE, 6.0, 6.4, 9.3, picture=Picture("texture", "shuffled"))
    spread = over_base_percent(shuffled, [INSTANCED, IMMEDIATE, shuffled])
    assert spread is not None
    assert (spread.median, spread.low, spread.high) == pytest.approx((100.0, 100.0, 200.0))
    assert over_base_percent(IMMEDIATE, [INSTANCED, IMMEDIATE, shuffled]) is None
    assert over_base_percent(shuffled, [INSTANCED, shuffled]) is None


def test_without_a_sorted_base_the_one_in_the_same_order_is_taken() -> None:
    shuffled = measured(Submission.IMMEDIATE, 6.0, picture=Picture("texture", "shuffled"))
    base = measured(Submission.IMMEDIATE, 4.0, picture=Picture("none", "shuffled"))
    spread = over_base_percent(shuffled, [shuffled, base])
    assert spread is not None
    assert spread.median == pytest.approx(50.0)
    assert over_base_percent(base, [shuffled, base]) is None


def test_what_a_null_driver_does_not_do_is_rendering() -> None:
    null = measured(Submission.IMMEDIATE, 0.5, 0.5, 0.5, remote=StubRemote())
    spread = rendered_ms(IMMEDIATE, [INSTANCED, IMMEDIATE, null])
    assert spread is not None
    assert spread.median == pytest.approx(2.6)
    assert rendered_ms(null, [IMMEDIATE, null]) is None
    assert rendered_ms(IMMEDIATE, [IMMEDIATE, INSTANCED]) is None


def test_a_null_driver_is_compared_with_its_own_kind_only() -> None:
    null = measured(Submission.IMMEDIATE, 0.5, 0.5, 0.5, remote=StubRemote())
    assert per_draw_us(null, [INSTANCED, IMMEDIATE, null], in_flight=1) is None


def test_recording_is_paid_for_after_what_it_took_over_what_it_saves() -> None:
    recorded = measured(Submission.RECORDED, 1.0, 1.2, 1.1, recording_ms=7.0)
    assert pays_off_after(recorded, [IMMEDIATE, recorded]) == pytest.approx(3.5)
    bind = measured(Submission.IMMEDIATE_BIND, 8.0, 8.2, 8.1)
    assert pays_off_after(recorded, [bind, recorded]) == pytest.approx(1.0)
    assert pays_off_after(recorded, [bind, IMMEDIATE, recorded]) == pytest.approx(3.5)


def test_recording_that_saves_nothing_is_never_paid_for() -> None:
    dear = measured(Submission.RECORDED, 4.0, 4.0, 4.0, recording_ms=7.0)
    assert pays_off_after(dear, [IMMEDIATE, dear]) is None
    assert pays_off_after(measured(Submission.RECORDED, 1.0, recording_ms=7.0), []) is None
    assert pays_off_after(IMMEDIATE, [IMMEDIATE]) is None


def test_the_cheapest_is_sought_among_ways_to_say_the_same() -> None:
    bind = measured(Submission.IMMEDIATE_BIND, 8.0)
    recorded, indirect = measured(Submission.RECORDED, 1.0), measured(Submission.INDIRECT, 0.4)
    none = measured(Submission.NONE, 0.1)
    among = [bind, IMMEDIATE, recorded, indirect, none]
    assert cheapest(among, DESCRIBED_ANEW) is IMMEDIATE
    assert cheapest(among, DESCRIBED_ONCE) is indirect
    assert cheapest([none], DESCRIBED_ONCE) is None
