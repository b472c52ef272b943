"""Which functions a kernel reaches, and how long the chains of their frames are."""

from small_lowering import kernel

from ptxsim.lowering.callgraph import CallGraph, parts
from ptxtool.ir.nodes import Function, Name

FUNCTIONS = """
.func a(.param .b64 x) { .local .b8 room[40]; call b; ret; }
.func b() { .local .b8 room[8]; call a, (x); call c; ret; }
.func c() { .local .b8 room[100]; ret; }
.func never() { ret; }
"""


def graph(body: str, before: str = FUNCTIONS) -> CallGraph:
    return CallGraph(kernel(body, before=before), stack_bytes=1000)


def names(functions: tuple[Function, ...]) -> list[str]:
    return [function.name for function in functions]


def test_functions_that_nothing_calls_are_not_in_the_program() -> None:
    found = graph("call c; ret;")
    assert names(found.functions) == ["k", "c"]
    assert found.starts == {"k": 0, "c": 2}
    assert not found.is_recursive


def test_a_cycle_counts_each_of_its_functions_once() -> None:
    """Frames are multiples of 16: of a 8 + 40 bytes, of b 8, of c 100."""
    found = graph("call a, (x); ret;")
    assert found.is_recursive
    assert found.static_bytes == 48 + 16 + 112
    assert found.frame_end == 176 + 1000  # recursion needs the stack


def test_only_calls_within_a_cycle_return_to_their_function() -> None:
    found = graph("call a, (x); ret;")
    of = {function.name: function for function in found.functions}
    assert found.returns_to(of["a"], (of["b"],))
    assert not found.returns_to(of["k"], (of["a"],))
    assert not found.returns_to(of["a"], (of["c"],))


def test_a_call_through_a_register_reaches_what_has_its_prototype_and_an_address_taken() -> None:
    functions = """
.func one(.param .b32 x) { ret; }
.func two(.param .b32 x) { ret; }
.func wide(.param .b64 x) { ret; }
.func unnamed(.param .b32 x) { ret; }
"""
    body = """
	mov.u64 %rd1, one; mov.u64 %rd2, two; mov.u64 %rd3, wide;
P:	.callprototype _ (.param .b32 _);
	call %rd1, (%r1), P;
	ret;"""
    found = graph(body, functions)
    assert names(found.targets["k", 3]) == ["one", "two"]


def test_an_alias_means_its_function() -> None:
    found = graph("call other; ret;", FUNCTIONS + ".func other();\n.alias other, c;\n")
    assert names(found.targets["k", 0]) == ["c"]


def test_a_function_whose_last_instruction_may_fall_through_gets_an_end() -> None:
    found = graph("call f; ret;", ".func f() { .reg .pred %p; @%p ret; }")
    assert [found.has_end(function) for function in found.functions] == [False, True]


def test_a_program_of_one_function_gets_no_end() -> None:
    found = graph("add.u32 %r1, %r1, 1;")
    assert not found.has_end(found.kernel)


def test_the_parts_of_a_call() -> None:
    call = parts(kernel("call (%r1), f, (%r2, %r3), P;").instructions[0])
    r1, r2, r3 = (Name(f"%r{n}") for n in (1, 2, 3))
    assert call == ((r1,), Name("f"), (r2, r3), Name("P"))
    assert parts(kernel("call f;").instructions[0]) == ((), Name("f"), (), None)
