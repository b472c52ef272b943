"""The instruction table as text: notation worked out by hand, and docs/isa.md current."""

import pytest
from checkout import CHECKOUT

from ptxtool.isa.forms import Form
from ptxtool.isa.table import load, table
from ptxtool.report.kernels.instructions import form_data, form_lines, forms_of, markdown, opcodes


def forms(row: str) -> tuple[Form, ...]:
    return load(
        {"family": f'op = [{{ {row} }}]\n[groups]\nrnd = "rn|rz"\nlong = "{"|".join("abcdefghijklmn")}"'}
    ).forms["op"]


@pytest.mark.parametrize(
    ("row", "lines"),
    [
        ('ops = "w:d r:a r:b", mods = "sat?", types = "s32"', ["op{.sat}.s32  d, a, b"]),
        ('ops = "p:d:pred r:c:!pred?", mods = "$rnd", types = "u32 s32"', ["op.rn|.rz.u32|.s32  d|p:pred, c:!pred?"]),
        ('ops = "w:d:Nx~T m:a", mods = "v2|v4?", types = "b32"', ["op{.v2|.v4}.b32  {d}:n x type, [a]"]),
        ('ops = "w:d:2T r:a r:l:imm(0..7)|u32", types = "u16"', ["op.u16  d:2 * type, a, l:imm(0..7)|u32"]),
        ('ops = "", mods = "$long"', ["op.long", "    .long = " + " ".join(f".{c}" for c in "abcdefghijklmn")]),
        (
            'ops = "w:d", types = "u16 u32 u64 s16 s32 s64"',
            ["op.type  d", "    .type = .u16 .u32 .u64 .s16 .s32 .s64"],
        ),
        (
            'ops = "w:d", types = "f32 bf16", ptx = "7.0", sm = "80", since = "bf16 7.8 90", sem = "x"',
            ["op.f32|.bf16  d  PTX 7.0 sm_80, .bf16 PTX 7.8 sm_90, sim"],
        ),
        (
            'ops = "w:d:T|_", types = "f32 f64", ptx = "2.0", sm = "20", since = "f32 1.4, f64 2.0 13", '
            'until = "6.3 62"',
            ["op.f32|.f64  d:type|_  PTX 2.0 sm_20, until PTX 6.3 sm_62"],
        ),
        (
            'ops = "w:d", mods = "$long? x|y", types = "u32", since = "$long|x 2.0, y 3.0 90a, u32 3.1 35", '
            'not = "$long x, y !u32"',
            [
                "op{.long}.x|.y.u32  d",
                "    since .long|.x PTX 2.0, .y PTX 3.0 sm_90a, .u32 PTX 3.1 sm_35",
                "    not .long with .x; .y without .u32",
                "    .long = " + " ".join(f".{c}" for c in "abcdefghijklmn"),
            ],
        ),
        ('ops = "r:a:N/2xb32", mods = "x4|x8", dialect = "ptxplus"', ["op.x4|.x8  {a}:n/2 x b32  ptxplus"]),
    ],
)  # fmt: skip
def test_notation(row: str, lines: list[str]) -> None:
    assert form_lines(forms(row)) == lines


def test_operands_stand_under_each_other() -> None:
    made = load({"family": 'a = [{ ops = "w:d" }]\n"a.longer" = [{ ops = "w:d" }]'})
    assert form_lines(forms_of(made, "a")) == ["a         d", "a.longer  d"]


def test_a_beginning_names_its_forms() -> None:
    made = load({"family": 'a = [{ ops = "w:d" }]\n"a.b.c" = [{ ops = "w:d" }]\nab = [{ ops = "w:d" }]'})
    assert [f.base for f in forms_of(made, "a")] == ["a", "a.b.c"]
    assert [f.base for f in forms_of(made, "a.b")] == ["a.b.c"]
    assert opcodes(made) == ["a", "ab"]


def test_data() -> None:
    (form,) = forms('ops = "w:d r:a", mods = "ftz?", types = "f32", effects = "load", ptx = "2.0"')
    data = form_data(form)
    assert data["modifiers"][0] == {"alternatives": ["ftz"], "optional": True, "is_type": False}
    assert data["operands"][1] == {"name": "a", "role": "r", "classes": ["type"], "optional": False}
    assert (data["effects"], data["since"], data["dialect"]) == (["load"], {"form": "PTX 2.0"}, "both")


def test_what_is_not_simulated_is_listed_by_reason() -> None:
    rows = (
        'ops = "", refused = "needs two"',
        'ops = "", mods = "x", sem = "f"',
        'ops = "", mods = "y", refused = "needs two"',
    )
    made = load({"family": 'title = "T"\na = [' + ", ".join(f"{{ {row} }}" for row in rows) + "]"})
    text = markdown(made)
    assert text.endswith("\n## Not simulated\n\nNeeds two:\n\n```text\na\na.y\n```\n")
    assert [form_data(form).get("refused") for form in made.forms["a"]] == ["needs two", None, "needs two"]
    assert "## Not simulated" not in markdown(load({"family": 'title = "T"\na = [{ ops = "" }]'}))


def test_the_document_is_current(request: pytest.FixtureRequest) -> None:
    path = CHECKOUT / "docs" / "isa.md"
    text = markdown(table())
    if request.config.getoption("bless"):
        path.write_text(text, encoding="utf-8", newline="")
    assert path.read_text(encoding="utf-8") == text, "run: ptxtool isa --markdown -o docs/isa.md"
