"""The run command: one window, and between frames it becomes what the person wants. Called by cli."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from compute.kernel import ComputePass, LimitError, Scalar
from demo import overlay
from demo.budget import FrameRecord, missed_rule
from demo.history import History, Summary
from demo.loop import Pacer, run_frame
from demo.probe import Probe
from demo.report import WindowRun, save_picture, window_json, write_json
from demo.settings import EXIT_DONE, EXIT_INTERRUPTED, InputError, Settings
from demo.stage import Stage
from demo.ui import Ui
from demo.verdict import Forecast, forecast, limiter
from demo.wanted import Action, Wanted, apply
from demo.window import SHORTCUTS, DemoWindow
from renderers.camera import frame_values
from renderers.device import AllocationError, BuildError, DeviceLostError, Interface, UnavailableError

_REBUILD_AFTER_S = 0.15  # since the last change of a slider
_TITLE_EVERY = 15  # frames: a caption costs as much as a small frame's encoding
_LOOK_AHEAD = 20  # frames after which what may be wanted next is prepared
_SETTLED = 60  # frames behind a switch before it is compared
_UNSYNCED_HZ = 60.0
_REFUSALS = (UnavailableError, BuildError, LimitError, AllocationError)
_OTHER: dict[Interface, Interface] = {"opengl": "webgpu", "webgpu": "opengl"}


def run(settings: Settings, probes: dict[Interface, Probe]) -> int:
    """Open the window, draw until it is closed or ``settings.frames`` frames were presented."""
    window = DemoWindow(settings.size_px, "interface-tax")
    app = App(settings, window, probes)
    try:
        app.open()
        with _ended_by_signals(app):
            while app.running:
                app.step()
        if app.interrupted:
            return EXIT_INTERRUPTED
        if settings.screenshot is not None:
            app.save_screenshot(settings.screenshot)
    finally:
        app.close()
    return EXIT_DONE


@contextmanager
def _ended_by_signals(app: "App") -> Iterator[None]:
    """Between frames: an exception that is raised inside a native library's callback is lost, and Ctrl-C with it."""

    def end(number: int, frame: object) -> None:
        app.running, app.interrupted = False, True

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, end) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


class PausableTime:
    """Simulated seconds: wall time minus pauses."""

    def __init__(self) -> None:
        self._before_s, self._since = 0.0, time.perf_counter()
        self.paused = False

    @property
    def now_s(self) -> float:
        return self._before_s + (0.0 if self.paused else time.perf_counter() - self._since)

    def pause(self, paused: bool) -> None:
        self._before_s, self._since = self.now_s, time.perf_counter()
        self.paused = paused

    def step(self, seconds: float) -> None:
        self._before_s += seconds


class App:
    """Camera, time and settings survive every switch; statistics never mix two settings."""

    def __init__(self, settings: Settings, window: DemoWindow, probes: dict[Interface, Probe]) -> None:
        self._settings, self._window = settings, window
        self.wanted = Wanted(
            settings.interfaces[0],
            settings.schedules[0],
            settings.objects,
            settings.elements_for(settings.objects),
            settings.frames_in_flight,
        )
        self._made = Wanted(**{name: getattr(self.wanted, name) for name in Wanted.__slots__})
        self.stage = Stage(settings, window, probes)
        self.ui = Ui()
        self.history = History()
        self.forecast: Forecast | None = None
        self.message = ""
        self.frames = 0
        self.running = True
        self.interrupted = False
        self._time = PausableTime()
        self._pacer = Pacer(_UNSYNCED_HZ)
        self._before: Summary | None = None
        self._last_end_ns: int | None = None
        self._rebuilt = True
        self._sizes_changed_s: float | None = None
        self._refresh_hz = window.refresh_hz

    def open(self) -> None:
        """The first interface, or the other one where none was named. Raises UnavailableError."""
        try:
            self._show()
        except UnavailableError:
            if self._settings.interfaces_named:
                raise
            self.wanted.interface = self._made.interface = _OTHER[self.wanted.interface]
            self._show()
        self._window.push_handlers(self.ui)
        self._window.draw_while_dragged(self._draw)

    def step(self) -> None:
        """Events, wishes, one frame, and the title now and then."""
        self._window.dispatch_events()
        while self._window.actions and self.running:
            self.do(self._window.actions.popleft())
        if self.running:
            self._make_so()
            self._draw()
        if self._settings.frames is not None and self.frames >= self._settings.frames:
            self.running = False

    def close(self) -> None:
        """Devices first: a surface must not outlive its window."""
        self.stage.close()
        self._window.close()

    def do(self, action: Action) -> None:
        """What a key or a button asks for."""
        if apply(action, self.wanted):
            return
        if action is Action.QUIT:
            self.running = False
        elif action is Action.STEP:
            self.wanted.paused = True
            self._time.step(1.0 / 60.0)
        elif action is Action.RESET:
            self.history.clear()
        else:
            self._save(action)

    # wishes

    def _make_so(self) -> None:
        """Whatever differs between wanted and made, one thing after the other, only between frames.

        A window without pixels keeps its wishes: no image or surface can be made for it.
        """
        wanted, made = self.wanted, self._made
        if 0 in self._window.size_px:
            return
        if wanted.fullscreen != made.fullscreen:
            self._change(lambda: self.stage.set_fullscreen(wanted.fullscreen))
        if (wanted.interface, wanted.how) != (made.interface, made.how):
            self._change(self._show)
        if wanted.vsync != made.vsync:
            self._change(lambda: self.stage.set_vsync(wanted.vsync))
        if wanted.frames_in_flight != made.frames_in_flight:
            self._change(lambda: self.stage.set_frames_in_flight(wanted.frames_in_flight))
        if wanted.paused != made.paused:
            self._time.pause(wanted.paused)
        self._rebuild_when_settled()
        for name in Wanted.__slots__:
            if name not in ("objects", "elements"):
                setattr(made, name, getattr(wanted, name))

    def _rebuild_when_settled(self) -> None:
        """A slider on its way asks for a size every frame; only the one it rests on is built."""
        wanted, made = self.wanted, self._made
        if (wanted.objects, wanted.elements) == (made.objects, made.elements):
            self._sizes_changed_s, self._asked = None, (wanted.objects, wanted.elements)
            return
        now = time.perf_counter()
        if self._sizes_changed_s is None or self._asked != (wanted.objects, wanted.elements):
            self._sizes_changed_s, self._asked = now, (wanted.objects, wanted.elements)
        elif now - self._sizes_changed_s >= _REBUILD_AFTER_S:
            self._change(lambda: self.stage.rebuild(wanted.objects, wanted.elements, self._values()))
            made.objects, made.elements = self.stage.content.objects, self.stage.content.elements
            wanted.objects, wanted.elements = made.objects, made.elements

    def _change(self, make: Callable[[], object]) -> None:
        """A change that works starts the statistics anew; one that fails leaves the last good frame, and says why."""
        before = self.history.summary
        try:
            make()
            self.message = ""
        except DeviceLostError as error:
            self._lose(error)
        except _REFUSALS as error:
            self.message = str(error)
            self.wanted.interface, self.wanted.how = self.stage.interface, self.stage.how
        self._begin_anew(before)

    def _begin_anew(self, before: Summary) -> None:
        self._before = before if before.frame is not None else self._before
        self.forecast = None
        self.history.clear()
        self._last_end_ns, self._rebuilt = None, True

    def _show(self) -> None:
        wanted = self.wanted
        self.ui.use(wanted.interface)
        try:
            self.stage.show(wanted.interface, wanted.how, self._values(), wanted.frames_in_flight, wanted.vsync)
        finally:
            self.ui.use(self.stage.interface)

    def _lose(self, error: DeviceLostError) -> None:
        """Whatever is left goes on; asking for the lost one opens it anew. Raises ``error`` when nothing is left."""
        shown, before = self.stage.interface, self.history.summary
        self._drop(error.interface)
        self.wanted.how = self.stage.how
        for interface in (_OTHER[shown], shown) if shown == error.interface else (shown, error.interface):
            self.wanted.interface = interface
            try:
                self._show()
                break
            except DeviceLostError as another:
                self._drop(another.interface)
            except _REFUSALS:
                pass
        else:
            raise error
        self._made.interface, self._made.how = self.wanted.interface, self.wanted.how
        self.message = str(error)
        self._begin_anew(before)

    def _drop(self, interface: Interface) -> None:
        self.stage.drop(interface)
        self.ui.forget(interface)

    # frames

    def _draw(self) -> None:
        if self.stage.device.size_px != self._window.size_px:
            self.stage.device.resize(self._window.size_px)
        widgets = self._widgets if self.wanted.overlay and 0 not in self._window.size_px else None
        pace = self._pacer if self.wanted.vsync and self._refresh_hz is None else None
        try:
            record = run_frame(self.stage.device, self.stage.work, self.frames, self._values, widgets, pace)
            self._account(record)
            for times in self.stage.device.completed_frames():
                self.history.join(times, self.stage.trust)
        except DeviceLostError as error:
            self._lose(error)

    def _account(self, record: FrameRecord) -> None:
        """Frame time is end of present to end of present; a rebuilt or skipped frame is marked and not counted."""
        if record.state == "skipped":
            self.history.mark("skipped")
            self._last_end_ns = None
            time.sleep(0.01)  # minimised: nothing to draw, nobody to see it
            return
        if self._rebuilt:
            record.state, self._rebuilt = "rebuilt", False
            self.history.mark("rebuilt")
        elif self._last_end_ns is not None:
            self.history.add(record, (record.end_ns - self._last_end_ns) / 1e6, self.stage.trust)
        self._last_end_ns = record.end_ns
        self.frames += 1
        if self.frames == _LOOK_AHEAD:
            self.stage.look_ahead()
        summary = self.history.refresh(self.stage.trust, self._synced_hz)
        if self._before is not None and summary.frame is not None and summary.frame.n >= _SETTLED:
            self.forecast = forecast(self._before, summary, self.stage.device.info.is_software)
        if self.frames % _TITLE_EVERY == 0:
            self._window.set_caption(self.title())

    def _values(self) -> dict[str, Scalar]:
        width, height = self._window.size_px
        return frame_values(self._time.now_s, (max(1, width), max(1, height)))

    @property
    def _synced_hz(self) -> float | None:
        return self._refresh_hz if self.wanted.vsync else None

    @property
    def _period_ms(self) -> float | None:
        return 1000.0 / (self._refresh_hz or _UNSYNCED_HZ) if self.wanted.vsync else None

    # what is shown and saved

    def _widgets(self) -> object:
        self.ui.size, self.ui.pixels_per_point = self._window.size, self._window.pixels_per_point
        shown = self.shown()
        return self.ui.frame(lambda: overlay.draw(shown, self.wanted, self.do))

    def shown(self) -> overlay.Shown:
        """Everything the panel shows of this frame."""
        stage, summary = self.stage, self.history.summary
        return overlay.Shown(
            interfaces=stage.titles,
            interface=stage.interface,
            info=stage.device.info,
            present_mode=stage.device.present_mode,
            refresh_hz=self._refresh_hz,
            history=self.history,
            summary=summary,
            verdict=limiter(summary, stage.device.info.is_software, self._period_ms),
            forecast=self.forecast,
            passes=self._pass_rows(),
            missed_rule=missed_rule(self._synced_hz),
            message=self.message,
            shortcuts=SHORTCUTS,
        )

    def _pass_rows(self) -> list[overlay.PassRow]:
        times = self.history.summary.passes_p50 or {}
        rows = []
        for each in self.stage.work.plan.passes:
            compute = each if isinstance(each, ComputePass) else None
            kernels, described = (None, None) if compute is None else (compute.kernels, compute.memory_bytes)
            rows.append(overlay.PassRow(each.label, kernels, described, times.get(each.label)))
        return rows

    def title(self) -> str:
        """The figures for a window without its panel."""
        summary = self.history.summary
        frame, work, gpu = summary.frame, summary.cpu_work, summary.gpu
        parts = [
            self.stage.device.info.title,
            self.stage.how,
            f"frame p50 {'n/a' if frame is None else f'{frame.p50:.1f} ms'}",
            f"CPU work {'n/a' if work is None else f'{work.p50:.1f} ms'}",
            f"GPU {'n/a' if gpu is None else f'{gpu.p50:.1f} ms'}",
            "vsync" if self.wanted.vsync else "no vsync",
            *(["paused"] if self.wanted.paused else []),
            *([self.message] if self.message else []),
        ]
        return "   ".join(parts)

    def save_screenshot(self, target: Path) -> None:
        """The scene without the panel. Raises InputError."""
        if 0 in self._window.size_px:
            raise InputError(f"--screenshot {target}: a minimised window has no picture; show it first")
        save_picture(self.stage.work.image(), target)

    def _save(self, action: Action) -> None:
        """A file in the working directory, named after interface and time."""
        stem = f"interface-tax-{self.stage.interface}-{time.strftime('%Y%m%d-%H%M%S')}"
        try:
            if action is Action.SCREENSHOT:
                target = Path(f"{stem}.png")
                self.save_screenshot(target)
            else:
                target = Path(f"{stem}.json")
                write_json(window_json(self._window_run()), str(target))
            self.message = f"Saved {target}"
        except InputError as error:
            self.message = str(error)
        except DeviceLostError as error:
            self._lose(error)
        self._last_end_ns = None  # saving is no frame time

    def _window_run(self) -> WindowRun:
        return WindowRun(
            device=self.stage.device,
            trust=self.stage.trust,
            work=self.stage.work,
            content=self.stage.content,
            how=self.stage.how,
            samples=self.history.samples(self.stage.trust),
            missed_frames=self.history.summary.missed,
            missed_rule=missed_rule(self._synced_hz),
            refresh_hz=self._refresh_hz,
            frames_in_flight=self.wanted.frames_in_flight,
        )
