"""A memory system with a clock, and random traffic for it: for tests of the memory system below the L1."""

import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

from ptxsim.base.jit import uncached
from ptxsim.timing.memory import system as _system
from ptxsim.timing.memory.memory_setup import make_memory
from ptxsim.timing.memory.memory_state import ATOMIC, CONSTANT, READ, WRITE, WRITEBACK
from ptxsim.timing.memory.side.memory_cycle import memory_cycle as _memory_cycle
from ptxtool.formats.gpu import Gpu, load_gpu


@cache
def on_array(function: Any) -> Any:
    """A compiled function of a record, to be called with the array whose first element is the record.

    numpy takes 0.2 ms to hand a record of this size over; an array costs nothing.
    """

    def call(array: Any, *rest: Any) -> Any:
        return function(array[0], *rest)

    return uncached(call)


in_flight = on_array(_system.in_flight)
inject = on_array(_system.inject)
memory_cycle = on_array(_memory_cycle)
pop_reply = on_array(_system.pop_reply)
reply_next = on_array(_system.reply_next)

GPU = load_gpu("tesla-c2050")
LINE = 128


class Machine:
    """A memory system with a clock; `got` collects (cycle, SM, line, kind, tag) of every reply."""

    def __init__(self, gpu: Gpu = GPU, skip: bool = True) -> None:
        self.array = make_memory(gpu)
        self.m = self.array[0]
        self.skip = skip
        self.now = 0
        self.n_sms = gpu.sm.count
        self.due = self.m["replies"]["out_due"]
        self.per_port = gpu.icnt.sms_per_port
        self.got: list[tuple[int, int, int, int, int]] = []

    def send(self, line: int, kind: int = READ, size: int = LINE, sm: int = 0, tag: int = 0) -> bool:
        return bool(inject(self.array, sm, self.now, line, size, kind, tag))

    def step(self, stalled: tuple[int, ...] = ()) -> None:
        """The next cycle: memory, then every SM but those stalled takes a reply."""
        self.now += 1
        if not self.skip:  # let everything look whether there is something to do
            self.m["next"] = self.m["requests"]["next"] = self.m["replies"]["next"] = self.now
            self.m["slice_next"] = self.m["channel_next"] = self.now
        if self.m["next"] <= self.now:
            memory_cycle(self.array, self.now)
        for port in (self.due[: self.n_sms] <= self.now).nonzero()[0]:
            at_port = range(port * self.per_port, (port + 1) * self.per_port)
            sm = next(sm for sm in at_port if reply_next(self.array, sm) <= self.now)
            if sm in stalled:
                continue
            r = pop_reply(self.array, sm, self.now)
            q = self.m["request"][r]
            self.got.append((self.now, int(sm), int(q["line"]), int(q["kind"]), int(q["tag"])))

    def step_to_event(self, limit: int) -> None:
        """The next cycle in which something can happen, at most `limit`; every cycle where none is to be skipped."""
        if self.skip:
            event = min(int(self.m["next"]), int(self.due[: self.n_sms].min()), limit)
            self.now = max(self.now, event - 1)
        self.step()

    def run(self, cycles: int) -> None:
        end = self.now + cycles
        while self.now < end:
            self.step_to_event(end)

    def finish(self) -> None:
        """Run until nothing is left."""
        limit = self.now + 20000
        while in_flight(self.array):
            assert self.now < limit, "requests are stuck"
            self.step_to_event(limit)

    def latency(self, line: int, kind: int = READ, size: int = LINE) -> int:
        """Cycles from injection to arrival of a single request."""
        start = self.now
        assert self.send(line, kind, size)
        while len(self.got) == 0 or self.got[-1][0] <= start:
            self.step_to_event(start + 20000)
        return self.now - start

    def stream(
        self, cycles: int, line: Callable[[int, int], int], window: int, kind: int = READ, sms: int = 0
    ) -> int:
        """Every SM keeps `window` requests going for some cycles; replies in all."""
        sms = sms or self.n_sms
        first = len(self.got)
        sent = [0] * sms
        seen = first
        busy = Counter[int]()
        for _ in range(cycles):
            self.step()
            for reply in self.got[seen:]:
                busy[reply[1]] -= 1
            seen = len(self.got)
            for sm in range(sms):
                if busy[sm] < window and self.send(line(sm, sent[sm]), kind, LINE, sm):
                    busy[sm] += 1
                    sent[sm] += 1
        return len(self.got) - first


def mixed(machine: Machine, requests: int, lines: int, seed: int) -> Counter[tuple[int, int, int]]:
    """Random requests of all kinds; (SM, line, tag) of all that must be answered."""
    source = random.Random(seed)
    expected: Counter[tuple[int, int, int]] = Counter()
    for tag in range(requests):
        sm = source.randrange(14)
        line = source.randrange(lines) * LINE
        kind = source.choice((READ, READ, READ, WRITE, WRITE, ATOMIC, CONSTANT, WRITEBACK))
        size = 128 if kind == READ else source.choice((32, 64, 128))
        while not machine.send(line, kind, size, sm, tag):
            machine.step()
        if kind != WRITEBACK:
            expected[sm, line, tag] += 1
        for _ in range(source.choice((0, 0, 0, 1, 2, 30))):
            machine.step()
    machine.finish()
    return expected
