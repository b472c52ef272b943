"""Live registers beside the code: a column per register, or per allocated place."""

from typing import Literal

import pytest
from kernels import ptx, ptxplus

from ptxtool import api
from ptxtool.analysis.flow.liveness import Liveness
from ptxtool.ir.nodes import Function
from ptxtool.report.kernels.live import live_data, live_listing

KERNEL = ptx(
    "mov.u32 %r1, 1;\nadd.u32 %r2, %r1, %r1;\nadd.u32 %r2, %r2, %r1;\nst.global.u32 [%rd1], %r2;\nret;"
)


def both(kernel: Function, per: Literal["thread", "warp"] = "warp") -> tuple[Liveness, Liveness, Liveness]:
    thread, warp = api.liveness(kernel, "thread"), api.liveness(kernel)
    return thread, warp, thread if per == "thread" else warp


def test_marks_of_definitions_uses_and_lives() -> None:
    """Columns of %r1, %r2, %rd1: %rd1 is live from the beginning to the store, %r1 to its last use."""
    lines = str(live_listing(*both(KERNEL))).splitlines()
    marks = [line[line.index(";") + 1 :].split(None, 2) for line in lines[-5:]]
    assert [m[:2] for m in marks] == [["1"] * 2, ["2"] * 2, ["3"] * 2, ["2"] * 2, ["0"] * 2]
    beside = [m[2] if len(m) > 2 else "" for m in marks]
    assert [b.split() for b in beside] == [["^", ":"], ["v", "^", ":"], ["v", "x", ":"], ["v", "v"], []]


DIVERGENT = ptx(
    "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, 1;\n@%p1 bra A;\nmov.u32 %r2, 2;\n"
    "A: st.global.u32 [a], %r2;\nret;"
)


def test_what_only_waiting_lanes_hold_has_a_mark_of_its_own() -> None:
    """At the second definition of %r2 the lanes that branched wait with theirs."""
    lines = str(live_listing(*both(DIVERGENT))).splitlines()
    (row,) = [line for line in lines if "mov.u32 %r2, 2;" in line]
    assert row.split(";")[1].split() == ["0", "1", "^"]
    assert "w waiting lanes only" in lines[0]
    thread = str(live_listing(*both(DIVERGENT, "thread"))).splitlines()
    assert "w waiting" not in thread[0]
    loop = ptx("H: mov.u32 %r1, 1;\nmov.u32 %r3, 1;\n@%p1 bra H;\nst.global.u32 [a], %r1;\nret;")
    rows = str(live_listing(*both(loop))).splitlines()[-5:]
    assert rows[0].split(";")[1].split() == ["1", "2", ":", "^"]


def many(n: int) -> Function:
    """A kernel with n registers live at once, and twice as many in its text."""
    lines = [f"ld.global.u32 %v{k}, [%rd1+{4 * k}];" for k in range(n)]
    lines += [f"add.u32 %w{k}, %v{k}, 1;\nst.global.u32 [%rd1+{4 * k}], %w{k};" for k in range(n)]
    return ptx("\n".join([*lines, "ret;"]), f".reg .b32 %v<{n}>; .reg .b32 %w<{n}>; .reg .b64 %rd<2>;")


@pytest.mark.parametrize(("width", "per_column"), [(60, 16), (80, 4), (120, 2), (200, 1)])
def test_a_kernel_with_120_registers_is_a_chart_at_any_width(width: int, per_column: int) -> None:
    lines = str(live_listing(*both(many(120)), width)).splitlines()
    assert max(map(len, lines)) <= width
    assert ("neighbours to a column" in " ".join(lines[:6])) == (per_column > 1)
    rows = [line.split(";", 1)[-1] if ";" in line else line.split("...", 1)[1] for line in lines[-361:]]
    fullest = rows[120].split()
    assert fullest[:2] == ["121", "121"]
    assert len(fullest[2]) == -(-122 // per_column)


def test_ptxplus_has_the_places_that_compact_assigns() -> None:
    lines = "".join(f"mov.u32 $r{k}, s[$ofs1+{hex(4 * k)}];\n" for k in range(9))
    kernel = ptxplus(lines + "".join(f"mov.u32 g[$r{k}], $r{k};\n" for k in range(9)) + "exit;")
    text = str(live_listing(*both(kernel), 40)).replace("\n", " ")
    assert "as 'compact' assigns them (r: 32 bits, o: addresses, p: predicates)" in text
    assert "warp  r0 o" in text  # 9 registers, 8 to a column, and an address register


def test_a_register_of_vector_type_has_no_place_and_names_stand() -> None:
    kernel = ptx(
        "mov.v4.u32 %v, {1, 2, 3, 4};\n" * 2 + "ret;", ".reg .v4 .u32 %v; .reg .b32 %long_register_name<40>;"
    )
    assert "live before" in str(live_listing(*both(kernel), width=50))


def test_plain_data_has_what_is_live_before_and_after() -> None:
    data = live_data(*both(KERNEL))
    first = data["instructions"][0]
    assert (first["before"], first["after"]) == (["%rd1"], ["%r1", "%rd1"])
    assert data["instructions"][4] == {
        "instruction": 4,
        "line": data["instructions"][0]["line"] + 4,
        "text": "ret;",
        "before": [],
        "after": [],
        "count_thread": 0,
        "count_warp": 0,
    }
