"""A text read again after an edit is the text read whole."""

from itertools import chain
from pathlib import Path

import pytest
from random_edits import edits, typed

from ptxtool.base.diag import Diagnostic
from ptxtool.base.source import Source
from ptxtool.parse import incremental
from ptxtool.parse.incremental import moved_diagnostics, names_line, read, reread

HAND = Path(__file__).parents[2] / "hand"
KERNEL = """\
.version 7.5
.target sm_75
.address_size 64
.entry k()
{
	.reg .u32 %r<3>;
""" + "".join(f"	add.u32 %r1, %r2, {n};\n" for n in range(40)) + "	ret;\n}\n"  # fmt: skip


@pytest.mark.parametrize("name", ["calls.ptx", "control_nested.ptx", "control.ptxplus"])
def test_edits_give_the_same_as_reading_whole(name: str) -> None:
    text = (HAND / name).read_text(encoding="utf-8")
    found = read(Source(name, text))
    for changed in chain(edits(text, 60, seed=2), typed(text, 4, seed=2)):
        source = Source(name, changed)
        found = reread(found, source)
        assert found == read(source)
        for function in found.module.functions.values() if found.module else ():
            assert all(node.source is found.source for node in function.instructions)


def test_a_keystroke_reads_only_what_is_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = read(Source("k", KERNEL))
    changed = KERNEL.replace("%r2, 20;", "%r2, 201;")
    wanted = read(Source("k", changed))

    def fail(source: Source) -> object:
        raise AssertionError("read whole")

    monkeypatch.setattr(incremental, "read", fail)
    assert reread(before, Source("k", changed)) == wanted
    broken = reread(before, Source("k", KERNEL.replace("%r2, 20;", "%r2, 20")))
    assert [e.line for e in broken.errors] == [28]  # the line after the one without ';'
    assert reread(broken, Source("k", changed)) == wanted


@pytest.mark.parametrize(
    "new",
    [
        KERNEL.replace("7.5", "7.8"),
        KERNEL.replace("%r2, 20;", "%r2, 20; }"),
        KERNEL.replace("%r2, 20;", "%r2, 20; {"),
        KERNEL.replace("%r2, 20;", "/* %r2, 20;"),
        KERNEL.replace("%r2, 20;", "%r2, 20; .version 1.4+"),
        KERNEL.replace("add.u32 %r1, %r2, 20;", ".entry q() { ret; }"),
        "",
    ],
)
def test_what_is_unusual_is_read_whole(new: str) -> None:
    assert reread(read(Source("k", KERNEL)), Source("k", new)) == read(Source("k", new))


def test_diagnostics_move_with_their_text() -> None:
    old = Source("k", "ab;cd;ef;")
    found = [Diagnostic("E201", "m", old, a, a + 2) for a in (0, 3, 6)]
    new = Source("k", "ab;cXXd;ef;")
    moved = moved_diagnostics(found, old.text, new)
    assert [(d.start, d.end) for d in moved] == [(0, 2), (8, 10)]
    assert all(d.source is new for d in moved)


def test_names_line() -> None:
    assert names_line(Diagnostic("E101", "the '{' of line 12 is not closed"))
    assert not names_line(Diagnostic("E101", "a line is missing"))
