"""Kernels as pipelines, dispatches as cached bind groups, passes as encoder calls. Used by executable."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import wgpu

from compute.kernel import ComputePass, Dispatch, Kernel
from compute.packing import block
from renderers.blocks import FrameBlocks
from renderers.webgpu import native


@dataclass(frozen=True, slots=True)
class _Launch:
    pipeline: Any
    bind_group: Any
    workgroups: tuple[int, int, int]


class ComputePipelines:
    """One pipeline per text and layout: kernels that say the same share it.

    The layout is an explicit one: an automatic one drops unused parameters.
    """

    def __init__(self, device: "wgpu.GPUDevice") -> None:
        self._device = device
        self._built: dict[tuple[object, ...], tuple[Any, Any]] = {}

    @property
    def built(self) -> int:
        return len(self._built)

    def get(self, kernel: Kernel) -> tuple[Any, Any]:
        """(pipeline, bind group layout)."""
        key = (kernel.wgsl, _types(kernel), block(kernel.scalars).size)
        if key not in self._built:
            self._built[key] = self._build(kernel)
        return self._built[key]

    def _build(self, kernel: Kernel) -> tuple[Any, Any]:
        types = _types(kernel)
        entries: list[dict[str, Any]] = [
            {"binding": i, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": each}}
            for i, each in enumerate(types)
        ]
        if kernel.scalars:
            uniform = {"type": "uniform", "min_binding_size": block(kernel.scalars).size}
            entries.append({"binding": len(types), "visibility": wgpu.ShaderStage.COMPUTE, "buffer": uniform})
        layout = self._device.create_bind_group_layout(entries=entries)
        with native.building(kernel.name):
            module = self._device.create_shader_module(label=kernel.name, code=kernel.wgsl)
            pipeline = self._device.create_compute_pipeline(
                label=kernel.name,
                layout=self._device.create_pipeline_layout(bind_group_layouts=[layout]),
                compute={"module": module, "entry_point": "main"},
            )
        return pipeline, layout


class PassLaunches:
    """One compute pass with nothing left to decide."""

    def __init__(
        self,
        compute_pass: ComputePass,
        device: "wgpu.GPUDevice",
        pipelines: ComputePipelines,
        buffers: Mapping[str, Any],
        scalars: Any,
        blocks: FrameBlocks,
    ) -> None:
        self.label = compute_pass.label
        self.submit_alone = compute_pass.submit_alone
        self._launches: list[_Launch] = []
        for dispatch in compute_pass.dispatches:
            pipeline, layout = pipelines.get(dispatch.kernel)
            entries = _entries(dispatch, buffers, scalars, blocks)
            bind_group = device.create_bind_group(layout=layout, entries=entries)
            self._launches.append(_Launch(pipeline, bind_group, dispatch.workgroups))

    def encode(self, encoder: "wgpu.GPUCommandEncoder", timestamp_writes: Mapping[str, Any]) -> None:
        """All launches in one compute pass; the pipeline is set only where it changes."""
        encoding = encoder.begin_compute_pass(label=self.label, **timestamp_writes)
        current = None
        for launch in self._launches:
            if launch.pipeline is not current:
                encoding.set_pipeline(launch.pipeline)
                current = launch.pipeline
            encoding.set_bind_group(0, launch.bind_group)
            encoding.dispatch_workgroups(*launch.workgroups)
        encoding.end()

    @property
    def api_calls(self) -> int:
        """begin, end; a bind group and a dispatch per launch; a pipeline per change; alone: encoder, finish, submit."""
        pipelines = [launch.pipeline for launch in self._launches]
        changes = sum(now is not before for before, now in zip([None, *pipelines], pipelines, strict=False))
        return 2 + 2 * len(self._launches) + changes + (3 if self.submit_alone else 0)


def _types(kernel: Kernel) -> tuple[str, ...]:
    return tuple("storage" if param.access.writes else "read-only-storage" for param in kernel.buffers)


def _entries(dispatch: Dispatch, buffers: Mapping[str, Any], scalars: Any, blocks: FrameBlocks) -> list[dict[str, Any]]:
    resources: list[dict[str, Any]] = [{"buffer": buffers[name]} for _, name in dispatch.buffer_arguments()]
    uniform = blocks.range_of(dispatch)
    if uniform is not None:
        resources.append({"buffer": scalars, "offset": uniform.offset, "size": uniform.size})
    return [{"binding": i, "resource": resource} for i, resource in enumerate(resources)]
