"""What can go wrong with a window, done to a real one: python window_faults.py SCENARIO INTERFACE, a child process.

Prints one line of JSON: what each fault left behind. A native abort ends this process, not the tests.
"""

import gc
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import count, product
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from imgui_bundle import imgui
from window_session import Photo, Session, differing, key, settings, xlib

import demo.controls
import demo.overlay
import demo.stage
import demo.window
from demo.cli import main as command_line
from demo.loop import run_frame
from demo.plots import axis_top_ms
from demo.wanted import Settling
from demo.window import DemoWindow
from renderers.device import DeviceLostError, Interface, UnavailableError
from renderers.opengl.device import OpenGlDevice
from renderers.opengl.executable import OpenGlExecutable
from renderers.timers import SpanRecorder
from renderers.webgpu.device import WebGpuDevice
from renderers.webgpu.executable import WebGpuExecutable

OTHER: dict[Interface, Interface] = {"opengl": "webgpu", "webgpu": "opengl"}
KEYS: dict[Interface, int] = {"opengl": key._1, "webgpu": key._2}
Result = dict[str, Any]


class NoProbe:
    """Both interfaces are there, and nobody judges their timers: a child of its own would only take time."""

    missing: frozenset[Interface] = frozenset()

    def __init__(self, interface: Interface, adapter: str | None) -> None:
        self._interface = interface

    def found(self) -> None:
        if self._interface in self.missing:
            raise UnavailableError(self._interface, "no adapter found", "install a driver")

    def judge(self) -> None: ...

    def trust(self) -> None: ...

    def stop(self) -> None: ...


def session(interface: Interface, objects: int = 200, size_px: tuple[int, int] | None = None) -> Session:
    """Paused at a known time, so that every photograph is of the same picture. Without the panel."""
    chosen = settings(interface, objects)
    made = Session(chosen if size_px is None else replace(chosen, size_px=size_px))
    made.press(key.SPACE)
    still(made)
    return made


def still(made: Session) -> None:
    """Paused at 1.0 s."""
    if not made.app.wanted.paused:
        made.press(key.SPACE)
    made.app._time._before_s = 1.0
    made.steps(4)


def seen(made: Session) -> Result:
    """What the screen shows against what is drawn offscreen, and what the app says."""
    photo = made.settled()
    return {
        "interface": made.app.stage.interface,
        "message": made.app.message,
        "size": [photo.shape[1], photo.shape[0]],
        "shades": shades(photo),
        "screen_against_offscreen": differing(photo, made.offscreen()),
    }


def shades(photo: Photo) -> int:
    return len({tuple(colour) for colour in photo[::4, ::4].reshape(-1, 3).tolist()})


def resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# size


@contextmanager
def no_pixels(made: Session) -> Iterator[None]:
    """What a minimised window reports on Windows."""
    kind: Any = type(made.window)
    real = kind.size_px
    kind.size_px = property(lambda window: (0, 0))
    try:
        yield
    finally:
        kind.size_px = real


@contextmanager
def unmapped(made: Session) -> Iterator[None]:
    """What a window manager does to minimise."""
    display, window = made.pyglet_window._x_display, made.pyglet_window._window
    xlib.XUnmapWindow(display, window)
    xlib.XSync(display, 0)
    try:
        yield
    finally:
        xlib.XMapWindow(display, window)
        xlib.XSync(display, 0)
        made.steps(2)


def size_zero(interface: Interface) -> Result:
    """Away and back, twice; in between, everything that a person could still ask for."""
    made, result = session(interface), {}
    for name, away in (("stub", no_pixels), ("unmapped", unmapped)):
        made.steps(4)
        frames, counted, skipped = made.app.frames, len(made.app.history.records), made.app.history.skipped
        with away(made):
            made.steps(6)
            result[name] = {
                "size_px": list(made.window.size_px),
                "frames": made.app.frames - frames,
                "counted": len(made.app.history.records) - counted,
                "skipped": made.app.history.skipped - skipped,
            }
        made.steps(6)
        result[name] |= {
            "frames_after": made.app.frames - frames,
            "counted_after": len(made.app.history.records) - counted,
            **seen(made),
        }
    before = made.photograph()
    with unmapped(made):
        for symbol in (key.S, KEYS[OTHER[interface]], key.F, key.V, key.I, key.O, key.O, key.F11, key.F11, key.RIGHT):
            made.press(symbol)
            time.sleep(0.02)
        made.press(key.LEFT)
        made.press(KEYS[interface])
        result["files"] = sorted(each.name for each in Path.cwd().iterdir())
        result["asked_while_away"] = made.app.message
    made.steps(20)
    result["after"] = {**seen(made), "against_before": differing(made.photograph(), before)}
    with unmapped(made):
        made.press(KEYS[OTHER[interface]])
        made.press(key.RIGHT)
    made.steps(4)
    time.sleep(0.2)
    made.steps(4)
    result["switched while away"] = {**seen(made), "objects": made.app.stage.content.objects}
    made.app.close()
    return result


def resized(interface: Interface) -> Result:
    """A hundred sizes, drawn at once, sometimes several between two frames; then fullscreen and back."""
    made, random_ = session(interface), random.Random(20)
    for _ in range(100):
        made.pyglet_window.set_size(random_.randint(16, 900), random_.randint(16, 700))
        made.steps(random_.randint(0, 2))
    made.pyglet_window.set_size(500, 300)
    made.steps(8)
    result = {"resized": seen(made), "skipped": made.app.history.skipped}
    made.press(key.F11)
    made.steps(8)
    result["fullscreen"] = seen(made)
    made.press(key.F11)
    made.steps(8)
    result["back"] = seen(made)
    made.press(KEYS[OTHER[interface]])
    made.steps(4)
    result["other"] = seen(made)
    made.press(key.F11)
    made.press(KEYS[interface])
    made.press(key.F11)
    made.steps(8)
    result["there_and_back"] = seen(made)
    made.app.close()
    return result


# devices


def lose(made: Session, interface: Interface) -> None:
    """wgpu can destroy a device; OpenGL has no such call, so its next frame says so in its place."""
    device: Any = made.app.stage._devices[interface]
    if interface == "webgpu":
        device._device.destroy()
        return

    def lost(clock: object) -> bool:
        raise DeviceLostError("opengl")

    device.begin_frame = lost


def lost_on_show(interface: Interface) -> Result:
    """The interface on show dies, in the middle of each kind of thing that a person does."""
    made = session(OTHER[interface])
    made.press(KEYS[interface])
    still(made)
    before, result = made.photograph(), {}
    for name, symbol in (
        ("drawing", None),
        ("screenshot", key.S),
        ("schedule", key.F),
        ("submission", key.D),
        ("vsync", key.V),
        ("in flight", key.I),
        ("fullscreen", key.F11),
        ("objects", key.RIGHT),
    ):
        lose(made, interface)
        frames = made.app.frames
        if symbol is not None:
            made.press(symbol)
        time.sleep(0.2)
        made.steps(6)
        result[name] = {**seen(made), "title": made.app.stage.titles[interface], "frames": made.app.frames - frames}
        if symbol is key.F11:
            made.press(key.F11)
        if symbol is key.F:
            made.press(key.F)
            made.press(key.F)
        if symbol is key.RIGHT:
            made.press(key.LEFT)
            time.sleep(0.2)
        made.press(KEYS[interface])
        made.steps(8)
        result[name]["opened_anew"] = {**seen(made), "against_before": differing(made.photograph(), before)}
    made.app.close()
    return result


def lost_while_hidden(interface: Interface) -> Result:
    """The interface that is not on show dies; each thing that touches it must leave the other one alone."""
    other = OTHER[interface]
    made = session(interface)
    made.press(KEYS[other])
    still(made)
    before, result = made.photograph(), {}
    for name, symbols in (
        ("switch", ()),
        ("switch with a new schedule", (key.F,)),
        ("switch with a new submission", (key.D,)),
        ("vsync", (key.V,)),
        ("in flight", (key.I,)),
        ("fullscreen", (key.F11, key.F11)),
    ):
        lose(made, interface)
        for symbol in symbols:
            made.press(symbol)
        result[name] = {**seen(made), "against_before": differing(made.photograph(), before)}
        for _ in range(2):  # the first may be what finds out
            made.press(KEYS[interface])
        made.steps(4)
        result[name]["opened_anew"] = {**seen(made), "against_before": differing(made.photograph(), before)}
        made.press(KEYS[other])
    made.app.close()
    return result


def lost_for_good(interface: Interface) -> Result:
    """The only interface of this machine dies and does not come back."""
    NoProbe.missing = frozenset({OTHER[interface]})
    made = session(interface)
    lose(made, interface)
    made.steps(4)
    result = {"alone": seen(made)}
    NoProbe.missing = frozenset(KEYS)
    lose(made, interface)
    try:
        made.steps(4)
    except DeviceLostError as error:
        result["end"] = {"error": str(error)}
    made.app.close()
    return result


# shaders


@contextmanager
def broken_kernels() -> Iterator[None]:
    """The next kernel that is emitted names a function that neither language has."""
    from compute import ops

    row = ops.OPS["add"]
    ops.OPS["add"] = replace(row, glsl="no_such_function({0}, {1})", wgsl="no_such_function({0}, {1})")
    try:
        yield
    finally:
        ops.OPS["add"] = row


@contextmanager
def broken_scene(break_: Callable[[str], str]) -> Iterator[None]:
    """The scene's shaders as ``break_`` leaves them."""
    real = Path.read_text

    def read_text(path: Path, *arguments: Any, **options: Any) -> str:
        text = real(path, *arguments, **options)
        return break_(text) if path.suffix in (".frag", ".wgsl") else text

    Path.read_text = read_text  # type: ignore[method-assign]
    try:
        yield
    finally:
        Path.read_text = real  # type: ignore[method-assign]


def broken_shaders(interface: Interface) -> Result:
    """Kernels and scene shaders that do not compile, asked for by each key that compiles; then mended."""
    other = OTHER[interface]
    made = session(other)
    before, result = made.photograph(), {}
    for name, break_ in (
        ("syntax", lambda text: f"{text}\nthis is no shader\n"),
        ("entry point", lambda text: text.replace("fn plain", "fn elsewhere").replace("void main", "void elsewhere")),
    ):
        with broken_scene(break_):
            made.press(KEYS[interface])
            result[name] = {**seen(made), "against_before": differing(made.photograph(), before)}
    made.app._drop(interface)  # wgpu keeps the module that compiled, though nothing could enter it
    made.press(KEYS[interface])
    result["scene mended"] = {**seen(made), "against_before": differing(made.photograph(), before)}
    with broken_kernels():
        made.press(key.F)
        result["kernel"] = {
            **seen(made), "against_before": differing(made.photograph(), before), "how": made.app.stage.variant.how
        }  # fmt: skip
        made.press(key.UP)
        time.sleep(0.2)
        made.steps(4)
        result["rebuild"] = {
            **seen(made), "against_before": differing(made.photograph(), before),
            "elements": [made.app.wanted.elements, made.app.stage.content.elements],
        }  # fmt: skip
        frames = made.app.frames
        made.steps(5)
        result["frames"] = made.app.frames - frames
    made.press(key.F)
    result["kernel mended"] = {**seen(made), "how": made.app.stage.variant.how}
    made.app.close()
    return result


# between acquire and submit


def settings_inside_a_frame(interface: Interface) -> Result:
    """Each call that belongs between frames, made inside one; a surface configured there aborts."""
    made, result = session(interface), {}
    device, size_px = made.app.stage.device, made.window.size_px
    calls: dict[str, Callable[[], object]] = {
        "resize": lambda: device.resize((333, 222)),
        "resize to nothing": lambda: device.resize((0, 0)),
        "vsync": lambda: device.set_vsync(True),
        "frames in flight": lambda: device.set_frames_in_flight(1),
        "fullscreen": lambda: (device.suspend(), device.resume()),
        "another frame": lambda: device.begin_frame(SpanRecorder(2000)),
    }
    for index, (name, call) in enumerate(calls.items()):
        for drawn in (False, True):
            assert device.begin_frame(SpanRecorder(1000 + index))
            if drawn:
                made.app.stage.work.execute(made.app._values())
            call()
            try:
                device.end_frame()
                ended = "presented"
            except RuntimeError as error:
                ended = str(error)
            device.resize(size_px)
            made.steps(3)
            result[f"{name}, {'drawn' if drawn else 'empty'}"] = {"ended": ended, **seen(made)}
    made.app.close()
    return result


# memory


def switches(interface: Interface) -> Result:
    """Rounds of every setting, each round back where it began; memory after the first rounds against the end."""
    Settling.AFTER_S = 0.0
    made = session(interface)
    made.press(KEYS[OTHER[interface]])
    made.press(KEYS[interface])
    still(made)
    before = made.photograph()
    round_ = (
        key._1, *[key.D] * 5, key._2, *[key.D] * 6, *[key.T] * 3, key.F, key.M, key._1, key.M, key.F, key.LEFT,
        key._2, key.RIGHT, key.UP, key._1, key.DOWN, key.F, key.V,
        key._2, key.I, key.I, key.V, key._1, key.I, key.SPACE, key.O, key._2, key.F1, key.SPACE, key.F1, key.O,
        key.R, key.N, key.F11, key._1, key.F11, key._2,
    )  # fmt: skip
    made.press(KEYS[interface])

    def rounds(count: int) -> int:
        for _ in range(count):
            for symbol in round_:
                made.pyglet_window.dispatch_event("on_key_press", symbol, 0)
                made.steps(2)
        return count * len(round_)

    rounds(3)
    base = resident_bytes()
    pressed = rounds(7)
    grown = resident_bytes() - base
    made.press(KEYS[interface])
    still(made)
    return {
        "pressed": pressed,
        "grown_bytes": grown,
        "against_before": differing(made.photograph(), before),
        **seen(made),
        "wanted": str(made.app.wanted),
    }


def long_run(interface: Interface) -> Result:
    """Ten thousand frames with the panel, or as many as a quarter of a minute holds, but two thousand in any case."""
    made = session(interface, objects=1, size_px=(480, 270))
    made.press(key.O)
    made.press(key.V)  # nothing to wait for
    made.press(key.SPACE)
    made.steps(400)
    base, first, end = resident_bytes(), made.app.frames, time.monotonic() + 15.0
    while made.app.frames - first < 10_000 and (time.monotonic() < end or made.app.frames - first < 2_000):
        made.steps(50)
    frames = made.app.frames - first
    return {"frames": frames, "bytes_a_frame": (resident_bytes() - base) / frames}


# panel


def panel(interface: Interface) -> Result:
    """Stubbed pixel ratios: where the mouse hits, what is drawn where, and the workload with and without the panel."""
    other = OTHER[interface]
    made = session(interface)
    result: Result = {"workload without": workload(made, None)}
    made.press(key.O)
    made.steps(4)
    result["workload with"] = workload(made, made.app._widgets)
    made.press(key.O)
    kind: Any = type(made.window)
    for ratio in (1.0, 1.25, 2.0):
        made.press(KEYS[interface])
        made.pyglet_window.set_size(round(600 * ratio), round(380 * ratio))
        kind.size = property(lambda window: (600.0, 380.0))
        kind.pixels_per_point = property(lambda window, scale=ratio: (scale, scale))
        made.pyglet_window.dispatch_event("on_mouse_leave", 0, 0)  # a tooltip would reach beyond the panel
        made.steps(6)
        plain = made.settled()
        filled = seen(made)
        made.press(key.O)
        made.steps(8)
        changed = np.argwhere(np.any(plain != made.photograph(), axis=2))
        click(made, choice(made, other))
        result[str(ratio)] = {
            **filled,
            "panel_px": [int(each) for each in (*changed.min(axis=0)[::-1], *changed.max(axis=0)[::-1])],
            "clicked": made.app.stage.interface,
        }
        made.press(key.O)
    made.app.close()
    return result


def workload(made: Session, widgets: Callable[[], object] | None) -> Result:
    """What one frame issues, beside its overlay."""
    stage = made.app.stage
    with issued_calls() as calls:
        record = run_frame(stage.device, stage.work, 9999, made.app._values, widgets)
    stage.device.finish()
    return {
        "counters": asdict(stage.work.counters),
        "passes": [each.label for each in stage.work.plan.passes],
        "spans": [(span.kind, span.label) for span in record.spans if span.kind != "overlay"],
        "gpu": [[span.label for span in times.spans or ()] for times in stage.device.completed_frames()][-1],
        "calls": dict(calls),
    }


@contextmanager
def issued_calls() -> Iterator[Counter[str]]:
    """Draws, dispatches, writes, barriers and submits that a file of renderers/ asks for, except an overlay."""
    seen_calls: Counter[str] = Counter()
    names = {"render_indirect", "run", "draw_indexed", "dispatch_workgroups", "write", "write_buffer", "memory_barrier",
             "submit"}  # fmt: skip

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        caller = "" if frame.f_back is None else frame.f_back.f_code.co_filename
        if event == "call" and frame.f_code.co_name in names and "/renderers/" in caller and "overlay" not in caller:
            seen_calls[frame.f_code.co_name] += 1

    sys.setprofile(profile)
    try:
        yield seen_calls
    finally:
        sys.setprofile(None)


def choice(made: Session, interface: Interface) -> tuple[float, float]:
    """Points: the middle of the button that switches to ``interface``, as ImGui laid it out."""
    real, found = demo.controls.choice, []

    def choose(label: str, *arguments: Any) -> bool:
        clicked = real(label, *arguments)
        if label.endswith(f"##{interface}"):
            low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
            found.append(((low.x + high.x) / 2.0, (low.y + high.y) / 2.0))
        return clicked

    demo.controls.choice = choose
    made.steps(1)
    demo.controls.choice = real
    return found[-1]


def places(interface: Interface) -> Result:
    """Where a visitor finds the other interface's button and the ends of the objects slider, in a default window."""
    made = session(interface, size_px=(1280, 720))
    made.press(key.O)
    made.steps(2)
    real, found = imgui.slider_int, []

    def slide(label: str, *arguments: Any) -> Any:
        changed = real(label, *arguments)
        if label == "objects":
            low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
            found.append((low.x, high.x - imgui.calc_text_size(label).x, (low.y + high.y) / 2.0))
        return changed

    imgui.slider_int = slide
    made.steps(1)
    imgui.slider_int = real
    return {"button": choice(made, OTHER[interface]), "slider": found[-1]}


def click(made: Session, at: tuple[float, float]) -> None:
    """As pyglet tells it: points from the bottom."""
    x, y = round(at[0]), round(made.window.size[1] - at[1])
    made.pyglet_window.dispatch_event("on_mouse_motion", x, y, 0, 0)
    made.steps(2)
    for event in ("on_mouse_press", "on_mouse_release"):
        made.pyglet_window.dispatch_event(event, x, y, 1, 0)
        made.steps(2)
    made.steps(4)


# time


def stalled(interface: Interface) -> Result:
    """Stopped for five seconds, as by a debugger or a laptop's lid."""
    made = session(interface)
    made.app.history.clear()
    made.steps(60)
    time.sleep(5.0)
    made.steps(60)
    frames = made.app.history.frame
    stalls = frames > 5000.0
    even = np.where(stalls | np.isnan(frames), frames, 16.7)  # how even the others are depends on the machine
    return {"frames_over_5_s": int(np.count_nonzero(stalls)), "axis_top_ms": axis_top_ms(even), **seen(made)}


# ends


def interrupted(interface: Interface) -> Result:
    """Ctrl-C and the window's close button at every point of a frame, with earlier frames still in flight."""
    kinds = {"opengl": (OpenGlExecutable, OpenGlDevice), "webgpu": (WebGpuExecutable, WebGpuDevice)}
    executable, device = kinds[interface]
    points: dict[str, tuple[Any, str]] = {
        "acquired": (executable, "execute"),
        "encoded": (device, "end_frame"),
        "presented": (device, "completed_frames"),
        "building the panel": (demo.overlay, "draw"),
    }
    windows: list[Any] = []
    real_open = demo.window._open
    demo.window._open = lambda *arguments: windows.append(real_open(*arguments)) or windows[-1]  # type: ignore[func-returns-value]
    acts: dict[str, Callable[[], object]] = {
        "interrupt": lambda: signal.raise_signal(signal.SIGINT),
        "close": lambda: windows[-1].dispatch_event("on_close"),
    }
    result = {}
    for act, (point, where) in product(acts, points.items()):
        with nth_call(*where, nth=8, act=acts[act]):
            code = command_line(["--interface", interface, "--size", "320x180", "--objects", "20", "--in-flight", "3"])
        result[f"{act}, {point}"] = code
    return result


@contextmanager
def nth_call(owner: Any, name: str, nth: int, act: Callable[[], object]) -> Iterator[None]:
    """``act`` as ``owner``'s ``name`` is called for the ``nth`` time."""
    real, calls = getattr(owner, name), count(1)

    def call(*arguments: Any, **options: Any) -> Any:
        if next(calls) == nth:
            act()
        return real(*arguments, **options)

    setattr(owner, name, call)
    try:
        yield
    finally:
        setattr(owner, name, real)


def whole_run(interface: Interface) -> NoReturn:
    """The program itself; says when its window draws."""
    real = DemoWindow.set_caption

    def set_caption(window: DemoWindow, text: str) -> None:
        real(window, text)
        sys.stdout.write("drawing\n")
        sys.stdout.flush()

    DemoWindow.set_caption = set_caption  # type: ignore[method-assign]
    sys.exit(command_line(["--interface", interface, "--size", "320x180", "--objects", "20", "--in-flight", "3"]))


def main() -> None:
    scenario, interface = sys.argv[1:3]
    demo.stage.Probe = NoProbe  # type: ignore[misc, assignment]
    result = globals()[scenario](interface)
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
