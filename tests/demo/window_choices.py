"""Everything that can be chosen in a window, chosen in a real one: python window_choices.py SCENARIO INTERFACE.

A child process. Prints one line of JSON: what each choice left on the screen and in the app.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from imgui_bundle import imgui
from window_faults import KEYS, OTHER, NoProbe, Result, click, seen, shades, still
from window_session import Session, differing, key, settings

import demo.controls
import demo.stage
from compute.kernel import SCHEDULES
from compute.workloads.elementwise import WORKLOADS
from demo.content import Content
from demo.saving import save_frames
from renderers.device import Interface
from renderers.plan import Submission


def session(interface: Interface, **changes: Any) -> Session:
    """Paused at 1.0 s, without the panel."""
    made = Session(replace(settings(interface, 200), **changes))
    made.press(key.SPACE)
    still(made)
    return made


def submissions(interface: Interface) -> Result:
    """Key D all the way round; each against the first. ``rebuilt``: frames that the switch itself marked."""
    made, result = session(interface), {}
    first, begun = made.photograph(), made.app.stage.variant
    for _ in range(len(Submission)):
        made.pyglet_window.dispatch_event("on_key_press", key.D, 0)
        made.steps(4)
        variant = made.app.stage.variant
        photo = made.photograph()
        result[variant.submission.value] = {
            "differing": differing(photo, first),
            "shades": shades(photo),
            "rebuilt": made.app.history.rebuilt,
            "counted": len(made.app.history.records),
            "title": made.app.title(),
            "draws": made.app.stage.work.counters.draws,
        }
        if variant == begun:
            break
    made.app.close()
    return {"interface": variant.interface, "seen": result, "last": variant.submission.value}


def no_wrong_frame(interface: Interface) -> Result:
    """While another variant is compiled and warmed up, the screen keeps what was on it; it is compiled once."""
    made, real, compiled = session(interface), Content.compile, 0
    before = made.photograph()
    during: list[int] = []

    def watched(content: Content, *arguments: Any) -> Any:
        nonlocal compiled
        compiled += 1
        during.append(differing(made._shown(), before))
        work = real(content, *arguments)
        during.append(differing(made._shown(), before))
        return work

    Content.compile = watched  # type: ignore[method-assign]
    rounds = []
    for _ in range(2):
        for symbol in (*[key.D] * len(Submission), KEYS[OTHER[interface]], key.F, key.F, key.F, KEYS[interface]):
            before = made.photograph()
            made.press(symbol)
        rounds.append(compiled)
        while made.app.stage.variant.submission is not Submission.IMMEDIATE_BIND:
            made.press(key.D)
    made.app.close()
    return {"during": during, "rounds": rounds}


def refused(interface: Interface) -> Result:
    """From what only one interface has to the other one, and back; the pictures are the same all the time."""
    made = session(OTHER[interface], submissions=(Submission.RECORDED,))
    first, result = made.photograph(), {"begun": made.app.stage.variant.submission.value}
    for name, symbol in (("over", KEYS[interface]), ("back", KEYS[OTHER[interface]])):
        made.press(symbol)
        result[name] = {
            **seen(made),
            "against_before": differing(made.photograph(), first),
            "submission": made.app.stage.variant.submission.value,
            "consistent": made.app.wanted.variant == made.app.stage.variant,
            "title": made.app.title(),
        }
    made.app.close()
    return result


def menu(interface: Interface) -> Result:
    """A person opens the menu of submissions and clicks on each entry that is in it."""
    made, result = session(interface), {}
    made.press(key.O)
    made.steps(4)
    for each in Submission:
        entries = opened_menu(made)
        before = made.app.stage.variant.submission
        click(made, entries[each.value])
        made.steps(4)
        result[each.value] = [before.value, made.app.stage.variant.submission.value]
        made.pyglet_window.dispatch_event("on_mouse_motion", 5, 5, 0, 0)
        click(made, (5.0, 300.0))  # beside it: closes what a greyed entry left open
        made.steps(2)
    greyed = {
        entry.text: entry.tip for entry in demo.controls.submission_entries(made.app.stage.device.info) if entry.greyed
    }
    made.app.close()
    return {"clicked": result, "greyed": greyed}


def opened_menu(made: Session) -> dict[str, tuple[float, float]]:
    """Points: the middle of each entry, once the menu of submissions is open."""
    combo, entry = imgui.begin_combo, imgui.selectable
    found: dict[str, tuple[float, float]] = {}

    def begin_combo(label: str, preview: str) -> Any:
        is_open = combo(label, preview)
        if not is_open and label == "##submission":
            found["menu"] = _middle()
        return is_open

    def selectable(text: str, *arguments: Any) -> Any:
        answer = entry(text, *arguments)
        found[text] = _middle()
        return answer

    imgui.begin_combo, imgui.selectable = begin_combo, selectable
    made.steps(2)
    click(made, found["menu"])
    made.steps(4)
    imgui.begin_combo, imgui.selectable = combo, entry
    return found


def _middle() -> tuple[float, float]:
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    return (low.x + high.x) / 2.0, (low.y + high.y) / 2.0


def states(interface: Interface) -> Result:
    """Every state in both orders, and the same on the other interface: which pictures are equal, and which are not."""
    made, result = session(interface), {}
    for state in ("none", "texture", "pipeline"):
        for order in ("sorted", "shuffled"):
            here = made.settled()
            made.press(KEYS[OTHER[interface]])
            there = made.settled()
            made.press(KEYS[interface])
            content = made.app.stage.content
            result[f"{content.state}, {content.order}"] = {
                "expected": [content.state, content.order] == [state, order],
                "differing": differing(here, there),
                "against_first": differing(here, result.setdefault("_first", here)),
                "shades": shades(here),
            }
            made.press(key.M)
            wait(made)
        made.press(key.T)
        wait(made)
    result.pop("_first")
    made.app.close()
    return result


def workloads(interface: Interface) -> Result:
    """Every workload by every schedule: how many kernels ran, and how many the panel lists."""
    made, result = session(interface), {}
    for _ in WORKLOADS:
        content = made.app.stage.content
        made.app.wanted.paused = True
        passes: dict[str, int] = {}
        for _ in SCHEDULES:
            made.steps(3)
            how = made.app.stage.variant.how
            for each in made.app.stage.work.plan.compute_passes:
                if each.label.startswith(content.workload_name):
                    passes[how] = passes.get(how, 0) + each.kernels
            made.press(key.F)
        result[content.workload_name] = {"kernels": passes, "listed": len(made.app.shown().kernels.listed)}
        made.press(key.W)
        wait(made)
    made.app.close()
    return result


def wait(made: Session) -> None:
    """Until a choice that a slider could also make has come to rest, and the first frames of it are drawn."""
    time.sleep(0.2)
    made.steps(4)


def shader_cost(interface: Interface) -> Result:
    """A value of the frame: nothing is built, statistics begin anew, and nobody sees it in the picture."""
    made = session(interface, shader_cost=3)
    made.steps(20)
    work, before, values = made.app.stage.work, made.photograph().astype(int), made.app._values()
    made.app.wanted.shader_cost = 40
    made.steps(3)
    result = {
        "first": values["shader_cost"],
        "now": made.app._values()["shader_cost"],
        "kept": made.app.stage.work is work,
        "counted": len(made.app.history.records),
        "rebuilt": made.app.history.rebuilt,
        "most_differing": int(abs(made.photograph() - before).max()),
    }
    save_frames(made.app.stage, made.app.history, made.app.wanted, None, None, Path("frames.json"))
    (run,) = json.loads(Path("frames.json").read_text())["runs"]
    made.app.close()
    return result | {"saved": {name: run[name] for name in ("submission", "state", "order", "shader_cost", "objects")}}


def none_at_all(interface: Interface) -> Result:
    """A window without objects, on both interfaces, with every submission; then one more, and back."""
    made, result = session(interface, objects=0), {}
    for symbol in (KEYS[interface], KEYS[OTHER[interface]]):
        made.press(symbol)
        for _ in range(len(Submission)):
            made.press(key.D)
            name = f"{made.app.stage.interface}, {made.app.stage.variant.submission.value}"
            result[name] = {"shades": shades(made.photograph()), "message": made.app.message}
    made.press(key.RIGHT)
    wait(made)
    more = made.app.stage.content.objects
    made.press(key.LEFT)
    wait(made)
    objects = [more, made.app.stage.content.objects]
    made.app.close()
    return {"empty": result, "objects": objects}


def fit(interface: Interface) -> Result:
    """Key B to an end of its own; then begun again and ended by each thing that ends it."""
    made, result = session(interface), {}
    made.press(key.B)
    result["asked"], result["progress"], asked = [], made.app._said, set()
    while made.app._fitting is not None:
        fitting = made.app._fitting
        made.steps(1)
        content = made.app.stage.content.objects
        if content not in asked and made.app._fitting is fitting:
            asked.add(content)
            result["asked"].append([content, made.app.history.rebuilt, made.app.wanted.vsync])
    found = fitting.result
    made.steps(2)
    result["end"] = {
        **seen(made),
        "fits": found.fits, "objects": made.app.stage.content.objects, "vsync": made.app.wanted.vsync,
        "measured": [each.n for each in found.measured], "title": made.app.title(),
    }  # fmt: skip
    ends: dict[str, Callable[[], None]] = {
        "key B": lambda: made.press(key.B),
        "escape": lambda: made.press(key.ESCAPE),
        "schedule": lambda: made.press(key.F),
        "interface": lambda: made.press(KEYS[OTHER[interface]]),
    }
    for name, end in ends.items():
        before = replace(made.app.wanted)
        made.press(key.B)
        begun = made.app._fitting is not None
        end()
        result[name] = {
            "begun": begun, "fitting": made.app._fitting is not None, "message": made.app.message,
            "running": made.app.running, "vsync": made.app.wanted.vsync == before.vsync,
            "objects": made.app.stage.content.objects == before.objects,
            "changed": [n for n in ("interface", "how") if getattr(before, n) != getattr(made.app.stage.variant, n)],
        }  # fmt: skip
    made.press(key.B)
    made.pyglet_window.dispatch_event("on_close")
    made.steps(1)
    result["running after close"] = made.app.running
    made.app.close()
    return result


def validation(interface: Interface) -> Result:
    """A window that was asked to leave the drivers' checks out says how far it did, and draws."""
    made = session(interface, validation=False)
    result = {**seen(made), "validation": made.app.stage.device.info.validation}
    made.app.close()
    return result


def main() -> None:
    scenario, interface = sys.argv[1:3]
    demo.stage.Probe = NoProbe  # type: ignore[misc, assignment]
    result = globals()[scenario](interface)
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
