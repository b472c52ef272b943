"""Banks that an instruction uses for warp 0: bank = register number modulo 16 (timing-model section 1.5)."""

import pytest
from built import GPU, kernel_of

from ptxsim.lowering.lower import lower
from ptxsim.timing.banks import bank_turn, banks_of, banks_of_warp
from ptxtool.formats.settings import with_settings


@pytest.mark.parametrize(
    ("text", "at_once", "written", "read"),
    [
        ("add.u32 %r3, %r4, %r5;", 2, 1 << 3, 1 << 4 | 1 << 5),
        ("add.u32 %r3, %r4, %r5;", 1, 1 << 3, 0),  # more operands than are read in a cycle
        ("add.u32 %r17, %r2, %r5;", 2, 1 << 1, 1 << 2 | 1 << 5),  # register 17 is in bank 1
        ("add.u32 %r3, %r2, %r18;", 2, 1 << 3, 0),  # both operands in bank 2
        ("add.u32 %r3, %r4, 1;", 1, 1 << 3, 1 << 4),
        ("mov.u32 %r3, 5;", 1, 1 << 3, 0),
        ("mov.b64 {%r3, %r4}, %l1;", 1, 1 << 3 | 1 << 4, 1 << 1),
        ("st.global.u32 [%l2], %r6;", 2, 0, 1 << 2 | 1 << 6),
        ("mad.lo.u32 %r1, %r2, %r3, %r4;", 3, 1 << 1, 0b11100),
        ("mad.lo.u32 %r1, %r2, %r3, %r4;", 2, 1 << 1, 0),
    ],
)
def test_banks_that_an_instruction_writes_and_reads_at_once(
    text: str, at_once: int, written: int, read: int
) -> None:
    program = lower(kernel_of(text), GPU, (32, 1, 1))
    found = banks_of(program, with_settings(GPU, [f"pipeline.collector_reads={at_once}"]))
    assert tuple(int(masks[0]) for masks in found) == (written, read)


def test_a_machine_with_fewer_banks_has_conflicts_of_its_own() -> None:
    program = lower(kernel_of("add.u32 %r3, %r1, %r5;"), GPU, (32, 1, 1))
    two = with_settings(GPU, ["pipeline.collector_reads=2"])
    reads = [
        int(banks_of(program, with_settings(two, [f"pipeline.register_banks={n}"]))[1][0]) for n in (8, 4)
    ]
    assert reads == [1 << 1 | 1 << 5, 0]


BY_NUMBER = with_settings(
    GPU,
    [
        'pipeline.bank_function="reg"',
        "pipeline.collector_reads=4",
        "pipeline.register_banks=16",
        "sm.register_partitions=4",
    ],
)


@pytest.mark.parametrize(
    ("text", "written", "read"),
    [  # four banks of each partition; %l3 is the pair of registers 6 and 7
        ("add.u32 %r3, %r4, %r5;", 1 << 3, 1 << 0 | 1 << 1),
        ("add.u32 %r6, %r1, %r5;", 1 << 2, 0),  # both operands in bank 1
        ("add.u64 %l1, %l2, %l3;", 1 << 2, 1 << 0 | 1 << 2),  # registers 2, 4 and 6
        ("add.u64 %l1, %l1, %l3;", 1 << 2, 0),  # 2 and 6
        ("selp.u32 %r3, %r4, %r5, %p1;", 1 << 3, 1 << 0 | 1 << 1),  # a predicate is in no bank
        ("setp.eq.u32 %p1, %r4, %r5;", 0, 1 << 0 | 1 << 1),
    ],
)
def test_banks_by_the_number_of_the_register_that_a_name_means(text: str, written: int, read: int) -> None:
    program = lower(kernel_of(text), BY_NUMBER, (32, 1, 1))
    assert tuple(int(masks[0]) for masks in banks_of(program, BY_NUMBER)) == (written, read)


def test_the_banks_of_the_next_warp() -> None:
    """In the next partition by number, in the next bank by number and warp."""
    assert (banks_of_warp(GPU), bank_turn(GPU)) == (16, 1)
    assert (banks_of_warp(BY_NUMBER), bank_turn(BY_NUMBER)) == (4, 4)
