"""The state that a machine keeps between two launches: memory, caches, DRAM rows, and its round-robin positions.

For `launcher.py` and `build.py`, by way of `machine.py`. All other state of an SM starts empty: a launch ends when
its pipelines are empty.

As in GPGPU-Sim: the next CTA goes to the SM after the one that got the last; fetch, collector units, write-back and
schedulers keep their turns (a scheduler only while its name stays the same). The L1 data cache is kept, or was emptied
at the end of the launch where the GPU file says so (`l1d.flush_when_empty`).
Reference: timing-model sections 1.8 and 3.3; timing-model-42 sections 1.2, 1.8, 1.10, 3.3, 3.6 and 4.2.
"""

from collections.abc import Sequence
from typing import Any

from ptxsim.base.pool import record_pool
from ptxsim.base.pool.record_pool import PooledRecords, UsedRecords
from ptxsim.base.program import Program
from ptxsim.lowering.lower import lower
from ptxsim.memory_image.device import Device
from ptxsim.timing.memory.clock import rewind_l1, rewind_memory, rewind_readonly
from ptxsim.timing.simulation import Simulation
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.nodes import Function

_CACHES = ("l1i", "l1c", "l1t")
_OF_SM = ("last_fetched", "cu_last", "writeback_client")
_OF_RUN = ("last_sm", "launched_sm", "port_turn")


class MachineState:
    """The state of a machine between launches; there is none before the first."""

    def __init__(self, gpu: Gpu):
        self.gpu = gpu
        self.device = Device(gpu)
        self._memory: Any = None
        self._l1s: Any = None
        self._cycles: int | None = None
        """By which the clocks of memory and caches still have to go back."""
        self._last: Simulation | None = None
        self._records: list[PooledRecords] = []
        """Those of memory and caches, for the pool."""
        self._scheduler = ""
        self._running = ""

    @property
    def memory(self) -> Any:
        """The record of the memory side, for the next launch; None before the first."""
        self._rewind()
        return self._memory

    @property
    def l1s(self) -> Any:
        """Those of the L1 data caches."""
        self._rewind()
        return self._l1s

    def _rewind(self) -> None:
        """Only where a launch follows: it takes longer than a short launch."""
        if self._cycles is not None:
            rewind_l1(self._l1s, self._cycles, self._used(self._l1s).indices())
            rewind_memory(self._memory, self._cycles, self.used_slices.indices())
            self._cycles = None

    @property
    def used_slices(self) -> UsedRecords:
        """The L2 slices that any launch has used."""
        return self._used(self._memory)

    def _used(self, array: Any) -> UsedRecords:
        """Those of its records that launches have used; all where code of the user's can have written in them."""
        return next((pooled.used for pooled in self._records if pooled.array is array), UsedRecords())

    def program(
        self, kernel: Function, block: Sequence[int], ptxplus_semantics: str, stack_bytes: int
    ) -> Program:
        """The lowered kernel. Raises E401 where the machine is in the middle of a launch, and what `lower` raises."""
        if self._running:
            raise error(
                "E401",
                f"the launch of '{self._running}' on this machine has not ended",
                help="make a new ptxsim.Machine: nothing can follow a launch that was stopped",
            )
        origin = self.device.origin(kernel.module)
        return lower(kernel, self.gpu, block, ptxplus_semantics, stack_bytes, origin)

    def resume(self, simulation: Simulation, scheduler: str) -> None:
        """Copy the kept state into a simulation that is about to begin."""
        self._running = simulation.program.name
        if self._last is not None:
            used = self._last.used_sms
            for name in _CACHES:
                simulation.sms[name][used] = self._last.sms[name][used]
            for name in (*_OF_SM, "policy") if self._scheduler == scheduler else _OF_SM:
                simulation.sms[name] = self._last.sms[name]
            simulation.records[0].used.note(used)
            for name in _OF_RUN:
                simulation.run[name] = self._last.run[name]
        self._scheduler = scheduler

    def keep(self, simulation: Simulation) -> None:
        """Keep the state of a simulation that has ended."""
        cycles = simulation.cycles
        if self._last is not None:
            self._last.recycle()
        self._last = simulation
        self._records += simulation.keep_memory()
        if not simulation.records:  # code of the user's can have written anywhere in them
            self._records.clear()
        for pooled in self._records:  # before their counters are set to 0
            pooled.used.note()
        for name in _CACHES:
            rewind_readonly(simulation.sms[name], cycles, simulation.used_sms)
        self._memory, self._l1s, self._cycles = simulation.memory, simulation.l1s, cycles
        self._running = ""

    def recycle(self) -> None:
        """Return the records to the pool: no launch follows."""
        if self._running:
            return
        if self._last is not None:
            self._last.recycle()
        for records in self._records:
            record_pool.release(records)
        self._records, self._last = [], None
