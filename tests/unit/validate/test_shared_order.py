"""The proof of an order of shared variables finds whatever else changed."""

from ptxtool.parse import parse
from ptxtool.validate.shared_order import check_shared_order

HEAD = (
    ".version 7.0\n.target sm_70\n.address_size 64\n.shared .b32 outer;\n.entry k()\n{\n\t.reg .b32 %r<2>;\n"
)
A, B = ".shared .align 4 .b8 v0[16];", ".shared .align 4 .b8 v1[16];"
CODE = "st.shared.u32 [v0], %r1;\n\tst.shared.u32 [v1], %r1;"


def source(*lines: str) -> str:
    return HEAD + "".join(f"\t{line}\n" for line in lines) + "\tret;\n}\n"


BEFORE = source(A, B, CODE)


def problems(after: str, before: str = BEFORE) -> list[str]:
    return [d.message for d in check_shared_order(parse(before), parse(after))]


def test_declarations_trade_places() -> None:
    assert problems(source(B, A, CODE)) == []


def test_nothing_else_changes() -> None:
    assert problems(BEFORE.replace("[v1], %r1", "[v0], %r1")) == [
        "something besides declarations of shared variables changed"
    ]
    others = "the declarations of shared variables are not the same ones"
    assert others in problems(BEFORE.replace("v0[16]", "v0[12]"))
    assert any("declared twice" in p for p in problems(BEFORE.replace("v0[16]", "v1[16]")))


def test_no_kernel_takes_more_scratchpad() -> None:
    """An alignment to 32 bytes puts the second variable at 32, and 16 bytes before it go unused."""
    wide = B.replace(".align 4", ".align 32")
    assert problems(source(A, wide, CODE), source(wide, A, CODE)) == [
        "'k' takes 48 bytes of scratchpad, which were 32"
    ]


def test_no_declaration_leaves_its_function() -> None:
    inner, outer = ".shared .align 4 .b8 v0[16];", ".shared .b32 outer;"
    traded = BEFORE.replace(outer, "@").replace(inner, outer).replace("@", inner)
    assert problems(traded) == ["the declarations of shared variables are not the same ones"]
