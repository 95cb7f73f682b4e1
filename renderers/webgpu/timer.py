"""Timestamps around passes, resolved on the GPU and read back through mapped buffers. Feeds timers.TimerRing."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import wgpu

from renderers.timers import MAX_TIMED_PASSES, RING_SLOTS, TimedUnit, TimerRing
from renderers.webgpu import native

_STAMPS_PER_SLOT = 2 * MAX_TIMED_PASSES
_SLOT_BYTES = 8 * _STAMPS_PER_SLOT  # 256: the alignment that resolving asks for


class WebGpuTimer:
    """Two stamps a timed unit; stamps written by earlier submissions of the frame are resolved by its last one."""

    def __init__(self, device: "wgpu.GPUDevice", ns_per_tick: float) -> None:
        self._device = device
        usage = wgpu.BufferUsage
        self._queries = device.create_query_set(type="timestamp", count=RING_SLOTS * _STAMPS_PER_SLOT)
        self._resolved = device.create_buffer(size=RING_SLOTS * _SLOT_BYTES, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)
        read_usage = usage.COPY_DST | usage.MAP_READ
        self._copies = [device.create_buffer(size=_SLOT_BYTES, usage=read_usage) for _ in range(RING_SLOTS)]
        self._canary = device.create_buffer(size=4, usage=usage.COPY_DST)
        self._reads = [native.MappedRead(copy) for copy in self._copies]
        self.ring = TimerRing(self, ns_per_tick)

    def writes(self, slot: int, units: Sequence[TimedUnit], index: int) -> dict[str, Any]:
        """The ``timestamp_writes`` of pass ``index``: begin, end, both or none."""
        writes: dict[str, Any] = {}
        for i, unit in enumerate(units):
            first = slot * _STAMPS_PER_SLOT + 2 * i
            if index == unit.first:
                writes["beginning_of_pass_write_index"] = first
            if index == unit.last:
                writes["end_of_pass_write_index"] = first + 1
        return {"timestamp_writes": {"query_set": self._queries, **writes}} if writes else {}

    def resolve(self, encoder: "wgpu.GPUCommandEncoder", slot: int, units: Sequence[TimedUnit]) -> None:
        """Only the slots that were written: others resolve to garbage."""
        offset, count = slot * _SLOT_BYTES, 2 * len(units)
        encoder.resolve_query_set(self._queries, slot * _STAMPS_PER_SLOT, count, self._resolved, offset)
        encoder.copy_buffer_to_buffer(self._resolved, offset, self._copies[slot], 0, 8 * count)

    def start_read(self, slot: int) -> None:
        self._reads[slot].start()

    def ready(self, slot: int) -> bool:
        native.poll(self._device)
        return self._reads[slot].ready

    def read(self, slot: int, count: int) -> Sequence[int]:
        # A lost device has unmapped its buffers, and reading them aborts; a write that is refused tells in time.
        self._device.queue.write_buffer(self._canary, 0, b"\0\0\0\0")
        ticks: list[int] = np.frombuffer(self._reads[slot].read(), np.uint64, count).tolist()
        return ticks
