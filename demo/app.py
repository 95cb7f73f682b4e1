"""The run command: one window, and between frames it becomes what the person wants. Called by cli."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from compute.kernel import LimitError, Scalar
from demo import overlay
from demo.budget import FrameRecord, missed_rule
from demo.fitting import Fitting
from demo.history import History
from demo.loop import Pacer, run_frame
from demo.meter import Meter
from demo.playback import PausableTime
from demo.probe import Probe
from demo.saving import file_name, save_frames, save_scene
from demo.settings import EXIT_DONE, EXIT_INTERRUPTED, InputError, Settings
from demo.shown import Shown, kernels, pass_rows, title
from demo.stage import Stage
from demo.ui import Ui
from demo.verdict import limiter
from demo.wanted import Action, Settling, apply, first_wishes, offered, stand_in
from demo.window import SHORTCUTS, DemoWindow
from renderers.camera import frame_values
from renderers.device import (
    AllocationError,
    BuildError,
    DeviceLostError,
    Interface,
    UnavailableError,
    check_submission,
)

_TITLE_EVERY = 15  # frames: a caption costs as much as a small frame's encoding
_LOOK_AHEAD = 20  # frames after which what may be wanted next is prepared
_UNSYNCED_HZ = 60.0
_REFUSALS = (UnavailableError, BuildError, LimitError, AllocationError)
_OTHER: dict[Interface, Interface] = {"opengl": "webgpu", "webgpu": "opengl"}


def run(settings: Settings, probes: dict[Interface, Probe]) -> int:
    """Open the window, draw until it is closed or ``settings.frames`` frames were presented."""
    window = DemoWindow(settings.size_px, "interface-tax", settings.validation)
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


class App:
    """Camera, time and settings survive every switch; statistics never mix two settings."""

    def __init__(self, settings: Settings, window: DemoWindow, probes: dict[Interface, Probe]) -> None:
        self._settings, self._window = settings, window
        self.wanted = first_wishes(settings)
        self._made = replace(self.wanted)
        self.stage = Stage(settings, self.wanted, window, probes)
        self.ui = Ui()
        self._meter = Meter()
        self.message = ""
        self.running = True
        self.interrupted = False
        self._time = PausableTime()
        self._pacer = Pacer(_UNSYNCED_HZ)
        self._settling = Settling()
        self._fitting: Fitting | None = None
        self._refresh_hz = window.refresh_hz

    @property
    def history(self) -> History:
        return self._meter.history

    @property
    def frames(self) -> int:
        """Presented since the window was opened."""
        return self._meter.frames

    def open(self) -> None:
        """The first interface, or the other one where none was named. Raises UnavailableError, LimitError."""
        try:
            self.message = self._show()
        except UnavailableError:
            if self._settings.interfaces_named:
                raise
            self.wanted.interface = _OTHER[self.wanted.interface]
            self.message = self._show()
        if self._settings.submissions_named:
            check_submission(self.stage.device.info, self._settings.submissions[0])
        self._made.variant = self.wanted.variant
        self._window.push_handlers(self.ui)
        self._window.draw_while_dragged(self._draw)

    def step(self) -> None:
        """Events, wishes, one frame, and the title now and then."""
        self._window.dispatch_events()
        while self._window.actions and self.running:
            self.do(self._window.actions.popleft())
        if self._window.is_closed:
            self.running = False
        if self.running:
            if self._fitting is not None and not self._fitting.go_on(self.wanted, time.perf_counter()):
                self._end_fit(self._fitting)
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
        if apply(action, self.wanted, offered(self.stage.device.info.submissions)):
            return
        if self._fitting is not None and action in (Action.FIT, Action.QUIT):
            self._fitting.cancel()
        elif action is Action.FIT:
            self.message, self._fitting = "", Fitting(self.wanted, time.perf_counter())
        elif action is Action.QUIT:
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
        if wanted.variant != made.variant:
            self._change(self._show)
        if wanted.vsync != made.vsync:
            self._change(lambda: self.stage.set_vsync(wanted.vsync))
        if wanted.frames_in_flight != made.frames_in_flight:
            self._change(lambda: self.stage.set_frames_in_flight(wanted.frames_in_flight))
        if wanted.paused != made.paused:
            self._time.pause(wanted.paused)
        if wanted.shader_cost != made.shader_cost:
            self._meter.begin_anew(rebuilt=False)
        if self._settling.rested(wanted.ingredients, time.perf_counter()) or self._fitting is not None:
            self._rebuild()
        self._made = replace(wanted, **self._made.ingredients._asdict())

    def _rebuild(self) -> None:
        wanted, made = self.wanted, self._made
        if wanted.ingredients != made.ingredients:
            self._change(lambda: self.stage.rebuild(wanted.ingredients, self._values()))
            made.ingredients = wanted.ingredients = self.stage.ingredients

    def _change(self, make: Callable[[], str | None]) -> None:
        """A change that works starts the statistics anew; one that fails leaves the last good frame, and says why.

        ``make``: may return what there is to say about it.
        """
        try:
            self.message = make() or ""
        except DeviceLostError as error:
            self._lose(error)
        except _REFUSALS as error:
            self.message = str(error)
            self.wanted.variant = self.stage.variant
        self._meter.begin_anew(rebuilt=True)

    def _show(self) -> str:
        """What is wanted, or the best that its interface has beside it: then it says so."""
        wanted, note = self.wanted, ""
        self.ui.use(wanted.interface)
        try:
            info = self.stage.opened(wanted.interface, wanted.frames_in_flight, wanted.vsync).info
            refusal = info.submissions[wanted.submission]
            if refusal is not None:
                refused, wanted.submission = wanted.submission, stand_in(info.submissions)
                note = f"{info.title}: {refused.value}: {refusal}; showing {wanted.submission.value}"
            self.stage.show(wanted.variant, self._values())
        finally:
            self.ui.use(self.stage.interface)
        return note

    def _lose(self, error: DeviceLostError) -> None:
        """Whatever is left goes on; asking for the lost one opens it anew. Raises ``error`` when nothing is left."""
        shown = self.stage.variant
        self._drop(error.interface)
        for interface in (_OTHER[error.interface], error.interface):
            self.wanted.variant = shown._replace(interface=interface)
            try:
                self._show()
                break
            except DeviceLostError as another:
                self._drop(another.interface)
            except _REFUSALS:
                pass
        else:
            raise error
        self._made.variant = self.wanted.variant
        self.message = str(error)
        self._meter.begin_anew(rebuilt=True)

    def _drop(self, interface: Interface) -> None:
        self.stage.drop(interface)
        self.ui.forget(interface)

    def _end_fit(self, fitting: Fitting) -> None:
        """What it took over goes back at once, and its result stays to be read; so does what went wrong."""
        said = self.message
        fitting.let_go(self.wanted)
        self._make_so()  # still counts as fitting: nothing has to settle
        self._fitting = None
        self.message = self.message or said or fitting.text

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
        frame_ms = self._meter.count(record, self.stage.trust)
        if record.state == "skipped":
            time.sleep(0.01)  # minimised: nothing to draw, nobody to see it
            return
        if frame_ms is not None and self._fitting is not None:
            self._fitting.add(frame_ms)
        if self.frames == _LOOK_AHEAD:
            self.stage.look_ahead()
        self._meter.summarise(self.stage.trust, self._synced_hz, self.stage.device.info.is_software)
        if self.frames % _TITLE_EVERY == 0:
            self._window.set_caption(self.title())

    def _values(self) -> dict[str, Scalar]:
        width, height = self._window.size_px
        return frame_values(self._time.now_s, (max(1, width), max(1, height)), self.wanted.shader_cost)

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

    def shown(self) -> Shown:
        """Everything the panel shows of this frame."""
        stage, summary = self.stage, self.history.summary
        return Shown(
            interfaces=stage.titles,
            variant=stage.variant,
            info=stage.device.info,
            counters=stage.work.counters,
            present_mode=stage.device.present_mode,
            refresh_hz=self._refresh_hz,
            history=self.history,
            summary=summary,
            verdict=limiter(summary, stage.device.info.is_software, self._period_ms),
            forecast=self._meter.forecast,
            passes=pass_rows(stage, summary),
            kernels=kernels(stage.content, stage.variant.how),
            missed_rule=missed_rule(self._synced_hz),
            message=self._said,
            fitting=self._fitting is not None,
            shortcuts=SHORTCUTS,
        )

    @property
    def _said(self) -> str:
        return self.message if self._fitting is None else self._fitting.text

    def title(self) -> str:
        """The figures for a window without its panel."""
        return title(self.stage, self.history.summary, self.wanted, self._said)

    def save_screenshot(self, target: Path) -> None:
        """The scene without the panel. Raises InputError."""
        if 0 in self._window.size_px:
            raise InputError(f"--screenshot {target}: a minimised window has no picture; show it first")
        save_scene(self.stage, target)

    def _save(self, action: Action) -> None:
        target = file_name(self.stage.interface, "png" if action is Action.SCREENSHOT else "json")
        try:
            if action is Action.SCREENSHOT:
                self.save_screenshot(target)
            else:
                save_frames(self.stage, self.history, self.wanted, self._refresh_hz, self._synced_hz, target)
            self.message = f"Saved {target}"
        except InputError as error:
            self.message = str(error)
        except DeviceLostError as error:
            self._lose(error)
        self._meter.leave_out()
