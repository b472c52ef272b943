"""Special registers."""

from ptxtool.isa.special import special
from ptxtool.isa.types import TYPES


def test_a_vector_has_parts_also_by_number() -> None:
    tid = special("%tid")
    assert tid is not None
    assert (tid.type, tid.scope) == ("u32", "lane")
    assert all(tid.has_part(part) for part in ("", "x", "y", "z", "0", "1", "2"))
    assert not tid.has_part("lo")


def test_scalars() -> None:
    for name, type_, scope in [
        ("%laneid", "u32", "lane"),
        ("%warpid", "u32", "warp"),
        ("%ctaid", "u32", "cta"),
        ("%smid", "u32", "sm"),
        ("%ntid", "u32", "grid"),
        ("%clock64", "u64", "time"),
        ("%envreg31", "b32", "grid"),
        ("%pm7_64", "u64", "time"),
        ("WARP_SZ", "u32", "grid"),
    ]:
        found = special(name)
        assert found is not None
        assert (found.type, found.scope) == (type_, scope), name
        assert found.type in TYPES


def test_other_names_are_none() -> None:
    assert special("%r1") is None
    assert special("%envreg32") is None
    assert special("tid") is None
