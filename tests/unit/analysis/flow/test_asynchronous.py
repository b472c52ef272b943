"""What asynchronous instructions leave in flight, and what waits for it."""

import pytest

from ptxtool.analysis.flow.asynchronous import launched, passed
from ptxtool.base.source import Source
from ptxtool.ir.nodes import Immediate, Instruction
from ptxtool.parse.build import opcode


def node(text: str, *operands: str) -> Instruction:
    return Instruction(0, 0, None, opcode(text), tuple(map(Immediate, operands)), Source("k.ptx", text))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "wgmma"),
        ("wgmma.commit_group.sync.aligned", ""),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32", "ld"),
        ("tcgen05.st.sync.aligned.32x32b.x1.b32", "st"),
        ("tcgen05.mma.cta_group::1.kind::f16", ""),
        ("ld.global.u32", ""),
    ],
)
def test_what_is_launched(text: str, kind: str) -> None:
    assert launched(node(text)) == kind


@pytest.mark.parametrize(
    ("text", "operand", "kind", "age", "expected"),
    [
        ("tcgen05.wait::ld.sync.aligned", "", "ld", 0, (True, 0)),
        ("tcgen05.wait::st.sync.aligned", "", "ld", 0, (False, 0)),
        ("wgmma.commit_group.sync.aligned", "", "wgmma", 0, (False, 1)),
        ("wgmma.commit_group.sync.aligned", "", "wgmma", 16, (False, 16)),
        ("wgmma.wait_group.sync.aligned", "0", "wgmma", 0, (False, 0)),  # its group is not committed
        ("wgmma.wait_group.sync.aligned", "0", "wgmma", 1, (True, 1)),
        ("wgmma.wait_group.sync.aligned", "1", "wgmma", 1, (False, 1)),
        ("wgmma.wait_group.sync.aligned", "1", "wgmma", 2, (True, 2)),
    ],
)
def test_waits(text: str, operand: str, kind: str, age: int, expected: tuple[bool, int]) -> None:
    assert passed(node(text, *filter(None, [operand])), kind, age) == expected
