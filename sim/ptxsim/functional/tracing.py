"""A trace of a run without time: chosen instructions as they execute, with the values of their registers.

    ptxsim.run(kernel, grid, block, args, trace=Trace(selection("cta 0; warp 1; lane 0-3; line 40-60"), print))

The loop stops before and after every chosen instruction (sanitizer/shadow_state.py: TRACED), and the values are read
here: those that the instruction reads before it runs, those that it writes after it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxsim.base.program import Program
from ptxsim.sanitizer.shadow_state import AFTER, GOING, TRACED
from ptxtool.base.cuda_places import CudaPlace
from ptxtool.base.diag import PtxError, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.render import printable
from ptxtool.ir.defuse import DefUse
from ptxtool.isa.table import table
from ptxtool.isa.types import TYPES

_KEYS = ("cta", "warp", "lane", "line")
_LONG_TEXT = 44
_SHOWN_IN_HEX = 1 << 20


@dataclass(frozen=True)
class TraceSelection:
    """What is traced: linear numbers of CTAs, warps of a CTA, lanes, source lines (None: all of them)."""

    ctas: frozenset[int] = frozenset({0})
    warps: frozenset[int] = frozenset({0})
    lanes: tuple[int, ...] = (0,)
    lines: frozenset[int] | None = None


@dataclass(frozen=True)
class TraceStep:
    """One instruction of one warp. `lanes` is the mask of those that executed it; values are by lane, in the order of
    `shown`, as text. `cuda` is the line of the CUDA source, None where the text has no `.loc` for it."""

    cta: int
    warp: int
    line: int
    text: str
    lanes: int
    shown: tuple[int, ...]
    reads: tuple[tuple[str, tuple[str, ...]], ...]
    writes: tuple[tuple[str, tuple[str, ...]], ...]
    cuda: CudaPlace | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`; `lanes` are those shown that executed it, with a value each for every register."""
        done = [k for k, lane in enumerate(self.shown) if self.lanes >> lane & 1]

        def values(registers: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[str, list[str]]:
            return {name: [of_lane[k] for k in done] for name, of_lane in registers}

        return {
            "cta": self.cta,
            "warp": self.warp,
            "line": self.line,
            **(self.cuda.to_dict() if self.cuda else {}),
            "text": self.text,
            "mask": f"{self.lanes:08x}",
            "lanes": [self.shown[k] for k in done],
            "writes": values(self.writes),
            "reads": values(self.reads),
        }

    def __str__(self) -> str:
        """A line for every lane shown that executed it, or one that says that none did."""
        head = f"cta {self.cta} warp {self.warp} line {self.line}"
        head += f" {printable(self.cuda.name)}" if self.cuda else ""
        done = [k for k, lane in enumerate(self.shown) if self.lanes >> lane & 1]
        if not done:
            return f"{head} lanes {self.lanes:08x}  {self.text}"
        return "\n".join(
            f"{head} lane {self.shown[k]}  {self.text:<{_LONG_TEXT}}  {self._values(k)}" for k in done
        )

    def _values(self, k: int) -> str:
        written = " ".join(f"{name}={values[k]}" for name, values in self.writes)
        read = " ".join(f"{name}={values[k]}" for name, values in self.reads)
        return f"{written} <- {read}" if written and read else written or (f"<- {read}" if read else "")


@dataclass(frozen=True)
class Trace:
    """A selection, and what is called with every `TraceStep`."""

    selection: TraceSelection
    emit: Callable[[TraceStep], object]


def selection(text: str) -> TraceSelection:
    """Read "cta 0; warp 0-3; lane 0,5; line 40-60"; what is left out is CTA 0, warp 0, lane 0, all lines.

    Raises E502.
    """
    chosen: dict[str, list[int]] = {}
    for part in filter(None, (p.strip() for p in text.split(";"))):
        match = re.fullmatch(r"([a-z]+)s?[ =]+([0-9][0-9, -]*)", part)
        key = match[1].removesuffix("s") if match else ""
        if match is None or key not in _KEYS:
            raise _wrong(part, key)
        chosen[key] = [*chosen.get(key, ()), *_numbers(match[2], part)]
    lanes = sorted(set(chosen.get("lane", [0])))
    if lanes[-1] > 31:
        raise error("E502", f"--trace: there is no lane {lanes[-1]}", help="lanes are 0 to 31")
    lines = chosen.get("line")
    return TraceSelection(
        frozenset(chosen.get("cta", [0])),
        frozenset(chosen.get("warp", [0])),
        tuple(lanes),
        None if lines is None else frozenset(lines),
    )


def _wrong(part: str, key: str) -> PtxError:
    help = did_you_mean(key, _KEYS, 'such as "cta 0; warp 0-3; lane 0,5; line 40-60"')
    return error("E502", f"--trace '{part}' selects nothing", help=help)


def _numbers(text: str, part: str) -> Iterator[int]:
    for piece in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9}))?\s*", piece)
        if match is None or not 0 <= int(match[2] or match[1]) - int(match[1]) <= 1_000_000:
            raise _wrong(part, "")
        yield from range(int(match[1]), int(match[2] or match[1]) + 1)


def _check_there(selection: TraceSelection, program: Program, n_ctas: int, n_warps: int) -> None:
    """Raise E502 for a selection of which nothing is in the launch."""
    for key, chosen, n in (("cta", selection.ctas, n_ctas), ("warp", selection.warps, n_warps)):
        if chosen and min(chosen) >= n:
            there = f"the launch has {key} 0 to {n - 1}" if n > 1 else f"the launch has {key} 0 only"
            raise error("E502", f"--trace: there is no {key} {min(chosen)}", help=there)
    lines = {
        int(record["line"])
        for record, (_, i) in zip(program.instructions, program.positions, strict=True)
        if i >= 0
    }
    if selection.lines is not None and lines and not selection.lines & lines:
        what = f"--trace: no instruction of '{program.name}' is in line {min(selection.lines)}"
        help = f"its instructions, and those of the functions it calls, are in lines {min(lines)} to {max(lines)}"
        raise error("E502", what, help=help)


class Tracer:
    """The trace of one run: marks the chosen instructions, and reads registers where the loop stops."""

    def __init__(self, trace: Trace, program: Program, image: Any, checks: Any, n_ctas: int, n_warps: int):
        self._emit, self._selection = trace.emit, trace.selection
        _check_there(self._selection, program, n_ctas, n_warps)
        self._program, self._image, self._state = program, image, checks.state
        self._facts: dict[str, list[DefUse]] = {f.name: list(f.def_uses) for f, _ in program.first_registers}
        self._firsts = {f.name: first for f, first in program.first_registers}
        self._reads: tuple[tuple[str, tuple[str, ...]], ...] = ()
        lines = self._selection.lines
        for i, (_, index) in enumerate(program.positions):
            line = int(program.instructions[i]["line"])
            checks.checked[i]["traced"] = index >= 0 and (lines is None or line in lines)
        warps = sum(1 << w for w in self._selection.warps if w < 32)
        checks.state[0]["traced_warps"] = np.uint32(warps).astype(np.int64)

    def begin(self, cta: int) -> None:
        """Start a CTA, which may be traced or not."""
        what = int(self._state[0]["what"]) & ~TRACED
        self._state[0]["what"] = what | (TRACED if cta in self._selection.ctas else 0)

    def stopped(self, cta: int) -> None:
        """The loop has stopped before or after an instruction."""
        state = self._state[0]
        if state["stage"] == GOING:  # for the print buffer
            return
        i, warp = int(state["traced_at"]), int(state["traced_warp"])
        function, index = self._program.positions[i]
        facts, first = self._facts[function.name][index], self._firsts[function.name]
        if state["stage"] != AFTER:
            self._reads = self._values(function, index, first, facts.uses, warp, read=True)
            return
        state["stage"] = GOING
        self._emit(
            TraceStep(
                cta,
                warp,
                int(self._program.instructions[i]["line"]),
                self._program.texts[i],
                int(state["traced_lanes"]),
                self._selection.lanes,
                self._reads,
                self._values(function, index, first, facts.defs, warp, read=False),
                function.cuda_place(index),
            )
        )

    def _values(
        self, function: Any, index: int, first: int, registers: Iterable[int], warp: int, read: bool
    ) -> tuple[tuple[str, tuple[str, ...]], ...]:
        instruction = function.instructions[index]
        match = table().match(instruction.opcode.text, len(instruction.operands), self._program.is_ptxplus)
        own = () if match is None else (match.stype, match.type) if read else (match.type, match.stype)
        found = []
        for register in registers:
            declared = function.registers[register]
            words = self._words(first + register, warp)
            bits = declared.bits // declared.vector
            kinds = (*own, declared.type) if self._program.is_ptxplus else (declared.type, *own)
            kind = (
                "pred"
                if declared.is_predicate
                else next((k for k in kinds if _is_format_of(k, bits)), f"b{bits}")
            )
            found.append((declared.name, tuple(_text(words, kind, lane) for lane in self._selection.lanes)))
        return tuple(found)

    def _words(self, register: int, warp: int) -> list[np.ndarray]:
        """The rows of a register, of one warp."""
        x = self._image.context[0]
        file, first, count = (int(v) for v in self._program.register_rows[register])
        if file == 2:
            masks = self._image.keep[2]
            at = warp * int(x["rows_p"]) + first
            return [np.array([masks[at + k] >> n & 1 for n in range(32)], np.uint8) for k in range(count)]
        name = ("32", "64")[file]
        rows: np.ndarray = self._image.keep[file]
        at = int(x[f"constant_rows{name}"]) + warp * int(x[f"rows{name}"]) + first
        return [rows[at + k] for k in range(count)]


def _is_format_of(kind: str, bits: int) -> bool:
    """Whether a type determines how a register of that many bits is shown."""
    known = TYPES.get(kind)
    return known is not None and known.bits == bits and known.kind != "b"


def _text(words: list[np.ndarray], kind: str, lane: int) -> str:
    """The value of a register in one lane."""
    if kind == "pred":
        flags = [bool(row[lane]) for row in words]
        if len(flags) == 1:
            return str(int(flags[0]))
        return "".join(name for name, flag in zip("ZSCO", flags, strict=True) if flag) or "-"
    known = TYPES[kind]
    shown = []
    for row in words:
        value = int(row[lane]) & ((1 << known.bits) - 1)
        if known.name in ("f16", "f32", "f64"):
            bits = np.array(value, f"u{known.bytes}")
            shown.append(f"{bits.view(f'f{known.bytes}')[()]:.9g}")
        elif known.is_signed:
            shown.append(str(value - (1 << known.bits) if value >> (known.bits - 1) else value))
        else:
            shown.append(f"{value:#x}" if value >= _SHOWN_IN_HEX else str(value))
    return shown[0] if len(shown) == 1 else "{" + ",".join(shown) + "}"
