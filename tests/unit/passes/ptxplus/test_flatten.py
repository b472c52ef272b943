"""Inlining: a kernel and what it calls as one sequence; which calls are refused."""

import re

from ptxplus_selection import HEAD, kernel, lower, refusals

from ptxtool.parse import parse
from ptxtool.passes.ptxplus.code import BranchTarget
from ptxtool.passes.ptxplus.flatten import CallSkip, FlatItem, InlinedInstruction, flatten

SUM = ".func (.reg .b32 r) f(.reg .b32 a) { add.s32 r, a, 1; ret; }\n"


def shown(item: FlatItem) -> str:
    if isinstance(item, InlinedInstruction):
        return f"{item.activation.number}: {item.instruction.opcode.text}"
    if isinstance(item, BranchTarget | CallSkip):
        return type(item).__name__
    return "store" if item.is_store else "load"


def test_a_body_stands_between_the_copies_of_its_arguments_and_its_results() -> None:
    text = HEAD + SUM + kernel("call (%r1), f, (%r2); @%p1 call (%r1), f, (%r1);")
    items, refused = flatten(parse(text).kernels["k"])
    assert refused == []
    body = ["store", "{}: add.s32", "{}: ret", "BranchTarget", "load", "BranchTarget"]
    assert [shown(item) for item in items] == [
        *(line.format(1) for line in body),
        "CallSkip",
        *(line.format(2) for line in body),
        "0: ret",
        "BranchTarget",
    ]


def test_pieces_of_an_argument_do_not_overlap() -> None:
    callee = ".func f(.param .align 8 .b8 a[8]) { .reg .b64 %x; ld.param.b64 %x, [a]; ret; }\n"
    caller = "{ .param .align 8 .b8 q[8]; st.param.b32 [q+4], %r1; call f, (q); }"
    assert [reason for _, reason in refusals(HEAD + callee + kernel(caller))] == [
        "'q' is accessed in pieces that overlap"
    ]
    lower(caller, before=callee.replace("ld.param.b64", "ld.param.b32").replace(".b64 %x", ".b32 %x"))


def test_a_function_without_a_body_is_refused() -> None:
    text = HEAD + ".extern .func f();\n" + kernel("call f, ();")
    assert refusals(text)[0][1] == "'f' has no body in this file"


def test_recursion_and_calls_through_registers_are_refused() -> None:
    recursive = ".func f() { call f, (); ret; }\n"
    assert refusals(HEAD + recursive + kernel("call f, ();"))[0][1].startswith("'f' calls itself")
    table = ".func g() { ret; }\n"
    body = "mov.u64 %d1, g; P: .callprototype _ (); call %d1, (), P;"
    assert {reason for _, reason in refusals(HEAD + table + kernel(body))} == {
        "the address of a function: PTXPlus calls no addresses",
        "only calls of named functions can be inlined",
    }


def test_a_guarded_call_is_branched_around() -> None:
    function = ".func (.reg .b32 r) f(.reg .b32 a) { add.s32 r, a, 1; ret; }\n"
    text = lower(
        "@%p1 call (%r1), f, (%r2); ld.param.u64 %d1, [p]; st.global.u32 [%d1], %r1;", before=function
    )
    assert re.search(r"@\$p0\.equ bra (\w+);", text)
