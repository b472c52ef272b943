"""Kernels of a few lines, lowered for the simulator: their micro-operations, their constants, why they are refused."""

from typing import Any

import pytest

from ptxsim.base.program import Program
from ptxsim.lowering.builder import UopBuilder
from ptxsim.lowering.callgraph import CallGraph
from ptxsim.lowering.lower import lower
from ptxsim.lowering.row_allocation import assign_rows
from ptxsim.lowering.variable_layout import AT_BEGINNING, lay_out
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.ir.nodes import Function
from ptxtool.isa.lanes import operations
from ptxtool.parse import parse

GPU = load_gpu("tesla-c2050")
PTX = """.version 8.7
.target sm_100a
.address_size 64
{before}
.visible .entry k(.param .u64 a, .param .u32 n)
{{
	.reg .pred %p<4>;
	.reg .b16 %h<8>;
	.reg .b32 %r<8>;
	.reg .f32 %f<8>;
	.reg .b64 %rd<8>;
	.reg .f64 %fd<4>;
	{body}
}}
"""
PTXPLUS = """.version 1.4+
.target sm_10
.const .u32 constant0[2] = {{ 1, 2 }};
{before}
.entry k ( .param .u64 a , .param .s32 n )
{{
	.reg .u32 $r<8>;
	.reg .u32 $ofs<3>;
	.reg .pred $p<4>;
	.reg .u32 $r124;
	.reg .u32 $o127;
	{body}
}}
"""
_NAMES = {operation.number: name for name, operation in operations().items()}


def kernel(body: str, text: str = PTX, before: str = "") -> Function:
    return parse(text.format(body=body, before=before)).kernels["k"]


def lowered(body: str, text: str = PTX, before: str = "", **options: Any) -> Program:
    return lower(kernel(body, text, before), GPU, **options)


def builder(body: str = "ret;", text: str = PTX, before: str = "", **options: Any) -> UopBuilder:
    """What the rules of a kernel's instructions would work with, before the first of them."""
    function = kernel(body, text, before)
    graph = CallGraph(function)
    made = UopBuilder(function, lay_out(function, graph.functions[1:], AT_BEGINNING), graph, **options)
    assign_rows(made, True)
    return made


def steps(program: Program, i: int = 0) -> list[Any]:
    """The micro-operations of instruction i: names of lane operations, codes of the others."""
    record = program.instructions[i]
    codes = program.uops["op"][record["uop_start"] : record["return_end"]]
    return [_NAMES.get(int(code), int(code)) for code in codes]


def fields(program: Program, name: str, i: int = 0) -> list[int]:
    """One field of each micro-operation of instruction i."""
    record = program.instructions[i]
    return [int(v) for v in program.uops[name][record["uop_start"] : record["return_end"]]]


def constant(program: Program, row: int, bits: int = 32) -> int:
    """The value of a constant row."""
    assert row < 0, "a row of a register"
    return int((program.constants32 if bits == 32 else program.constants64)[~row, 0])


def emitted(made: UopBuilder) -> list[Any]:
    """The micro-operations so far, as `steps` names them."""
    return [_NAMES.get(uop[0], uop[0]) for uop in made.uops]


def refusal(body: str, text: str = PTX, before: str = "", **options: Any) -> str:
    """Why a kernel cannot be simulated: what E403 says after the opcode."""
    with pytest.raises(PtxError) as caught:
        lowered(body, text, before, **options)
    (found,) = caught.value.diagnostics
    assert found.code == "E403"
    return found.message.partition(" cannot be simulated: ")[2]
