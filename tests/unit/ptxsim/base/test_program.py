"""Where the instructions of a program lie in the source."""

from small_lowering import lowered

from ptxsim.base.program import Program


def text_at(program: Program, i: int) -> str:
    source, start, end = program.span(i)
    return str(source.text[start:end])


def test_instructions_of_the_kernel_come_before_those_of_its_functions() -> None:
    program = lowered("call f; ret;", before=".func f() { .reg .pred %p; @%p ret; }")
    assert [text_at(program, i) for i in range(3)] == ["call f;", "ret;", "@%p ret;"]


def test_the_end_of_a_function_is_its_brace() -> None:
    program = lowered("call f; ret;", before=".func f() { .reg .pred %p; @%p ret; }")
    assert text_at(program, 3) == "}"
    assert text_at(program, 99) == "}"  # a number beyond the program is that of its last instruction
