"""What keys and buttons ask for: every action reachable, listed, and of exactly its own effect."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from demo.wanted import MAX_ELEMENTS_SHOWN, MAX_OBJECTS_SHOWN, Action, Wanted, apply

_ROOT = Path(__file__).parents[2]
_DEEDS = (Action.STEP, Action.RESET, Action.SCREENSHOT, Action.SAVE_JSON, Action.QUIT)


def _wanted(**changes: Any) -> Wanted:
    fields = {"interface": "opengl", "how": "fused", "objects": 1000, "elements": 1000, "frames_in_flight": 2}
    return Wanted(**{**fields, **changes})


@pytest.mark.parametrize(
    ("action", "change"),
    [
        (Action.OPENGL, {}),
        (Action.WEBGPU, {"interface": "webgpu"}),
        (Action.NEXT_SCHEDULE, {"how": "eager"}),
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
    ("fewer", "more", "name", "most"),
    [
        (Action.FEWER_OBJECTS, Action.MORE_OBJECTS, "objects", MAX_OBJECTS_SHOWN),
        (Action.FEWER_ELEMENTS, Action.MORE_ELEMENTS, "elements", MAX_ELEMENTS_SHOWN),
    ],
)
def test_sizes_stay_between_one_and_the_most_that_is_shown(fewer: Action, more: Action, name: str, most: int) -> None:
    wanted = _wanted()
    for action, end in ((fewer, 1), (more, most)):
        for _ in range(40):
            apply(action, wanted)
            assert 1 <= getattr(wanted, name) <= most
        assert getattr(wanted, name) == end


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
