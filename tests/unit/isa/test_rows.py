"""Reading rows of the instruction table: what the columns become, and that contradictions are refused."""

import pytest

from ptxtool.isa.forms import Form, Since
from ptxtool.isa.operands import TableError
from ptxtool.isa.rows import read_forms
from ptxtool.isa.table import load

GROUPS = {"sizes": "x|y", "later": "x|u64 3.1 35, z 9.0", "apart": "x z, y u64"}


def row(**columns: str) -> Form:
    (form,) = read_forms("f", [{"ops": "w:d", **columns}], GROUPS, "family")
    return form


def test_the_type_stands_at_the_end_unless_a_row_says_where() -> None:
    assert [g.slot for g in row(mods="a?", types="u32").groups] == ["", "T"]
    assert [g.slot for g in row(mods="T a?", types="u32").groups] == ["T", ""]


def test_a_named_group_keeps_its_name() -> None:
    sizes, optional = row(mods="$sizes ^$sizes?").groups
    assert (sizes.name, sizes.alternatives, sizes.optional, sizes.leading) == (
        "sizes",
        ("x", "y"),
        False,
        False,
    )
    assert (optional.optional, optional.leading) == (True, True)
    (mixed,) = row(mods="$sizes|z").groups
    assert (mixed.name, mixed.alternatives) == ("", ("x", "y", "z"))


def test_a_group_of_items_says_what_came_later() -> None:
    assert row(mods="h? $sizes?", types="u32 u64", since="h 2.0, $later").since == {
        "": Since(),
        "h": Since((2, 0)),
        "x": Since((3, 1), ("35",)),
        "u64": Since((3, 1), ("35",)),
    }


def test_of_a_group_of_exclusions_those_count_that_speak_of_the_form() -> None:
    (exclusion,) = row(mods="$sizes", types="u32 u64", **{"not": "$apart"}).exclusions
    assert [t.words for t in exclusion] == [{"y"}, {"u64"}]


def test_registers_without_an_operand() -> None:
    assert row(implicit="w:cc r:cc").implicit == (("w", "cc"), ("r", "cc"))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"stypes": "u32"}, "column 'stypes' without 'S' in mods"),
        ({"sem": "f", "refused": "needs several GPUs"}, "a meaning, and the reason why there is none"),
        ({"ops": "w:d r:a? r:b"}, "an optional operand before one that is not"),
        ({"ops": "w:d:S", "types": "u32"}, "operand 'd' has the type 'S', which the row has not"),
        ({"ptx": "7"}, "'7' is no PTX version"),
        ({"sm": "80x"}, "bad targets"),
        ({"since": "q 2.0"}, "'since' speaks of 'q'"),
    ],
)
def test_the_opcode_stands_before_what_is_wrong(columns: dict[str, str], message: str) -> None:
    with pytest.raises(TableError, match=f"^f: {message}"):
        row(**columns)


@pytest.mark.parametrize(
    "text",
    [
        'add = [{ ops = "w:d" }]\nadd = [{ ops = "r:d" }]',  # twice the same key
        ' add = [{ ops = "w:d" }]',  # a key that does not begin its line
        'add = [{ ops = "w:d", colour = "red" }]',  # no such column
        'add = [{ ops = "d" }]',  # a role without a name
        'add = [{ ops = "z:d" }]',  # no such role
        'add = [{ ops = "w:d", types = "q32" }]',
        'add = [{ ops = "w:d", mods = "$nothing" }]',
        'add = [{ ops = "w:d", effects = "explode" }]',
        'add = [{ ops = "w:d", mods = "a|b", not = "a" }]',  # alone it is no combination
        'add = [{ ops = "w:d", mods = "a|b", not = "a c" }]',  # .c is no modifier of the form
        'add = [{ ops = "w:d r:a?c", mods = "a|b" }]',
        'add = [{ ops = "w:d", types = "u32" }, { ops = "w:d", types = "u32" }]',  # twice the same
        "add = [{ ops = 'w:d' }]",  # TOML that the table's expressions do not read
        'add = [{ ops = "w:\\u0064" }]',
        'add = [{ "ops" = "w:d" }]',
        "title = 'Sums'",
        "[groups]\nrnd = 'rn|rz'",
    ],
)
def test_a_contradiction_is_refused(text: str) -> None:
    with pytest.raises(TableError):
        load({"family": text})


@pytest.mark.parametrize(
    ("until", "version", "target", "gone"),
    [
        ("", (9, 0), 100, False),
        ("1.3", (1, 3), 100, False),
        ("1.3", (1, 4), 10, True),
        ("13", (9, 0), 13, False),
        ("13", (1, 0), 20, True),
        ("6.3 62", (6, 4), 62, False),
        ("6.3 62", (6, 3), 70, False),
        ("6.3 62", (6, 4), 70, True),
    ],
)
def test_until(until: str, version: tuple[int, int], target: int, gone: bool) -> None:
    (form,) = load({"family": f'add = [{{ ops = "w:d", until = "{until}" }}]'}).forms["add"]
    assert form.is_gone(version, target) is gone


def test_a_group_may_go_on_in_further_lines() -> None:
    text = 'add = [\n  # of {integers}\n  { ops = "w:d", mods = "$all" },\n]\n[groups]\nall = """\\\n  a|b|\\\n  c"""\n'
    (form,) = load({"family": text}).forms["add"]
    assert [group.alternatives for group in form.groups] == [("a", "b", "c")]
