"""The numbers of registers in the scoreboard: hand-worked."""

import numpy as np

from ptxsim.base.program import copied_instructions, instruction_records
from ptxsim.lowering.scoreboard_order import order_registers


def test_registers_are_in_the_order_in_which_they_are_named() -> None:
    records = instruction_records(3)
    for record, named in zip(records, ([5, 2], [], [2, 0, 5, 7]), strict=True):
        record["n_registers"] = len(named)
        record["register"][: len(named)] = named
    before = copied_instructions(records)
    order = order_registers(records, 8)
    assert order.tolist() == [5, 2, 0, 7, 1, 3, 4, 6]
    assert records["register"][0, :3].tolist() == [0, 1, 0]  # the last is none
    assert records["register"][2, :4].tolist() == [1, 2, 0, 3]
    assert np.array_equal(order[records["register"][2, :4]], before["register"][2, :4])


def test_a_program_without_registers() -> None:
    assert order_registers(instruction_records(2), 0).tolist() == []
