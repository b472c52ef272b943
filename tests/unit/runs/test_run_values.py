"""What a run gives to its passes: the texts of pipelines, and of the runs that are planned with them."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from scalekernel import SCALE
from tinysweep import write

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.results.sweeps import Configuration
from ptxtool.runs.run_values import for_run
from ptxtool.sweep.plan import plan

TILE = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry tile(.param .u64 x)
{
\t.reg .b32 %r<5>;
\t.reg .b64 %rd<4>;
\t.shared .align 4 .b8 tile[30000];
\tld.param.u64 %rd1, [x];
\tmov.u32 %r1, %tid.x;
\tmul.wide.u32 %rd2, %r1, 4;
\tadd.s64 %rd3, %rd1, %rd2;
\tmov.u32 %r2, 7;
\tst.shared.u32 [tile+20000], %r2;
\tst.shared.u32 [tile+8000], %r2;
\tst.shared.u32 [tile], %r2;
\tst.global.u32 [%rd3], %r2;
\tret;
}
"""
"""Of 30000 bytes 15000 are private at 50%, 3000 at 90%."""
LAUNCH = 'grid = 1\nblock = 32\n[[args]]\nname = "x"\ntype = "u32"\ncount = 32\nvalue = 0\noutput = true\n'


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        ("unroll-decls", "unroll-decls"),
        ("release-scratchpad{share=run}", "release-scratchpad{share=25/2}"),
        ("release-registers{share=run,registers=run}", "release-registers{share=90,registers=20}"),
        ("release-registers:share=run:registers=run", "release-registers:share=90:registers=20"),
        ("layout-shared:share=run,allocate:max-regs=9", "layout-shared:share=25/2,allocate:max-regs=9"),
        (
            "a, hoist-last-access{registers = run, share= run }",
            "a, hoist-last-access{registers=20,share=25/2}",
        ),
        ("reorder-decls{order=late,share=run,counts=run}", "reorder-decls{order=late,share=90,counts=run}"),
        (
            "split-tail-ranges{share=runs},release-registers{share=50}",
            "split-tail-ranges{share=runs},release-registers{share=50}",
        ),
    ],
)
def test_the_text_of_a_pipeline(pipeline: str, expected: str) -> None:
    assert for_run(pipeline, Fraction(90), Fraction("12.5"), lambda: 20) == expected


def test_registers_that_nobody_says_are_the_kernels_own() -> None:
    given = "split-tail-ranges{share=run,registers=run},release-registers{registers=run}"
    assert (
        for_run(given, Fraction(0), Fraction(0), lambda: None)
        == "split-tail-ranges{share=0},release-registers{}"
    )
    assert (
        for_run("release-registers:registers=run", Fraction(0), Fraction(0), lambda: None)
        == "release-registers"
    )


def test_registers_are_not_asked_for_without_need() -> None:
    def unasked() -> int:
        raise AssertionError

    assert for_run("layout-shared{share=run}", Fraction(0), Fraction(5), unasked) == "layout-shared{share=5}"


@pytest.fixture
def tile(tmp_path: Path) -> Configuration:
    (tmp_path / "tile.ptx").write_text(TILE)
    (tmp_path / "tile.toml").write_text(LAUNCH)
    return Configuration(tmp_path / "tile.ptx", passes="release-scratchpad{share=run}")


def test_marks_stand_where_each_run_wants_them(tile: Configuration) -> None:
    runs = [replace(tile, share_scratchpad=percent) for percent in (0, 50, 90)]
    lines = [planned.task.text.splitlines() for planned in plan(runs, api.kernel)]
    mark = '\t.pragma "release_scratchpad";'
    assert mark not in lines[0]
    before = [text[text.index(mark) - 1] for text in lines[1:]]
    assert before == ["\tst.shared.u32 [tile+20000], %r2;", "\tst.shared.u32 [tile+8000], %r2;"]


def test_a_pass_about_registers_shares_nothing_where_scratchpad_is_shared(tile: Configuration) -> None:
    asked = "split-tail-ranges{share=run,registers=run},release-registers{share=run,registers=run}"
    other = replace(tile, passes=asked, share_scratchpad=90)
    (planned,) = plan([other], api.kernel)
    assert planned.task.text == TILE


def test_the_baseline_is_one_run_with_and_without_passes(tile: Configuration) -> None:
    passes = "layout-shared{share=run},hoist-last-access{share=run,registers=run},delay-first-use{share=run}"
    first, second = plan([replace(tile, passes=passes), replace(tile, passes="")], api.kernel)
    assert first.key == second.key
    assert first.configuration.axes["passes"] == passes


def test_registers_of_the_run_go_before_those_of_its_launch(tmp_path: Path) -> None:
    write(tmp_path)  # whose launch has 20: 10 are private, and %rd3 is the 12th
    (tmp_path / "scale.ptx").write_text(SCALE.replace("\tret;", "\tmov.u32 %r1, 1;\n" * 9 + "\tret;"))
    run = Configuration(tmp_path / "scale.ptx", share_registers=50, label="asked")
    texts = set()
    for registers, said in ((None, 20), (40, 40)):
        asked = replace(run, registers=registers, passes="release-registers{share=run,registers=run}")
        reported = replace(asked, label="reported", passes=f"release-registers{{share=50,registers={said}}}")
        one, other = plan([asked, reported], api.kernel)
        assert one.task.text == other.task.text
        texts.add(one.task.text)
    assert len(texts) == 2


def test_launches_that_differ_in_registers(tile: Configuration, tmp_path: Path) -> None:
    args = LAUNCH.partition("[[args]]")[2]
    steps = "".join(f'[[launch]]\ngrid = 1\nblock = 32\nregisters = {n}\nargs = ["x"]\n' for n in (20, 24))
    (tmp_path / "tile.toml").write_text(f"[[args]]{args}{steps}")
    plan([tile], api.kernel)
    wants = replace(tile, passes="release-registers{share=run,registers=run}")
    with pytest.raises(
        PtxError, match=r"tile.toml:1\d:.*E502.*different registers per thread\n(.*\n)*.*at the head"
    ):
        plan([wants], api.kernel)
    plan([replace(wants, registers=24)], api.kernel)
