"""Control flow: addresses of code, targets of jumps, barriers and their refusals."""

import pytest
from small_lowering import PTXPLUS, constant, fields, kernel, lowered, refusal, steps

from ptxsim.base import program as p
from ptxsim.execute import codes
from ptxsim.lowering.instructions.control import BREAK_DEPTH, code_addresses, code_bytes


def test_functions_lie_one_after_the_other_8_bytes_an_instruction() -> None:
    module = kernel("call f; ret;", before=".func f() { ret; }\n.func g() { ret; ret; }").module
    assert code_addresses(module) == {"f": 0, "g": 8, "k": 24}
    assert code_bytes(module) == 40


def test_half_instructions_of_ptxplus_take_4_bytes() -> None:
    assert code_bytes(kernel("mov.half.u32 $r1, $r2; mov.u32 $r1, $r2; exit;", PTXPLUS).module) == 20


def test_an_index_beyond_the_list_has_no_target() -> None:
    body = "T: .branchtargets A, B, C; brx.idx %r1, T; A: exit; B: exit; C: exit;"
    program = lowered(body)
    assert steps(program) == [codes.TARGET] * 4 + [codes.CHECK_TARGET]
    assert fields(program, "e")[:4] == [-1, 1, 2, 3]  # of all lanes first
    assert [constant(program, row) for row in fields(program, "b")[:4]] == [0, 0, 1, 2]
    assert fields(program, "c")[4] == 3
    assert program.instructions[0]["kind"] == p.INDIRECT


def test_a_label_of_a_block_is_its_own() -> None:
    """Two blocks with a loop each, to a label of the same name: instructions 1 and 3."""
    program = lowered("mov.u32 %r1, 0; { A: bra A; } mov.u32 %r1, 0; { A: bra A; } exit;")
    assert program.instructions["target"][[1, 3]].tolist() == [1, 3]


def test_ptxplus_jumps_to_the_address_in_a_label_s_name() -> None:
    program = lowered("brx $r1; l0x00000058: exit;", PTXPLUS)
    targets = {
        constant(program, b): e
        for b, e in zip(fields(program, "b")[1:-1], fields(program, "e")[1:-1], strict=True)
    }
    assert targets == {0: 0, 8: 1, 0x58: 1}
    assert steps(program)[-1] == codes.CHECK_TARGET


def test_break_targets_of_a_kernel_share_one_stack() -> None:
    program = lowered("breakaddr L; breakaddr L; break; L: exit;", PTXPLUS)
    depth = fields(program, "a")[0]
    assert [fields(program, "a", i)[0] for i in (1, 2)] == [depth, depth]
    assert [fields(program, "d", i)[0] for i in range(3)] == [depth + 1] * 3
    assert fields(program, "c")[0] == BREAK_DEPTH
    assert fields(program, "e")[0] == 3


@pytest.mark.parametrize(
    ("text", "kind", "aligned"),
    [
        ("bar.sync 1, 64;", p.SYNC, 1),
        ("barrier.sync 1, 64;", p.SYNC, 0),
        ("barrier.sync.aligned 1, 64;", p.SYNC, 1),
        ("bar.arrive 1, 64;", p.ARRIVE, 1),
        ("bar.red.popc.u32 %r1, 1, 64, %p1;", p.COUNT, 1),
        ("bar.red.and.pred %p2, 1, 64, %p1;", p.ALL, 1),
        ("bar.red.or.pred %p2, 1, 64, !%p1;", p.ANY, 1),
    ],
)
def test_barriers(text: str, kind: int, aligned: int) -> None:
    program = lowered(text)
    record = program.instructions[0]
    assert (record["kind"], record["barrier_kind"], record["barrier_aligned"]) == (p.BARRIER, kind, aligned)
    assert steps(program)[-1] == codes.BARRIER
    assert constant(program, fields(program, "a")[-1]) == 1
    assert constant(program, fields(program, "b")[-1]) == 64


def test_what_is_refused() -> None:
    jump = "T: .branchtargets A, B; A: brx.idx %r1, T;"
    assert refusal(jump) == "a list of targets that are no labels of the kernel"
    assert refusal("cp.async.wait_group %r1;") == "a number of groups in a register"
