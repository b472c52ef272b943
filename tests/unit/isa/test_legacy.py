"""What the first targets imply."""

import pytest

from ptxtool.isa.legacy import with_defaults
from ptxtool.isa.table import table


@pytest.mark.parametrize(
    ("opcode", "n", "version", "target", "implied"),
    [
        ("add.f32", 3, (1, 4), "sm_10", {"ftz"}),
        ("add.f32", 3, (2, 0), "compute_13", {"ftz"}),
        ("add.f32", 3, (2, 0), "sm_20", set()),
        ("add.f32", 3, (8, 6), "sm_100a", set()),
        ("add.f64", 3, (1, 4), "sm_13", set()),
        ("add.u32", 3, (1, 4), "sm_13", set()),
        ("mov.f32", 2, (1, 4), "sm_13", set()),
        ("mad.f32", 4, (1, 4), "sm_13", {"ftz"}),
        ("sin.f32", 2, (1, 3), "sm_13", {"ftz"}),
        ("div.f32", 3, (1, 3), "sm_13", {"ftz", "approx"}),
        ("div.full.f32", 3, (1, 4), "sm_13", {"ftz"}),
        ("div.f64", 3, (1, 3), "sm_13", set()),
        ("setp.lt.f32", 3, (1, 4), "sm_13", {"ftz"}),
        ("set.lt.f32.s32", 3, (1, 4), "sm_13", set()),
        ("slct.f32.s32", 4, (1, 4), "sm_13", set()),
        ("cvt.f64.f32", 2, (1, 4), "sm_13", set()),
        ("cvt.f64.f32", 2, (2, 0), "sm_13", {"ftz"}),
        ("cvt.rzi.s32.f32", 2, (1, 4), "sm_13", {"ftz"}),
    ],
)
def test_implied(opcode: str, n: int, version: tuple[int, int], target: str, implied: set[str]) -> None:
    match = table().match(opcode, n, False)
    assert match is not None
    assert with_defaults(match, version, target).modifiers - match.modifiers == implied
