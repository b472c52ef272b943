"""What a form of the instruction table says of itself: its words, its operands, what it excludes."""

from ptxtool.isa.forms import Form, Term
from ptxtool.isa.table import load


def form(row: str) -> Form:
    (found,) = load({"family": f"f = [{{ {row} }}]"}).forms["f"]
    return found


def test_a_term_may_ask_for_words_or_for_their_absence() -> None:
    words = frozenset({"v2", "v4"})
    assert Term(words).holds(frozenset({"v4", "b32"}))
    assert not Term(words).holds(frozenset({"b32"}))
    assert Term(words, absent=True).holds(frozenset({"b32"}))
    assert not Term(words, absent=True).holds(frozenset({"v2"}))


def test_the_first_exclusion_of_which_every_term_holds_is_the_clash() -> None:
    found = form('ops = "w:d", mods = "a? b? c?", types = "u32 u64", not = "a b u64, c !b"')
    assert found.clash(frozenset({"a", "b", "u32"})) == ()
    assert found.clash(frozenset({"c", "b", "u32"})) == ()
    assert [t.words for t in found.clash(frozenset({"a", "b", "u64"}))] == [{"a"}, {"b"}, {"u64"}]
    assert [t.absent for t in found.clash(frozenset({"c", "u32"}))] == [False, True]


def test_a_modifier_with_a_dot_is_two_words() -> None:
    assert form('ops = "w:d", mods = "xorsign.abs?", types = "f32"').words == {"xorsign", "abs", "f32"}


def test_operands_with_a_question_mark_may_be_missing() -> None:
    found = form('ops = "w:d r:a r:b?", types = "u32"')
    assert (found.min_operands, found.max_operands) == (2, 3)


def test_a_form_is_wide_by_its_first_operand() -> None:
    assert form('ops = "w:d:2T r:a", types = "u32"').wide
    assert not form('ops = "w:d r:a:2T", types = "u32"').wide
    assert not form('ops = ""').wide
