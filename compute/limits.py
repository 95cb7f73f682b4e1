"""What a launch may be on a device. Drivers differ in what they notice, so everything is checked here."""

from collections.abc import Mapping

from compute.kernel import Dispatch, Kernel, LimitError, Limits


def check_kernel(kernel: Kernel, limits: Limits) -> None:
    """Buffers, workgroup size and workgroup memory within ``limits``. Raises LimitError."""
    buffers, most = len(kernel.buffers), limits.storage_buffers_per_stage
    if buffers > most:
        names = ", ".join(param.name for param in kernel.buffers)
        raise LimitError(
            f"{kernel.name}: {buffers} buffers ({names}) exceed this device's {most} per stage; "
            "split the function, run it batched, or put several into one array"
        )
    size, axes = kernel.workgroup_size, limits.workgroup_size
    invocations = size[0] * size[1] * size[2]
    if invocations > limits.invocations_per_workgroup:
        raise LimitError(
            f"{kernel.name}: a workgroup of {invocations:,} invocations exceeds this device's "
            f"{limits.invocations_per_workgroup:,}; lower workgroup_size"
        )
    if any(mine > most for mine, most in zip(size, axes, strict=True)):
        raise LimitError(f"{kernel.name}: a workgroup of {size} exceeds this device's {axes}; lower workgroup_size")
    if kernel.workgroup_bytes > limits.workgroup_bytes:
        raise LimitError(
            f"{kernel.name}: {kernel.workgroup_bytes:,} bytes of workgroup memory exceed this device's "
            f"{limits.workgroup_bytes:,}; use smaller tiles"
        )


def check_dispatch(dispatch: Dispatch, chunk_bytes: Mapping[str, int], limits: Limits) -> None:
    """Its kernel, its workgroups and every buffer it binds within ``limits``. Raises LimitError."""
    kernel, most = dispatch.kernel, limits.workgroups_per_axis
    check_kernel(kernel, limits)
    if max(dispatch.workgroups) > most:
        raise LimitError(
            f"{kernel.name}: {dispatch.workgroups} workgroups exceed this device's {most:,} on an axis; "
            "spread them over axes or do more per invocation"
        )
    for param, chunk in dispatch.buffer_arguments():
        size = chunk_bytes.get(chunk, 0)
        if size > limits.storage_binding_bytes:
            raise LimitError(
                f"{kernel.name}: {param.name}: {size:,} bytes exceed this device's "
                f"{limits.storage_binding_bytes:,} of one binding; pass parts of it"
            )
