"""Find an adapter and open it: what it grants and what it is called. Feeds device."""

from typing import Any

import wgpu

from compute.kernel import Limits
from renderers.blocks import BLOCK_ALIGNMENT_BYTES
from renderers.device import DeviceInfo, UnavailableError
from renderers.plan import Submission
from renderers.webgpu import native

_NEXT_STEP = "install a Vulkan driver (Debian, Ubuntu: apt install mesa-vulkan-drivers; else your GPU vendor's)"
_VALIDATION = {
    True: "wgpu-core checks every call, and indirect draws on the GPU",
    False: "wgpu-core checks every call (it cannot be asked not to); checks of indirect draws left out",
}
_FIRST_INSTANCE = "indirect-first-instance"


def open_adapter(name: str | None, validation: bool) -> "wgpu.GPUDevice":
    """The adapter whose name contains ``name``, or wgpu's choice. Raises UnavailableError."""
    native.make_instance(validation)
    adapter = _named(name) if name else _preferred()
    wanted = [feature for feature in ("timestamp-query", _FIRST_INSTANCE) if feature in adapter.features]
    try:
        return adapter.request_device_sync(label="interface-tax", required_features=wanted)
    except RuntimeError as error:
        raise UnavailableError("webgpu", f"{adapter.summary} gives no device: {error}", "update its driver") from error


def describe(device: "wgpu.GPUDevice") -> DeviceInfo:
    """Adapter, driver, limits; timestamps with their period and where it came from."""
    info = device.adapter.info
    stamped = "timestamp-query" in device.features
    return DeviceInfo(
        interface="webgpu",
        title=f"wgpu on {info['backend_type']}",
        adapter=info["device"],
        driver=info["description"] or "n/a (not reported)",
        is_software=info["adapter_type"] == "CPU",
        limits=_limits(device.limits),
        submissions={**dict.fromkeys(Submission), Submission.INDIRECT: _why_not_indirect(device)},
        timestamps=None if stamped else "this adapter has no timestamp-query feature",
        ns_per_tick=native.timestamp_period(device) if stamped else 1.0,
        period_source="wgpuQueueGetTimestampPeriod" if stamped else "n/a (no timestamps)",
        object_bytes=BLOCK_ALIGNMENT_BYTES,  # a dynamic offset selects the record
        validation=_VALIDATION[native.instance_validates()],
        null_driver=None,
    )


def _why_not_indirect(device: "wgpu.GPUDevice") -> str | None:
    """Without the feature a driver may ignore which object an indirect draw is for, silently."""
    if _FIRST_INSTANCE in device.features:
        return None
    return f"this adapter has no {_FIRST_INSTANCE} feature; use recorded or instanced"


def _preferred() -> Any:
    try:
        return wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    except RuntimeError as error:
        raise UnavailableError("webgpu", "no adapter found", _NEXT_STEP) from error


def _named(name: str) -> Any:
    found = wgpu.gpu.enumerate_adapters_sync()
    if not found:
        raise UnavailableError("webgpu", "no adapter found", _NEXT_STEP)
    for adapter in found:
        if name.lower() in adapter.summary.lower():
            return adapter
    names = ", ".join(adapter.summary for adapter in found)
    raise UnavailableError("webgpu", f"no adapter is called {name!r}", f"choose part of: {names}")


def _limits(granted: dict[str, int]) -> Limits:
    return Limits(
        storage_binding_bytes=granted["max-storage-buffer-binding-size"],
        buffer_bytes=granted["max-buffer-size"],
        storage_buffers_per_stage=granted["max-storage-buffers-per-shader-stage"],
        invocations_per_workgroup=granted["max-compute-invocations-per-workgroup"],
        workgroup_size=(
            granted["max-compute-workgroup-size-x"],
            granted["max-compute-workgroup-size-y"],
            granted["max-compute-workgroup-size-z"],
        ),
        workgroup_bytes=granted["max-compute-workgroup-storage-size"],
        workgroups_per_axis=granted["max-compute-workgroups-per-dimension"],
    )
