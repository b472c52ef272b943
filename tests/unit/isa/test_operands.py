"""The words of the column `ops`: what each part of a class means, and what is refused."""

import pytest

from ptxtool.isa.operands import Fit, Length, TableError, operand


@pytest.mark.parametrize(
    ("word", "fit"),
    [
        ("r:a", Fit("value", "T")),
        ("w:d:2T", Fit("value", "T", doubled=True)),
        ("w:d:~S", Fit("value", "S", relaxed=True)),
        ("r:a:%u32", Fit("value", "u32", register_only=True)),
        ("r:a:=b32", Fit("value", "b32", register_only=True, exact=True)),
        ("r:a:!pred", Fit("value", "pred", negatable=True)),
        ("p:d:&T", Fit("value", "T", paired=True)),
        ("r:a:-vsel", Fit("vsel", minus=True)),
        ("r:a:2x%b64", Fit("value", "b64", register_only=True, length=Length(2))),
        ("r:a:imm", Fit("imm")),
        ("r:a:imm(-8..7)", Fit("imm", low=-8, high=7)),
        ("r:a:imm(0..64/8)", Fit("imm", low=0, high=64, step=8)),
        ("r:a:imm(1,2,4)", Fit("imm", choices=(1, 2, 4))),
    ],
)
def test_a_class_of_one_alternative(word: str, fit: Fit) -> None:
    assert operand(word).fits == (fit,)


def test_a_class_of_several_alternatives() -> None:
    spec = operand("w:d:%T|_")
    assert [f.kind for f in spec.fits] == ["value", "_"]
    assert not spec.doubled
    assert operand("w:d:T|2T").doubled


@pytest.mark.parametrize("role", ["m", "l", "s"])
def test_these_roles_say_it_all(role: str) -> None:
    assert operand(f"{role}:a").fits == ()


def test_a_modifier_may_bring_an_operand() -> None:
    spec = operand("r:policy:b64?L2::cache_hint")
    assert (spec.name, spec.optional, spec.only_with) == ("policy", True, "L2::cache_hint")
    assert operand("r:c?").optional
    assert operand("r:c?").only_with == ""


@pytest.mark.parametrize(
    ("word", "of_none", "of_four"),
    [("r:a:NxT", 1, 4), ("r:a:N*2xT", 1, 8), ("r:a:N/2xT", 1, 2), ("r:a:3xT", 3, 3)],
)
def test_the_length_of_a_vector(word: str, of_none: int, of_four: int) -> None:
    length = operand(word).fits[0].length
    assert length is not None
    assert (length.of(0), length.of(4)) == (of_none, of_four)


@pytest.mark.parametrize("word", ["a", "r", "x:a", "r:", "r:a:q32", "r:a:imm(1..)", "r:a:~", "r:a:W"])
def test_what_is_no_operand(word: str) -> None:
    with pytest.raises(TableError):
        operand(word)
