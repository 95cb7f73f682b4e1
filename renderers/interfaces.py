"""Open a device by the name of its interface: the only place that knows which implementations exist."""

from collections.abc import Callable

from renderers.device import Device, DeviceOptions, Interface, Target, UnavailableError


def open_device(interface: Interface, target: Target, options: DeviceOptions = DeviceOptions()) -> Device:
    """Open one interface. Raises UnavailableError with cause and next step."""
    try:
        implementation = _implementation(interface)
    except (ImportError, AttributeError, OSError) as error:  # the bindings load native libraries as they are imported
        how = "apt install libgl1 libegl1 libxrender1" if interface == "opengl" else "pip install wgpu"
        raise UnavailableError(interface, f"its libraries do not load: {error}", f"install them ({how})") from error
    return implementation(target, options)


def _implementation(interface: Interface) -> Callable[[Target, DeviceOptions], Device]:
    if interface == "opengl":
        from renderers.opengl.device import OpenGlDevice

        return OpenGlDevice
    from renderers.webgpu.device import WebGpuDevice

    return WebGpuDevice
