"""What the checks found, as diagnostics: line, threads, address, both accesses."""

from collections.abc import Sequence
from typing import Any

from ptxsim.base.program import GLOBAL, LOAD, LOCAL, SHARED, Program
from ptxsim.memory_image.address_names import describe, in_frame
from ptxsim.memory_image.faults import MORE_SHARED, null_advice
from ptxsim.memory_image.image import MemoryImage
from ptxsim.sanitizer.prepare import Checks
from ptxsim.sanitizer.shadow_state import (
    BAD_ACCESS,
    COPIES,
    DIVERGENT_BARRIER,
    MISALIGNED_ACCESS,
    READ_AFTER_WRITE,
    READ_BEFORE_COPY,
    UNWRITTEN_BYTES,
    UNWRITTEN_REGISTER,
    WRITE_AFTER_READ,
    WRITE_AFTER_WRITE,
    WRITE_BEFORE_COPY,
)
from ptxtool.base.diag import Diagnostic, Note

_RACES = {
    WRITE_AFTER_WRITE: ("writes", "writes"),
    READ_AFTER_WRITE: ("reads", "writes"),
    WRITE_AFTER_READ: ("writes", "reads"),
}


def diagnostics(
    program: Program,
    image: MemoryImage,
    checks: Checks,
    block: Sequence[int],
    grid: Sequence[int],
) -> tuple[Diagnostic, ...]:
    """The reports of a run in the order of the text: E404, E405, E410 (races), E411 (unwritten), E412 (barriers)."""
    reporter = _Reporter(program, image, checks, block, grid)
    reports = checks.reports[: int(checks.state[0]["n_reports"])]
    racing = {int(r["at"]) for r in reports if r["kind"] in _RACES}
    racing |= {int(r["other"]) for r in reports if r["kind"] in _RACES}
    found = [
        reporter.diagnostic(report)
        for report in reports
        # who reads too early finds nothing written, in the order in which the warps ran here: the race says it all
        if not (
            report["kind"] == UNWRITTEN_BYTES and report["space"] == SHARED and int(report["at"]) in racing
        )
    ]
    return tuple(sorted(found, key=lambda d: d.start))


class _Reporter:
    def __init__(
        self,
        program: Program,
        image: MemoryImage,
        checks: Checks,
        block: Sequence[int],
        grid: Sequence[int],
    ):
        self.program, self.image, self.checks = program, image, checks
        self.block, self.grid = block, grid

    def diagnostic(self, report: Any) -> Diagnostic:
        kind = int(report["kind"])
        if kind in (BAD_ACCESS, MISALIGNED_ACCESS):
            return self._bad_access(report, kind)
        if kind in _RACES:
            return self._race(report, *_RACES[kind])
        if kind in (READ_BEFORE_COPY, WRITE_BEFORE_COPY):
            return self._early(report, "reads" if kind == READ_BEFORE_COPY else "writes")
        if kind == DIVERGENT_BARRIER:
            return self._barrier(report)
        return self._unwritten(report, kind)

    def _thread(self, number: int) -> str:
        x, y, _ = self.block
        return f"thread ({number % x},{number // x % y},{number // (x * y)})"

    def _who(self, report: Any) -> str:
        """The first thread, and its CTA."""
        x, y, _ = self.grid
        cta = int(report["cta"])
        return f"{self._thread(int(report['thread']))} of CTA ({cta % x},{cta // x % y},{cta // (x * y)})"

    def _place(self, report: Any) -> str:
        return describe(self.program, self.image, int(report["space"]), int(report["address"]))

    def _told(
        self, report: Any, code: str, message: str, help: str, other: tuple[str, int] | None = None
    ) -> Diagnostic:
        if report["count"] > 1:
            message += f" ({report['count']} times in all)"
        note = None
        if other is not None:
            note = Note(other[0], *self.program.span(other[1]))
        return Diagnostic(code, message, *self.program.span(int(report["at"])), help, note)

    def _bad_access(self, report: Any, kind: int) -> Diagnostic:
        checked = self.checks.checked[int(report["other_thread"])]
        reads = checked["access"] == LOAD or (checked["copies"] == COPIES and report["space"] == GLOBAL)
        verb = "reads" if reads else "writes"
        n = int(checked["bytes"])
        if kind == MISALIGNED_ACCESS:
            message = f"{self._who(report)} {verb} {n} bytes at {self._place(report)}, which is not a multiple of {n}"
            return self._told(
                report, "E405", message, "align the buffer and the index, or access less at a time"
            )
        message = f"{self._who(report)} {verb} {n} bytes{_at(self._place(report))}"
        help = "check the index against the size, or guard the access"
        if report["space"] == SHARED:
            help = MORE_SHARED
        else:
            help = null_advice(self.program, int(report["space"]), int(report["address"])) or help
        return self._told(report, "E404", message, help)

    def _race(self, report: Any, now: str, then: str) -> Diagnostic:
        """The later of the two in the text; the other is the note."""
        if report["at"] < report["other"]:
            report = report.copy()
            for one, two in (("at", "other"), ("thread", "other_thread")):
                report[one], report[two] = int(report[two]), int(report[one])
            now, then = then, now
        message = f"race: {self._who(report)} {now} {self._place(report)}, which another thread {then}"
        other = f"{self._thread(int(report['other_thread']))} {then} it here, and no barrier is between"
        help = "put a barrier between the two, or make the accesses atomic"
        return self._told(report, "E410", message, help, (other, int(report["other"])))

    def _early(self, report: Any, now: str) -> Diagnostic:
        """An access to what an asynchronous copy may still be writing."""
        place = self._place(report)
        message = f"race: {self._who(report)} {now} {place}, which an asynchronous copy writes"
        who = self._thread(int(report["other_thread"]))
        other = f"{who} issues the copy here, and has not waited for it"
        help = "let the thread that copies wait (cp.async.wait_group, or an mbarrier) before a barrier, then access it"
        return self._told(report, "E410", message, help, (other, int(report["other"])))

    def _unwritten(self, report: Any, kind: int) -> Diagnostic:
        if kind == UNWRITTEN_REGISTER:
            name, origin = (self.program.register_names[int(report[k])] for k in ("address", "other_thread"))
            message = f"{self._who(report)} reads register '{name}', which it has not written"
            if origin != name:
                message = (
                    f"{self._who(report)} uses '{name}', computed from '{origin}', which it has not written"
                )
            return self._told(report, "E411", message, "write it on every path that leads here")
        assert kind == UNWRITTEN_BYTES
        place = self._place(report)
        if report["space"] == LOCAL:
            at, frame, address = (int(report[name]) for name in ("at", "other_thread", "address"))
            place = in_frame(self.program, self.image, at, frame, address)
        message = f"{self._who(report)} reads {place}, which nobody has written"
        return self._told(report, "E411", message, "write it first, or give the buffer contents")

    def _barrier(self, report: Any) -> Diagnostic:
        missing = self._thread(int(report["other_thread"]))
        message = f"divergent barrier: {self._who(report)} is here, {missing} of the same warp is elsewhere"
        help = "move the barrier to where all threads of the CTA come by"
        return self._told(report, "E412", message, help)


def _at(place: str) -> str:
    if place[0].isdigit():  # how far it is
        return f", {place}"
    return f" {place}" if place.startswith("right") else f" at {place}"
