"""Devices and what is compiled on them, opened and rebuilt as wanted. Stands between app and renderers."""

from collections.abc import Callable

from compute.kernel import FLOOR, Scalar
from demo.content import Content
from demo.probe import Probe
from demo.settings import Settings
from demo.wanted import Ingredients, Variant, Wanted
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
    kernel_shape,
)
from renderers.interfaces import open_device
from renderers.trust import Trust

_NOT_JUDGED = Trust(False, "the timer is still being judged")
_NAMES: dict[Interface, str] = {"opengl": "OpenGL", "webgpu": "wgpu"}


class Stage:
    """What is on show, within the portable floor's limits, so that the plan is the same on every device."""

    def __init__(self, settings: Settings, wanted: Wanted, window: DemoWindow, probes: dict[Interface, Probe]) -> None:
        """``probes``: those started already, while the rest of the program was being loaded."""
        self._settings, self._window, self._probes = settings, window, probes
        self._devices: dict[Interface, Device] = {}
        self._works: dict[Variant, Executable] = {}
        self._troubles: dict[Interface, str] = {}
        self.content, self.variant = self._content(wanted.ingredients), wanted.variant

    @property
    def ingredients(self) -> Ingredients:
        """Of the content on show."""
        content = self.content
        return Ingredients(content.objects, content.elements, content.state, content.order, content.workload_name)

    @property
    def interface(self) -> Interface:
        return self.variant.interface

    @property
    def device(self) -> Device:
        return self._devices[self.interface]

    @property
    def work(self) -> Executable:
        return self._works[self.variant]

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

    def opened(self, interface: Interface, in_flight: int, vsync: bool) -> Device:
        """Its device, made at the first call. Raises UnavailableError, DeviceLostError."""
        if interface not in self._devices:
            try:
                self._probe(interface).found()
                settings = self._settings
                options = DeviceOptions(in_flight, vsync, adapter=settings.adapter, validation=settings.validation)
                self._devices[interface] = open_device(interface, self._window, options)
            except UnavailableError:
                self._troubles[interface] = "unavailable"
                raise
            self._troubles.pop(interface, None)
        return self._devices[interface]

    def show(self, variant: Variant, values: dict[str, Scalar]) -> None:
        """Switch on an opened device; compiled at its first showing, and warmed up where nobody sees it.

        The old stays on any error. Raises BuildError, LimitError, AllocationError, DeviceLostError.
        """
        device = self._devices[variant.interface]
        device.resize(self._window.size_px)  # it may have slept since the window was minimised
        if not self._works:  # only now it is known what the kernels will run on
            self.content = self._content(self.ingredients)
        if variant not in self._works:
            self._works[variant] = self._compiled(self.content, variant, values)
        self.variant = variant
        self._window.show(variant.interface)

    def rebuild(self, ingredients: Ingredients, values: dict[str, Scalar]) -> None:
        """Another content. The old one stays on any error, which are those of ``show``."""
        content = self._content(ingredients)
        self.device.resize(self._window.size_px)
        work = self._compiled(content, self.variant, values)
        for old in self._works.values():
            old.release()
        self.content, self._works = content, {self.variant: work}

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
        for variant in [each for each in self._works if each.interface == interface]:
            del self._works[variant]
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

    def _content(self, ingredients: Ingredients) -> Content:
        objects, elements, state, order, workload = ingredients
        shape = kernel_shape(device.info for device in self._devices.values())
        return Content(self._settings.scene, objects, elements, FLOOR, state, order, workload, shape)

    def _compiled(self, content: Content, variant: Variant, values: dict[str, Scalar]) -> Executable:
        work = content.compile(self._devices[variant.interface], variant.how, variant.submission)
        work.warm_up(values)
        return work
