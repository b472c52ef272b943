"""Matrix instructions: their operands in micro-operations, fragments in memory, and refusals."""

import pytest
from small_lowering import fields, lowered, refusal, steps

from ptxsim.execute import codes
from ptxsim.execute.tensor import mma as kinds

REGISTERS = ".reg .b32 %d<8>, %a<8>, %b<8>, %c<8>;"


def test_a_product_has_its_shape_and_its_registers() -> None:
    text = """mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
	{%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};"""
    program = lowered(REGISTERS + text)
    first = steps(program).index(codes.MULTIPLY)
    assert [fields(program, column)[first] for column in "dab"] == [4, 4, 2]
    assert [fields(program, column)[first + 1] for column in "dab"] == [16, 8, 16]
    # fraction and exponent bits of f16, and of the accumulators
    assert fields(program, "c")[first + 1] & 0xFFFF == 10 | 5 << 8
    assert fields(program, "d")[first + 2] & 0xFFFF == 23 | 8 << 8
    rows = {
        name: int(row[1]) for name, row in zip(program.register_names, program.register_rows, strict=True)
    }
    of_registers = slice(first + 4, first + 8)
    assert fields(program, "d")[of_registers] == [rows[f"%d{k}"] for k in range(4)]
    assert fields(program, "a")[of_registers] == [rows[f"%a{k}"] for k in range(4)]
    assert fields(program, "b")[of_registers] == [rows["%b0"], rows["%b1"], 0, 0]


def test_bits_are_multiplied_in_words() -> None:
    text = (
        """mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};"""
    )
    program = lowered(REGISTERS + text)
    first = steps(program).index(codes.MULTIPLY)
    assert [fields(program, column)[first + 1] for column in "dab"] == [8, 8, 4]
    assert fields(program, "b")[first + 2] == kinds.AND_POPC


def test_only_the_lanes_that_name_rows_access_memory() -> None:
    """8 lanes for each matrix; all of them take part again after it."""
    text = "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%d0, %d1}, [%r1];"
    program = lowered(REGISTERS + text)
    assert steps(program)[:3] == [codes.NARROW, codes.ACCESS32, codes.NARROW]
    assert [fields(program, "e")[k] for k in (0, 2)] == [0xFFFF, -1]
    assert steps(program)[3:] == [codes.MATRIX_LOAD, codes.MATRIX_LOAD]
    assert fields(program, "c")[3:] == [0, 8]
    assert fields(program, "e")[3:] == [16 | 1 << 8] * 2


@pytest.mark.parametrize(("layout", "loads"), [("row", 4), ("col", 8)])
def test_elements_across_the_layout_are_loaded_one_by_one(layout: str, loads: int) -> None:
    """16 by 16 halves of A in 8 registers, of which 4 are copies."""
    text = f"""wmma.load.a.sync.aligned.{layout}.m16n16k16.shared.f16
	{{%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}}, [%r1], 16;"""
    program = lowered(REGISTERS + text)
    code = codes.LOAD_32 if layout == "row" else codes.LOAD_U16
    assert steps(program).count(code) == steps(program).count(codes.ACCESS32) == loads
    record = program.instructions[0]
    assert (record["access_bytes"], record["element_bytes"]) == (16, 4)


def test_a_selector_in_a_register_is_refused() -> None:
    sparse = """mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
	{%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %r1, %r2;"""
    assert refusal(REGISTERS + sparse) == "a sparsity selector that is no number"
