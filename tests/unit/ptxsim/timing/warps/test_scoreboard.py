"""The scoreboard: distances of dependent instructions (timing-model section 1.4)."""

from microkernels.measure import cost, lines, slope


def test_a_write_waits_for_a_write_and_not_for_a_read() -> None:
    # write after write: D = L + 5 + s, as for a read
    assert cost("mov.u32 %r1, %r2;")() == 1 + 5 + 1
    assert cost("mov.u32 %r1, 5;")() == 1 + 5 + 0
    # write after read: two independent instructions in three cycles
    pair = lines("mov.u32 %r{k}, %r{a};\n\tmov.u32 %r{a}, 5;", 6)
    assert slope(pair, few=2, many=6) / 6 == 3
