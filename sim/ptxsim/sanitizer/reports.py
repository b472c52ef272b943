"""The findings of the checks as diagnostics: line, threads, address, both accesses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ptxsim.base.program import GLOBAL, LOAD, LOCAL, SHARED, Program
from ptxsim.memory_image.address_names import describe, in_frame
from ptxsim.memory_image.faults import coordinates, null_advice, shared_advice
from ptxsim.memory_image.image import MemoryImage
from ptxsim.sanitizer import shadow_state as codes
from ptxsim.sanitizer.asynchronous.reports import AsynchronousReports, wait_for
from ptxsim.sanitizer.asynchronous_state import COPIES_BULK
from ptxsim.sanitizer.prepare import Checks
from ptxtool.base.diag import Diagnostic, Note

_RACES = {
    codes.WRITE_AFTER_WRITE: ("writes", "writes"),
    codes.READ_AFTER_WRITE: ("reads", "writes"),
    codes.WRITE_AFTER_READ: ("writes", "reads"),
}
_EXPLAINING = {*_RACES, codes.READ_BEFORE_COPY, codes.WRONG_MBARRIER}
"""Findings that unwritten bytes at the same instruction follow from."""
_CONSEQUENCES = {*_RACES, codes.UNWRITTEN_BYTES, codes.UNWRITTEN_REGISTER}


def diagnostics(
    program: Program,
    image: MemoryImage,
    checks: Checks,
    block: Sequence[int],
    grid: Sequence[int],
    causes_only: bool = False,
) -> tuple[Diagnostic, ...]:
    """The reports of a run in the order of the text: E404, E405, E410 (races), E411 (unwritten), E412 (barriers), E419
    (rules of mbarriers and tensor memory).

    `causes_only`: those that a fault or a deadlock may follow from, not races of ordinary accesses or unwritten bytes.
    """
    reporter = _Reporter(program, image, checks, block, grid)
    reports = checks.reports[: int(checks.state[0]["n_reports"])]
    explained = {int(r["at"]) for r in reports if r["kind"] in _EXPLAINING}
    explained |= {int(r["other"]) for r in reports if r["kind"] in _RACES}
    found = [
        reporter.diagnostic(report)
        for report in reports
        # a racy read may find unwritten bytes, in the order in which the warps ran here: the race alone is reported
        if (
            report["kind"] != codes.UNWRITTEN_BYTES
            or report["space"] == LOCAL
            or int(report["at"]) not in explained
        )
        and not (causes_only and report["kind"] in _CONSEQUENCES)
    ]
    return tuple(sorted(found, key=lambda d: d.start))


@dataclass(frozen=True)
class _Reporter:
    program: Program
    image: MemoryImage
    checks: Checks
    block: Sequence[int]
    grid: Sequence[int]

    def diagnostic(self, report: Any) -> Diagnostic:
        kind = int(report["kind"])
        if kind in (codes.BAD_ACCESS, codes.MISALIGNED_ACCESS):
            return self._bad_access(report, kind)
        if kind in _RACES:
            return self._race(report, *_RACES[kind])
        if kind in (codes.READ_BEFORE_COPY, codes.WRITE_BEFORE_COPY):
            return self._early(report, "reads" if kind == codes.READ_BEFORE_COPY else "writes")
        if kind == codes.DIVERGENT_BARRIER:
            return self._barrier(report)
        if kind == codes.MISSED_BARRIER:
            return self._missed_barrier(report)
        of_copies = AsynchronousReports(self.program, self.image).finding(report, self._thread_of_cta(report))
        if of_copies is not None:
            return self._reported(report, *of_copies)
        return self._unwritten(report, kind)

    def _thread(self, number: int) -> str:
        return f"thread {coordinates(int(number), self.block)}"

    def _thread_of_cta(self, report: Any) -> str:
        """The first thread, and its CTA."""
        return f"{self._thread(report['thread'])} of CTA {coordinates(int(report['cta']), self.grid)}"

    def _address(self, report: Any) -> str:
        return describe(self.program, self.image, int(report["space"]), int(report["address"]))

    def _reported(self, report: Any, code: str, message: str, help: str, other: str = "") -> Diagnostic:
        """The diagnostic of a report; `other` is the note at the other access."""
        if report["count"] > 1 and report["kind"] != codes.NOT_FREED:
            message += f" ({report['count']} times in all)"
        note = Note(other, *self.program.span(int(report["other"]))) if other else None
        return Diagnostic(code, message, *self.program.span(int(report["at"])), help, note)

    def _bad_access(self, report: Any, kind: int) -> Diagnostic:
        checked = self.checks.checked[int(report["other_thread"])]
        reads = checked["access"] == LOAD or (checked["copies"] == codes.COPIES and report["space"] == GLOBAL)
        verb = "reads" if reads else "writes"
        n, actor = int(checked["bytes"]), self._thread_of_cta(report)
        if checked["asynchronous"] == COPIES_BULK:
            return self._bad_copy(report, kind)
        if kind == codes.MISALIGNED_ACCESS:
            message = f"{actor} {verb} {n} bytes at {self._address(report)}, which is not a multiple of {n}"
            help = "align the buffer and the index, or access less at a time"
            return self._reported(report, "E405", message, help)
        message = f"{actor} {verb} {n} bytes{_at(self._address(report))}"
        space = int(report["space"])
        help = (
            shared_advice(int(report["address"]))
            if space == SHARED
            else null_advice(self.program, space, int(report["address"]))
        )
        help = help or "check the index against the size, or guard the access"
        return self._reported(report, "E404", message, help)

    def _bad_copy(self, report: Any, kind: int) -> Diagnostic:
        actor, place = self._thread_of_cta(report), self._address(report)
        if kind == codes.MISALIGNED_ACCESS:
            message = f"{actor} starts a bulk copy at {place}, and an address or the size is not aligned"
            help = "addresses and sizes are multiples of 16, of an mbarrier 8, of a tensor's part in shared memory 128"
            return self._reported(report, "E405", message, help)
        message = f"{actor} starts a bulk copy of bytes out of bounds: {place}"
        space = int(report["space"])
        help = shared_advice(int(report["address"])) if space == SHARED else ""
        help = help or null_advice(self.program, space, int(report["address"]))
        return self._reported(report, "E404", message, help or "check address and size against the buffer")

    def _race(self, report: Any, now: str, then: str) -> Diagnostic:
        """The later of the two in the text; the other is the note."""
        if report["at"] < report["other"]:
            report = report.copy()
            for one, two in (("at", "other"), ("thread", "other_thread"), ("cta", "other_cta")):
                report[one], report[two] = int(report[two]), int(report[one])
            now, then = then, now
        message = (
            f"race: {self._thread_of_cta(report)} {now} {self._address(report)}, which another thread {then}"
        )
        other = self._thread(report["other_thread"])
        if report["cta"] == report["other_cta"]:
            other += f" {then} it here, and no barrier is between"
            help = "put a barrier between the two, or make the accesses atomic"
        else:
            cta = coordinates(int(report["other_cta"]), self.grid)
            other += f" of CTA {cta} {then} it here, and nothing orders the CTAs"
            help = "make the accesses atomic, let one CTA wait for the other (a fence, then an atomic flag; the other "
            help += "reads the flag, then a fence), or use two launches"
        return self._reported(report, "E410", message, help, other)

    def _early(self, report: Any, now: str) -> Diagnostic:
        """An access to bytes that an asynchronous copy may still be writing."""
        place = self._address(report)
        message = f"race: {self._thread_of_cta(report)} {now} {place}, which an asynchronous copy writes"
        other = f"{self._thread(report['other_thread'])} issues the copy here, and has not waited for it"
        help = f"wait first, with {wait_for(self.program.texts[int(report['other'])], reads=False)}"
        return self._reported(report, "E410", message, help, other)

    def _unwritten(self, report: Any, kind: int) -> Diagnostic:
        if kind == codes.UNWRITTEN_REGISTER:
            name, origin = (self.program.register_names[int(report[k])] for k in ("address", "other_thread"))
            use = f"reads register '{name}'" if origin == name else f"uses '{name}', computed from '{origin}'"
            message = f"{self._thread_of_cta(report)} {use}, which it has not written"
            return self._reported(report, "E411", message, "write it on every path that leads here")
        assert kind == codes.UNWRITTEN_BYTES
        place = self._address(report)
        if report["space"] == LOCAL:
            at, frame, address = (int(report[name]) for name in ("at", "other_thread", "address"))
            place = in_frame(self.program, self.image, at, frame, address)
        message = f"{self._thread_of_cta(report)} reads {place}, which nothing has written"
        return self._reported(report, "E411", message, "write it first, or give the buffer contents")

    def _barrier(self, report: Any) -> Diagnostic:
        missing, here = self._thread(report["other_thread"]), self._thread_of_cta(report)
        message = f"divergent barrier: {here} is here, {missing} of the same warp is elsewhere"
        help = "move the barrier to where all threads of the CTA come by"
        return self._reported(report, "E412", message, help)

    def _missed_barrier(self, report: Any) -> Diagnostic:
        warps = [w for w in range(codes.MAX_WARPS) if int(report["address"]) >> w & 1]
        named = f"warp {warps[0]} never reaches" if len(warps) == 1 else f"warps {_list(warps)} never reach"
        cta = coordinates(int(report["cta"]), self.grid)
        message = f"divergent barrier: warp {int(report['thread']) // 32} of CTA {cta} waits here, {named} it"
        help = (
            "let every warp of the CTA reach the barrier before it ends, or give the barrier a thread count"
        )
        return self._reported(report, "E412", message, help, f"warp {warps[0]} ends here")


def _list(numbers: Sequence[int]) -> str:
    """ "3", "1 and 3", "1, 2 and 3"."""
    return " and ".join(filter(None, [", ".join(map(str, numbers[:-1])), str(numbers[-1])]))


def _at(place: str) -> str:
    if place[0].isdigit():  # how far it is
        return f", {place}"
    return f" {place}" if place.startswith("right") else f" at {place}"
