"""Devices and what is compiled on them, opened and rebuilt as wanted. Stands between app and renderers."""

from collections.abc import Callable

from compute.kernel import FLOOR, How, Scalar
from demo.content import Content
from demo.probe import Probe
from demo.settings import Settings
from demo.window import DemoWindow
from renderers.device import (
    INTERFACES,
    Device,
    DeviceLostError,
    DeviceOptions,
    Executable,
    Interface,
    PassKind,
    UnavailableError,
)
from renderers.interfaces import open_device
from renderers.trust import Trust

_NOT_JUDGED = Trust(False, "the timer is still being judged")
_NAMES: dict[Interface, str] = {"opengl": "OpenGL", "webgpu": "wgpu"}


class Stage:
    """What is on show, within the portable floor's limits, so that the plan is the same on every device."""

    def __init__(self, settings: Settings, window: DemoWindow, probes: dict[Interface, Probe]) -> None:
        """``probes``: those started already, while the rest of the program was being loaded."""
        self._settings, self._window, self._probes = settings, window, probes
        self._devices: dict[Interface, Device] = {}
        self._works: dict[tuple[Interface, How], Executable] = {}
        self._troubles: dict[Interface, str] = {}
        elements = settings.elements_for(settings.objects)
        self.content = Content(settings.scene, settings.objects, elements, FLOOR)
        self.interface: Interface = settings.interfaces[0]
        self.how: How = settings.schedules[0]

    @property
    def device(self) -> Device:
        return self._devices[self.interface]

    @property
    def work(self) -> Executable:
        return self._works[self.interface, self.how]

    @property
    def titles(self) -> dict[Interface, str]:
        """What each interface is called, or what is wrong with it."""
        titles = dict(_NAMES)
        titles.update({each: device.info.title for each, device in self._devices.items()})
        titles.update({each: f"{_NAMES[each]}: {trouble}" for each, trouble in self._troubles.items()})
        return titles

    @property
    def trust(self) -> dict[PassKind, Trust]:
        return self._probe(self.interface).trust() or {"compute": _NOT_JUDGED, "draw": _NOT_JUDGED}

    def look_ahead(self) -> None:
        """Once frames are drawn and a core is free: try the other interfaces, and judge the timers of all."""
        for each in INTERFACES:
            self._probe(each).judge()

    def show(self, interface: Interface, how: How, values: dict[str, Scalar], in_flight: int, vsync: bool) -> None:
        """Switch; opened at its first showing, and warmed up where nobody sees it. The old stays on any error.

        Raises UnavailableError, BuildError, LimitError, AllocationError, DeviceLostError.
        """
        device = self._opened(interface, in_flight, vsync)
        device.resize(self._window.size_px)  # it may have slept since the window was minimised
        if (interface, how) not in self._works:
            work = self.content.compile(device, how)
            work.warm_up(values)
            self._works[interface, how] = work
        self.interface, self.how = interface, how
        self._window.show(interface)

    def rebuild(self, objects: int, elements: int, values: dict[str, Scalar]) -> None:
        """Another number of objects or elements. The old content stays on any error."""
        content = Content(self.content.scene_name, objects, elements, FLOOR)
        self.device.resize(self._window.size_px)
        work = content.compile(self.device, self.how)
        work.warm_up(values)
        for old in self._works.values():
            old.release()
        self.content, self._works = content, {(self.interface, self.how): work}

    def set_frames_in_flight(self, count: int) -> None:
        self._on_each(lambda device: device.set_frames_in_flight(count))

    def set_vsync(self, on: bool) -> None:
        """On what is hidden too: the next switch must not bring the old setting back."""
        self._on_each(lambda device: device.set_vsync(on))

    def set_fullscreen(self, on: bool) -> None:
        """Surfaces go before the native windows that they are on."""
        self._on_each(lambda device: device.suspend())
        self._window.set_fullscreen(on)
        self._on_each(lambda device: device.resume())
        self._on_each(lambda device: device.resize(self._window.size_px))

    def drop(self, interface: Interface) -> None:
        """A lost device and all that was on it; showing the interface opens it anew."""
        for key in [key for key in self._works if key[0] == interface]:
            del self._works[key]
        if interface in self._devices:
            self._devices.pop(interface).release()
        self._troubles[interface] = "lost"

    def close(self) -> None:
        """Devices before their window: a surface must not outlive it."""
        for probe in self._probes.values():
            probe.stop()
        for work in self._works.values():
            work.release()
        for device in self._devices.values():
            device.release()

    def _probe(self, interface: Interface) -> Probe:
        if interface not in self._probes:
            self._probes[interface] = Probe(interface, self._settings.adapter)
        return self._probes[interface]

    def _on_each(self, call: Callable[[Device], object]) -> None:
        """On every open device; a lost one does not keep the others from it."""
        lost: DeviceLostError | None = None
        for device in self._devices.values():
            try:
                call(device)
            except DeviceLostError as error:
                lost = error
        if lost is not None:
            raise lost

    def _opened(self, interface: Interface, in_flight: int, vsync: bool) -> Device:
        if interface not in self._devices:
            try:
                self._probe(interface).found()
                options = DeviceOptions(in_flight, vsync, adapter=self._settings.adapter)
                self._devices[interface] = open_device(interface, self._window, options)
            except UnavailableError:
                self._troubles[interface] = "unavailable"
                raise
            self._troubles.pop(interface, None)
        return self._devices[interface]
