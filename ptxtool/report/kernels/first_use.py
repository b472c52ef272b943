"""First use as a table, and where register sharing would stop a warp before and after reordering."""

from typing import Any

from ptxtool.analysis.sharing.first_use import FirstUse, SharedTouch, Use, first_use
from ptxtool.report.tables import TextTable, clip, head, heading, table

_COLUMNS = head("register:cyan | class | >before | >after:bold | >line | first instruction:code")


def first_use_table(uses: FirstUse, private: int | None = None) -> TextTable:
    """The registers in order of first use; with `private`, also the first instruction that needs a shared one."""
    rows = [(u.name, u.kind, u.before, u.after, u.line, u.text or "(never used)") for u in uses]
    how = "as written" if uses.order == "text" else "along the control flow graph"
    title = heading(uses.kernel.name, f"{len(uses)} registers in order of first use, {how}")
    notes: list[str] = []
    if private is not None:
        before, after = shared_touches(uses, private)
        notes = [
            "",
            f"private registers: 1 to {private}" if private else "private registers: none",
            "first instruction that needs a shared register",
            clip(f"  before: {_touch(before)}"),
            clip(f"  after:  {_touch(after)}"),
        ]
    return table(_COLUMNS, rows, title, notes)


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


def _touch(touch: SharedTouch | None) -> str:
    if touch is None:
        return "none"
    return f"line {touch.line}, {touch.register} (register {touch.number}): {touch.text}"


def first_use_data(uses: FirstUse, private: int | None = None) -> dict[str, Any]:
    """The same for `--json`."""
    data: dict[str, Any] = {
        "kernel": uses.kernel.name,
        "order": uses.order,
        "registers": [use.to_dict() for use in uses],
    }
    if private is not None:
        before, after = shared_touches(uses, private)
        data["private_registers"] = private
        data["first_shared"] = {"before": _touch_data(before), "after": _touch_data(after)}
    return data


def _touch_data(touch: SharedTouch | None) -> dict[str, Any] | None:
    if touch is None:
        return None
    return {
        "instruction": touch.instruction,
        "line": touch.line,
        "text": touch.text,
        "register": touch.register,
        "sequence": touch.number,
    }
