"""Calls of what the simulator has itself: micro-operations in place of a frame and a jump."""

import pytest
from small_lowering import fields, lowered, refusal, steps

from ptxsim.base.program import LOCAL, PLAIN
from ptxsim.execute import codes

DECLARED = """
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 g, .param .b64 s);
.extern .func unknown();
"""


def test_registers_are_arguments_as_they_are() -> None:
    program = lowered("call (%rd1), malloc, (%rd2);", before=DECLARED)
    assert steps(program) == [codes.MALLOC, "mov_u64"]
    assert program.allocates
    assert program.instructions[0]["kind"] == PLAIN
    assert steps(lowered("call free, (%rd1);", before=DECLARED)) == [codes.FREE]


def test_variables_are_read_from_the_frame_and_results_written_there() -> None:
    body = """{ .param .b64 f; .param .b64 v; .param .b32 r;
	call (r), vprintf, (f, v); }"""
    program = lowered(body, before=DECLARED)
    assert steps(program) == [
        *(codes.ACCESS32, codes.LOAD_64, codes.ACCESS32, codes.LOAD_64),
        codes.PRINT,
        *(codes.ACCESS32, codes.STORE_32),
    ]
    # each at its offset in the frame
    assert [fields(program, "e")[k] for k in (0, 2, 5)] == [0, 8, 16]
    assert [fields(program, "c")[k] for k in (0, 2, 5)] == [LOCAL | n_bytes << 8 for n_bytes in (8, 8, 4)]
    assert program.prints


def test_an_assertion_keeps_message_file_line_and_function() -> None:
    body = "call __assertfail, (%rd1, %rd2, %r3, %rd4, %rd5);"
    program = lowered(body, before=DECLARED)
    rows = {
        name: int(row[1]) for name, row in zip(program.register_names, program.register_rows, strict=True)
    }
    assert steps(program) == [codes.ASSERT]
    assert fields(program, "d") == [rows["%r3"]]
    assert [fields(program, column)[0] for column in "abc"] == [rows["%rd1"], rows["%rd2"], rows["%rd4"]]


def test_a_missing_argument() -> None:
    assert refusal("call (%rd1), malloc;", before=DECLARED) == "'malloc' with 0 arguments"
    assert refusal("call (%r1), vprintf, (%rd1);", before=DECLARED) == "'vprintf' with 1 argument"


@pytest.mark.parametrize(("name", "what"), [("unknown", "only declared"), ("nowhere", "not in the file")])
def test_other_functions_without_a_body_are_refused(name: str, what: str) -> None:
    assert refusal(f"call {name};", before=DECLARED) == f"function '{name}' is {what}"
