"""What keys and buttons ask for: every action reachable, listed, and of exactly its own effect."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from demo.settings import Settings
from demo.wanted import (
    MAX_ELEMENTS_SHOWN,
    MAX_OBJECTS_SHOWN,
    Action,
    Ingredients,
    Settling,
    Variant,
    Wanted,
    apply,
    first_wishes,
    offered,
    stand_in,
)
from renderers.plan import Submission

_ROOT = Path(__file__).parents[2]
_DEEDS = (Action.FIT, Action.STEP, Action.RESET, Action.SCREENSHOT, Action.SAVE_JSON, Action.QUIT)


def _wanted(**changes: Any) -> Wanted:
    fields = {"interface": "opengl", "how": "fused", "objects": 1000, "elements": 1000, "frames_in_flight": 2}
    return Wanted(**{**fields, **changes})


@pytest.mark.parametrize(
    ("action", "change"),
    [
        (Action.OPENGL, {}),
        (Action.WEBGPU, {"interface": "webgpu"}),
        (Action.NEXT_SCHEDULE, {"how": "eager"}),
        (Action.NEXT_SUBMISSION, {"submission": Submission.IMMEDIATE}),
        (Action.NEXT_STATE, {"state": "texture"}),
        (Action.NEXT_ORDER, {"order": "shuffled"}),
        (Action.FEWER_OBJECTS, {"objects": 500}),
        (Action.MORE_OBJECTS, {"objects": 2000}),
        (Action.FEWER_ELEMENTS, {"elements": 250}),
        (Action.MORE_ELEMENTS, {"elements": 4000}),
        (Action.VSYNC, {"vsync": False}),
        (Action.IN_FLIGHT, {"frames_in_flight": 3}),
        (Action.PAUSE, {"paused": True}),
        (Action.OVERLAY, {"overlay": False}),
        (Action.FULLSCREEN, {"fullscreen": True}),
        (Action.HELP, {"help": True}),
        *((deed, None) for deed in _DEEDS),
    ],
)
def test_an_action_changes_its_own_wish_only_and_a_deed_changes_none(
    action: Action, change: dict[str, object] | None
) -> None:
    wanted = _wanted()
    assert apply(action, wanted) is (change is not None)
    assert wanted == _wanted(**(change or {}))


def test_every_action_is_a_wish_or_a_deed() -> None:
    assert {action for action in Action if not apply(action, _wanted())} == set(_DEEDS)


@pytest.mark.parametrize(
    ("action", "presses"),
    [
        (Action.NEXT_SCHEDULE, 3),
        (Action.NEXT_SUBMISSION, len(Submission)),
        (Action.NEXT_STATE, 3),
        (Action.NEXT_ORDER, 2),
        (Action.IN_FLIGHT, 3),
        *((each, 2) for each in (Action.VSYNC, Action.PAUSE, Action.OVERLAY, Action.FULLSCREEN, Action.HELP)),
    ],
)
def test_pressing_on_comes_back_to_where_it_began(action: Action, presses: int) -> None:
    wanted, seen = _wanted(), []
    for _ in range(presses):
        apply(action, wanted)
        seen.append(str(wanted))
    assert wanted == _wanted()
    assert len(set(seen)) == presses


@pytest.mark.parametrize(
    ("fewer", "more", "name", "least", "most"),
    [
        (Action.FEWER_OBJECTS, Action.MORE_OBJECTS, "objects", 0, MAX_OBJECTS_SHOWN),
        (Action.FEWER_ELEMENTS, Action.MORE_ELEMENTS, "elements", 1, MAX_ELEMENTS_SHOWN),
    ],
)
def test_sizes_stay_within_their_bounds_and_every_press_moves_them(
    fewer: Action, more: Action, name: str, least: int, most: int
) -> None:
    """None at all is a number of objects too, and not one that a person is stuck at."""
    wanted = _wanted()
    for action, end in ((fewer, least), (more, most)):
        seen = [getattr(wanted, name)]
        for _ in range(40):
            apply(action, wanted)
            seen.append(getattr(wanted, name))
            assert least <= seen[-1] <= most
            assert seen[-1] != seen[-2] or seen[-1] == end
        assert seen[-1] == end


def test_twice_no_objects_is_one_and_half_of_one_is_none() -> None:
    wanted = _wanted(objects=0)
    apply(Action.MORE_OBJECTS, wanted)
    assert wanted.objects == 1
    apply(Action.FEWER_OBJECTS, wanted)
    assert wanted.objects == 0


_REASONS = {**dict.fromkeys(Submission), Submission.RECORDED: "not here", Submission.IMMEDIATE: "nor this"}


def test_the_key_goes_through_what_is_offered_and_skips_what_is_refused() -> None:
    wanted, seen = _wanted(), []
    for _ in range(4):
        apply(Action.NEXT_SUBMISSION, wanted, offered(_REASONS))
        seen.append(wanted.submission)
    assert seen == [Submission.INSTANCED, Submission.INDIRECT, Submission.NONE, Submission.IMMEDIATE_BIND]


def test_a_refused_submission_that_is_on_show_is_left_for_an_offered_one() -> None:
    wanted = _wanted(submission=Submission.RECORDED)
    apply(Action.NEXT_SUBMISSION, wanted, offered(_REASONS))
    assert wanted.submission in offered(_REASONS)


@pytest.mark.parametrize(
    ("refused", "shown"),
    [
        ([Submission.RECORDED], Submission.INDIRECT),
        ([Submission.INDIRECT], Submission.RECORDED),
        ([Submission.INDIRECT, Submission.RECORDED], Submission.INSTANCED),
    ],
)
def test_the_best_that_is_left_stands_in_for_what_is_refused(refused: list[Submission], shown: Submission) -> None:
    assert stand_in({each: "no" if each in refused else None for each in Submission}) is shown


def test_a_window_begins_with_the_first_of_each_that_the_command_line_names() -> None:
    settings = Settings(
        interfaces=("webgpu", "opengl"), schedules=("eager",), submissions=(Submission.INDIRECT, Submission.NONE),
        states=("texture", "none"), orders=("shuffled", "sorted"), shader_cost=7, objects=0, frames_in_flight=3,
    )  # fmt: skip
    wanted = first_wishes(settings)
    assert wanted.variant == Variant("webgpu", "eager", Submission.INDIRECT)
    assert wanted.ingredients == Ingredients(0, 1, "texture", "shuffled", "wave")
    assert (wanted.shader_cost, wanted.frames_in_flight) == (7, 3)


def test_variant_and_ingredients_can_be_put_back_whole() -> None:
    wanted, other = _wanted(), _wanted(interface="webgpu", submission=Submission.NONE, objects=3, order="shuffled")
    wanted.variant, wanted.ingredients = other.variant, other.ingredients
    assert wanted == other


def test_only_what_a_slider_rests_on_is_built() -> None:
    settling, there, further = (
        Settling(),
        Ingredients(1, 1, "none", "sorted", "wave"),
        Ingredients(2, 1, "none", "sorted", "wave"),
    )
    assert not settling.rested(there, 10.0)
    assert not settling.rested(further, 10.1)
    assert not settling.rested(further, 10.2)
    assert settling.rested(further, 10.3)
    assert not settling.rested(there, 10.4)


def test_every_action_has_a_key_and_the_help_lists_each_with_a_key_that_does_it(xvfb: object) -> None:
    """In a child: pyglet.window is never imported by tests of what runs without a display."""
    if "DISPLAY" not in os.environ:
        pytest.skip("no X server")
    program = (
        "from demo.wanted import Action\n"
        "from demo.window import SHORTCUTS, _KEYS, _keys\n"
        "from pyglet.window import key\n"
        "assert set(_KEYS.values()) == set(Action), set(Action) - set(_KEYS.values())\n"
        "assert set(SHORTCUTS) == set(Action)\n"
        "assert len(set(SHORTCUTS.values())) == len(Action)\n"
        "assert len(_keys()) == len(_KEYS)\n"
        "names = {name.strip('_').capitalize(): action for name, action in _KEYS.items()}\n"
        "for action, shown in SHORTCUTS.items():\n"
        "    if action is not Action.HELP:\n"
        "        assert names[shown] is action, shown\n"
        "assert [_keys()[each] for each in (key.F1, key.QUESTION)] == [Action.HELP] * 2\n"
        "assert all(action.value for action in Action)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
