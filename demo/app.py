"""The run command: one window, interfaces and schedules switched live. Called by cli."""

import sys
import time
from collections import deque

from compute.kernel import FLOOR, SCHEDULES, How
from demo.budget import FrameRecord, Sample, percentile_ms, sample
from demo.content import Content
from demo.loop import collect, run_frame
from demo.probe import Probe
from demo.report import save_picture
from demo.settings import EXIT_DONE, Settings
from demo.window import Action, DemoWindow
from renderers.camera import frame_values
from renderers.device import (
    INTERFACES,
    Device,
    DeviceOptions,
    Executable,
    Interface,
    PassKind,
    UnavailableError,
)
from renderers.interfaces import open_device
from renderers.trust import Trust

WINDOW_FRAMES = 300  # frames that the title's percentiles look back on
_TITLE_EVERY = 15  # frames: a caption costs as much as a small frame's encoding
_NOT_JUDGED = Trust(False, "the timer is still being judged")


def run(settings: Settings) -> int:
    """Open the window, draw until it is closed or ``settings.frames`` frames were presented."""
    window = DemoWindow(settings.size_px, "interface-tax")
    app = App(settings, window)
    try:
        app.show(settings.interfaces[0])
        while app.running:
            app.step()
        if settings.screenshot is not None:
            save_picture(app.work.image(), settings.screenshot)
    finally:
        app.close()
    return EXIT_DONE


class PausableTime:
    """Simulated seconds: wall time minus pauses."""

    def __init__(self) -> None:
        self._before_s, self._since = 0.0, time.perf_counter()
        self.paused = False

    @property
    def now_s(self) -> float:
        return self._before_s + (0.0 if self.paused else time.perf_counter() - self._since)

    def toggle(self) -> None:
        self._before_s, self._since = self.now_s, time.perf_counter()
        self.paused = not self.paused


class App:
    """What is shown and what was measured of it. Camera, time and settings survive every switch."""

    def __init__(self, settings: Settings, window: DemoWindow) -> None:
        self._settings, self._window = settings, window
        self._content = Content(settings.scene, settings.objects, settings.elements, FLOOR)
        self._probes = {each: Probe(each, settings.adapter, judge=True) for each in INTERFACES}
        self._devices: dict[Interface, Device] = {}
        self._works: dict[tuple[Interface, How], Executable] = {}
        self._how: How = settings.schedules[0]
        self._vsync = True
        self._time = PausableTime()
        self._frames = 0
        self._message = ""
        self.running = True
        self._records: dict[int, FrameRecord] = {}
        self._intervals_ms: deque[float] = deque(maxlen=WINDOW_FRAMES)
        self._last_end_ns: int | None = None

    @property
    def work(self) -> Executable:
        """The plan on show."""
        return self._works[self._interface, self._how]

    @property
    def _device(self) -> Device:
        return self._devices[self._interface]

    def show(self, interface: Interface) -> None:
        """Switch to ``interface``, opened at its first showing and warmed up offscreen. Raises UnavailableError."""
        device = self._opened(interface)
        self._prepare(interface, self._how)
        self._interface = interface
        device.set_vsync(self._vsync)
        device.resize(self._window.size_px)
        self._window.show(interface)
        self._forget()

    def step(self) -> None:
        """Events, one frame, and the title now and then."""
        self._window.dispatch_events()
        while self._window.actions and self.running:
            self._act(self._window.actions.popleft())
        if not self.running:
            return
        self._device.resize(self._window.size_px)
        self._draw()
        if self._frames % _TITLE_EVERY == 0:
            self._window.set_caption(self._title())
        if self._settings.frames is not None and self._frames >= self._settings.frames:
            self.running = False

    def close(self) -> None:
        """Devices first: a surface must not outlive its window."""
        for probe in self._probes.values():
            probe.stop()
        for work in self._works.values():
            work.release()
        for device in self._devices.values():
            device.release()
        self._window.close()

    def _draw(self) -> None:
        width, height = self._window.size_px
        values = frame_values(self._time.now_s, (max(1, width), max(1, height)))
        record = run_frame(self._device, self.work, self._frames, values)
        if record.state == "skipped":
            time.sleep(0.01)  # minimised: nothing to draw, nobody to see it
            return
        self._frames += 1
        self._records[record.index] = record
        collect(self._device, self._records)
        self._account(record)

    def _account(self, record: FrameRecord) -> None:
        """Frame time is end of present to end of present; the first frame after a switch has no such interval."""
        if self._last_end_ns is not None:
            self._intervals_ms.append((record.end_ns - self._last_end_ns) / 1e6)
        self._last_end_ns = record.end_ns
        while len(self._records) > WINDOW_FRAMES:
            del self._records[next(iter(self._records))]

    def _act(self, action: Action) -> None:
        if action is Action.QUIT:
            self.running = False
        elif action is Action.PAUSE:
            self._time.toggle()
        elif action is Action.VSYNC:
            self._vsync = not self._vsync
            self._device.set_vsync(self._vsync)
            self._forget()
        elif action is Action.NEXT_SCHEDULE:
            self._how = SCHEDULES[(SCHEDULES.index(self._how) + 1) % len(SCHEDULES)]
            self._prepare(self._interface, self._how)
            self._forget()
        else:
            self._switch("opengl" if action is Action.SHOW_OPENGL else "webgpu")

    def _switch(self, interface: Interface) -> None:
        """An interface that is missing leaves the other one running."""
        try:
            self.show(interface)
            self._message = ""
        except UnavailableError as error:
            self._message = str(error)
            sys.stderr.write(f"interface-tax: {error}\n")
        self._window.set_caption(self._title())

    def _opened(self, interface: Interface) -> Device:
        if interface not in self._devices:
            self._probes[interface].found()
            options = DeviceOptions(self._settings.frames_in_flight, self._vsync, adapter=self._settings.adapter)
            self._devices[interface] = open_device(interface, self._window, options)
        return self._devices[interface]

    def _prepare(self, interface: Interface, how: How) -> None:
        """Build what is not built yet, and draw it once where nobody sees it."""
        if (interface, how) not in self._works:
            work = self._content.compile(self._devices[interface], how)
            self._works[interface, how] = work
            work.warm_up(frame_values(self._time.now_s, self._window.size_px))

    def _forget(self) -> None:
        """Statistics begin anew: frames of two settings are never mixed."""
        self._records.clear()
        self._intervals_ms.clear()
        self._last_end_ns = None

    def _title(self) -> str:
        info = self._device.info
        parts = [info.title, self._how, f"frame p50 {_p50(list(self._intervals_ms))}"]
        samples = [sample(record, 0.0, self._trust()) for record in self._records.values()]
        parts.append(f"CPU work {_p50([each.cpu_work_ms for each in samples])}")
        parts.append(f"GPU {_gpu(samples)}")
        parts.append("vsync" if self._vsync else "no vsync")
        parts += ["paused"] * self._time.paused + ["software adapter"] * info.is_software
        return "   ".join([*parts, self._message] if self._message else parts)

    def _trust(self) -> dict[PassKind, Trust]:
        return self._probes[self._interface].trust() or {"compute": _NOT_JUDGED, "draw": _NOT_JUDGED}


def _p50(times_ms: list[float]) -> str:
    return f"{percentile_ms(times_ms, 50.0):.1f} ms" if times_ms else "n/a"


def _gpu(samples: list[Sample]) -> str:
    known = [each.gpu_ms for each in samples if each.gpu_ms is not None]
    return _p50(known) if known else "n/a (timer not trusted)"
