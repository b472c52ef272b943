"""First use as a table, and where register sharing would stop a warp before and after reordering."""

from typing import Any

from ptxtool.analysis.sharing.first_use import FirstUse, SharedTouch, Use, first_use
from ptxtool.base.render import CudaText
from ptxtool.ir.nodes import Function
from ptxtool.report.kernels.cuda import cuda_data, cuda_text
from ptxtool.report.tables import TextTable, clip, head, heading, table

_COLUMNS = head("register:cyan | class | >before | >after:bold | >line | first instruction:code")
_WITH_CUDA = (*_COLUMNS, *head("CUDA line"))


def first_use_table(uses: FirstUse, private: int | None = None, sources: CudaText | None = None) -> TextTable:
    """The registers in order of first use; with `private`, also the first instruction that needs a shared one."""
    rows: list[tuple[object, ...]] = [
        (u.name, u.kind, u.before, u.after, u.line, u.text or "(never used)") for u in uses
    ]
    columns, cuda = _COLUMNS, [_cuda(uses.kernel, u.instruction, sources) for u in uses]
    if any(cuda):
        columns = _WITH_CUDA
        rows = [(*row[:-1], clip(str(row[-1]), 48), place) for row, place in zip(rows, cuda, strict=True)]
    how = "as written" if uses.order == "text" else "along the control flow graph"
    title = heading(uses.kernel.name, f"{len(uses)} registers in order of first use, {how}")
    notes: list[str] = []
    if private is not None:
        before, after = shared_touches(uses, private)
        notes = [
            "",
            f"private registers: 1 to {private}" if private else "private registers: none",
            "first instruction that needs a shared register",
            clip(f"  before: {_touch(uses.kernel, before, sources)}"),
            clip(f"  after:  {_touch(uses.kernel, after, sources)}"),
        ]
    return table(columns, rows, title, notes)


def _cuda(kernel: Function, instruction: int | None, sources: CudaText | None) -> str:
    return "" if instruction is None else cuda_text(kernel, instruction, sources)


def shared_touches(uses: FirstUse, private: int) -> tuple[SharedTouch | None, SharedTouch | None]:
    """The first instruction, as written, that touches a register beyond `private`: by the numbers before and after."""
    written = uses if uses.order == "text" else first_use(uses.kernel)
    after = {use.before: use.after for use in uses}
    return (
        _first([(use, use.before) for use in written.used], private),
        _first([(use, after[use.before]) for use in written.used], private),
    )


def _first(numbered: list[tuple[Use, int]], private: int) -> SharedTouch | None:
    """The earliest of the uses with a number beyond `private`; they come in textual order."""
    for use, number in numbered:
        if number > private and use.instruction is not None and use.line is not None:
            return SharedTouch(use.instruction, use.line, use.text, use.name, number)
    return None


def _touch(kernel: Function, touch: SharedTouch | None, sources: CudaText | None) -> str:
    if touch is None:
        return "none"
    cuda = cuda_text(kernel, touch.instruction, sources)
    return f"line {touch.line}{f' ({cuda})' if cuda else ''}, {touch.register} (register {touch.number}): {touch.text}"


def first_use_data(uses: FirstUse, private: int | None = None) -> dict[str, Any]:
    """The same for `--json`."""
    data: dict[str, Any] = {
        "kernel": uses.kernel.name,
        "order": uses.order,
        "registers": [{**use.to_dict(), **cuda_data(uses.kernel, use.instruction)} for use in uses],
    }
    if private is not None:
        before, after = shared_touches(uses, private)
        data["private_registers"] = private
        data["first_shared"] = {
            "before": _touch_data(uses.kernel, before),
            "after": _touch_data(uses.kernel, after),
        }
    return data


def _touch_data(kernel: Function, touch: SharedTouch | None) -> dict[str, Any] | None:
    if touch is None:
        return None
    return {
        "instruction": touch.instruction,
        "line": touch.line,
        **cuda_data(kernel, touch.instruction),
        "text": touch.text,
        "register": touch.register,
        "sequence": touch.number,
    }
