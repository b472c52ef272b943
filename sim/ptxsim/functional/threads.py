"""CTAs side by side: several threads run the CTAs of a launch, while these do not depend on one another.

A launch is run in stretches. In a stretch every thread takes some CTAs after the other and marks the words of global
memory that they read and write (execute/memory/access_marks.py). If no word that one thread has written was accessed by
another, it does not matter in which order CTAs of different threads have run: memory is what one CTA after the other
leaves. If there is one, and after a fault or where a CTA waits, memory becomes what it was before the stretch, and
`Team.run` leaves the rest to one thread. The first stretch is short, as most launches that have such words have
them from the start on; each one is four times as long as the one before.

Atomics of global memory without a result are done after the stretch, in the order of CTAs, if nothing else accesses
their words (execute/memory/deferred_atomics.py). Programs that cannot be marked (marking.py) are left to one thread.

Reference: L. Rauchwerger, D. Padua, "The LRPD test: speculative run-time parallelization of loops", PLDI 1995.
"""

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ptxsim.base.jit import JIT_DISABLED
from ptxsim.base.machine_code import call
from ptxsim.base.program import Program
from ptxsim.execute.codes import DEFER
from ptxsim.execute.memory.access_marks import REDUCED, WRITTEN
from ptxsim.execute.memory.deferred_atomics import NOTED, apply
from ptxsim.functional.cluster import Member
from ptxsim.functional.cta_loop import BETWEEN, MOST_CLEARED, WATCHED, run_ctas
from ptxsim.functional.marking import marking
from ptxsim.functional.waiting import Watch
from ptxsim.memory_image.image import MemoryImage
from ptxtool.base.identity_cache import IdentityCache

_LEAST = 200_000
"""Warp instructions of a stretch, at least: 5 to 10 ms. A launch is worth several threads from twice as many on."""
_BYTES_PER_INSTRUCTION = 20
"""Bytes of memory, which are copied and compared, per instruction of a stretch: some percent of the time."""
_LONGER = 4
_PARTS = 8
"""Pieces of a thread's part of a stretch: threads that are done take those of others."""
_LONGEST_PAUSE = 100
"""Launches of a program until it is tried again with several threads, at most."""
_BLOCK = 1 << 20
_NOTES = 1 << 16
"""Atomics of a stretch that a thread can put off: 35 MB, of which those that are used are taken."""


def share(
    program: Program,
    image: MemoryImage,
    member: Member,
    record: Callable[[Member], Any],
    threads: int,
    n_ctas: int,
) -> int:
    """Run the CTAs after the first one, which has run in the arrays of `member`, of a launch without clusters, checks
    or a trace; returns the one that is the first left. `record` makes the `CTA_RUN` of a member. Raises nothing: faults
    are left to one thread."""
    context, others = image.context[0], n_ctas - 1
    threads = min(threads, others // 2, others * int(context["cycle"]) // _LEAST)
    if threads < 2 or JIT_DISABLED or context["tolerated_end"] or context["local_bytes"] > MOST_CLEARED:
        return 1
    known = _experience.get(program, "", lambda: _Experience(marking(program)))
    if known.uops is None or known.has_pause():
        return 1
    team = Team(known.uops, image, member, record, threads)
    left = team.run(1, n_ctas)
    known.note(team.failed)
    return left


class _Experience:
    """What is known of a program: its CTAs mostly depend on one another in every launch, or in none."""

    def __init__(self, uops: Any):
        self.uops = uops
        self._pause, self._left = 0, 0

    def has_pause(self) -> bool:
        """Whether it is not yet worth trying again."""
        self._left -= 1
        return self._left >= 0

    def note(self, has_failed: bool) -> None:
        """A launch was tried: twice as many are left out as before, or none."""
        self._pause = min(2 * self._pause + 1, _LONGEST_PAUSE) if has_failed else 0
        self._left = self._pause


_experience: IdentityCache[_Experience] = IdentityCache(256)


class Team:
    """The threads of one launch, and what each has for itself."""

    def __init__(
        self, uops: Any, image: MemoryImage, member: Member, record: Callable[[Member], Any], threads: int
    ):
        self._memory = image.device.contents
        self._context, self._x = image.context, image.context[0]
        self._workers = [_Worker(uops, self._memory, member.another(), record) for _ in range(threads)]
        self._lock = threading.Lock()
        self._next, self._end, self._piece = 0, 0, 1
        self._noted = 0
        self.failed = False
        """Whether the last stretch was given up: a thread has failed, or CTAs depend on one another."""

    def run(self, first: int, end: int) -> int:
        """Run CTAs; returns the one that is the first left: `end`, or where CTAs depend on one another, or it is not
        worth it. All before `first` have run."""
        least = length = max(_LEAST, len(self._memory) // _BYTES_PER_INSTRUCTION)
        while first < end:
            per_cta = max(1, int(self._x["cycle"]) // first)
            left = (end - first) * per_cta
            if left < least or end - first < 2 * len(self._workers):
                return first
            stop = end if left < 2 * length else first + max(2 * len(self._workers), length // per_cta)
            if self._noted:
                stop = min(stop, first + max(1, _NOTES * first // (2 * self._noted)))
            if not self._run_stretch(first, stop):
                return first
            first, length = stop, length * _LONGER
        return end

    def _run_stretch(self, first: int, end: int) -> bool:
        """Run CTAs side by side; False, and memory is as before, if that is not what one thread does."""
        before = self._memory.copy()
        for worker in self._workers:
            worker.begin()
        self._next, self._end, self.failed = first, end, False
        self._piece = max(1, (end - first) // (len(self._workers) * _PARTS))
        threads = [threading.Thread(target=self._work, args=(worker,)) for worker in self._workers[1:]]
        started = []
        try:
            with contextlib.suppress(RuntimeError):  # no more threads can be started
                for thread in threads:
                    thread.start()
                    started.append(thread)
            self._work(self._workers[0])
        finally:
            for thread in started:
                thread.join()
        self.failed = self.failed or _meet([worker.marks for worker in self._workers])
        if self.failed:
            self._memory[...] = before
            return False
        noted = np.concatenate([worker.noted for worker in self._workers])
        self._noted += len(noted)
        if len(noted):
            call(apply, (self._context, noted[np.argsort(noted["cta"], kind="stable")]))
        self._x["cycle"] += sum(worker.instructions for worker in self._workers)
        return True

    def _work(self, worker: "_Worker") -> None:
        """Run pieces of the stretch until none is left or a thread has failed."""
        has_ended = False
        try:
            while not self.failed:
                with self._lock:
                    first = self._next
                    end = self._next = min(self._end, first + self._piece)
                if first == end:
                    break
                while not self.failed and not worker.has_run(first, end):
                    first = worker.next_cta
                    if worker.has_failed:
                        self.failed = True
            has_ended = True
        finally:
            if not has_ended:
                self.failed = True


class _Worker:
    """What one thread has for itself: the state of a CTA, and the marks."""

    def __init__(self, uops: Any, memory: Any, member: Member, record: Callable[[Member], Any]):
        self._member, self._uops = member, uops
        self.marks = np.zeros(len(memory) // 4 + 64, np.uint8)
        self._x = member.context[0]
        self._notes = np.zeros(_NOTES if (uops["op"] == DEFER).any() else 0, NOTED)
        self._x["uops"], self._x["marks"] = uops.ctypes.data, self.marks.ctypes.data
        self._x["noted"], self._x["most_noted"] = self._notes.ctypes.data, len(self._notes)
        self._run = record(member)
        self._watch = Watch([*member.arrays, memory])
        self._goes_on = False
        self.has_failed = False

    def begin(self) -> None:
        for part in _blocks(self.marks):
            if part.any():  # what was never written takes no memory
                part[...] = 0
        self._x["cycle"], self._x["n_noted"] = 0, 0
        self._goes_on = self.has_failed = False

    @property
    def instructions(self) -> int:
        return int(self._x["cycle"])

    @property
    def noted(self) -> Any:
        """The atomics that it has put off, those of a CTA in order."""
        return self._notes[: int(self._x["n_noted"])]

    @property
    def next_cta(self) -> int:
        """The CTA that runs, or the next one."""
        return int(self._run[0]["cta"])

    def has_run(self, first: int, end: int) -> bool:
        """Run CTAs for some time, from `first` or where they were stopped; whether all have ended."""
        self._run["cta"], self._run["end_cta"] = first, end
        done = call(run_ctas, (self._run, self._goes_on))
        self._goes_on = done == WATCHED
        if done == WATCHED:
            self.has_failed = self._watch.repeats(self.next_cta)
            self._member.checks[0]["watch"] = self.instructions + self._watch.interval
        elif done not in (0, BETWEEN):
            self.has_failed = True
        return done == 0


def _meet(marks: list[Any]) -> bool:
    """Whether a word that one thread has written was accessed by another, or one with a later atomic in another way."""
    for seen, *others in zip(*map(_blocks, marks), strict=True):
        seen = seen.copy()
        for other in others:
            both = (seen != 0) & (other != 0)
            if both.any() and ((seen | other)[both] & WRITTEN).any():
                return True
            seen |= other
        if (seen > REDUCED).any():
            return True
    return False


def _blocks(marks: Any) -> list[Any]:
    return [marks[start : start + _BLOCK] for start in range(0, len(marks), _BLOCK)]
