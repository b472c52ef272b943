"""`ptxtool live`: the registers live at each instruction, of one kernel or of all."""

from pathlib import Path

import pytest
from commands import clean_data
from smallkernel import Cli


@pytest.fixture
def divergent(kernel_file: Path) -> Path:
    """The kernel with a condition that differs from lane to lane."""
    path = kernel_file.with_name("divergent.ptxplus")
    path.write_text(kernel_file.read_text().replace("s[0x0010]", "%laneid"))
    return path


def test_live_registers_of_a_warp(cli: Cli, divergent: Path) -> None:
    """The add reads $r3 and $r1; $r2 is live at the join, where lanes that jumped read what it had."""
    (kernel,) = clean_data(cli, "live", divergent)["kernels"]
    before = {step["text"]: set(step["before"]) for step in kernel["instructions"]}
    assert kernel["per"] == "warp"
    assert {"$r1", "$r2", "$r3"} <= before["add.u32 $r2, $r1, $r3;"]
    counts = [(step["count_thread"], step["count_warp"]) for step in kernel["instructions"]]
    assert counts == [(2, 2), (3, 3), (4, 4), (2, 3), (1, 1), (0, 0)]
    assert before["mov.u32 $r4, $r2;"] == {"$r2"}
    assert before["exit;"] == set()


def test_live_registers_of_a_thread(cli: Cli, kernel_file: Path) -> None:
    """A thread that adds writes $r2 before it is read."""
    (kernel,) = clean_data(cli, "live", kernel_file, "--per", "thread")["kernels"]
    before = {step["text"]: set(step["before"]) for step in kernel["instructions"]}
    assert before["add.u32 $r2, $r1, $r3;"] == {"$r1", "$r3"}


def test_an_unknown_kernel(cli: Cli, kernel_file: Path) -> None:
    result = cli("live", kernel_file, "--kernel", "j")
    assert result.exit_code == 1
    assert "error[E205]" in result.stderr


def test_live_listing(cli: Cli, kernel_file: Path, divergent: Path) -> None:
    # $r2 is live from the start: the branch may go around its definition; $r124 and $o127 are never live
    expected = """\
k: live registers   ^ defined  v used  x both  : live through
thread: what one thread may still read; warp: also what lanes hold that wait while others run a side of a branch
                                                                  $ $ $ $ $
                                                                  r r r r p
line                                               thread   warp  1 2 3 4 0
   9  mov.u32 $r1, $r124;                               2      2  ^ : :
  10  set.le.s32.s32 $p0/$o127, s[0x0010], $r124;       3      3  : : :   ^
  11  @$p0.ne bra L1;                                   4      4  : : :   v
  12  add.u32 $r2, $r1, $r3;                            2      2  v ^ v
  14  mov.u32 $r4, $r2;                                 1      1    v   ^
  15  exit;                                             0      0
"""
    assert cli("live", kernel_file).stdout == expected
    assert (
        "  12  add.u32 $r2, $r1, $r3;                          2      3  v ^ v\n"
        in cli("live", divergent).stdout
    )


def test_width(cli: Cli, kernel_file: Path) -> None:
    lines = cli("live", kernel_file, "--width", "70").stdout.splitlines()
    assert lines[1:3] == [
        "thread: what one thread may still read; warp: also what lanes hold",
        "that wait while others run a side of a branch",
    ]
    assert max(map(len, lines)) <= 70
    assert cli("live", kernel_file, "--width", "20").exit_code == 2
    refused = cli("live", kernel_file, "--width", "70", "--json")
    assert (refused.exit_code, "--width is of the listing" in refused.stderr) == (2, True)


def test_live_per_thread_differs_where_lanes_wait(cli: Cli, divergent: Path) -> None:
    def before(per: str) -> list[list[str]]:
        (kernel,) = clean_data(cli, "live", divergent, "--per", per)["kernels"]
        return [i["before"] for i in kernel["instructions"]]

    # a lane that takes the branch waits at L1 with its $r2 while the others run line 12, which kills theirs
    assert before("warp")[3] == ["$r1", "$r2", "$r3"]
    assert before("thread")[3] == ["$r1", "$r3"]


def test_vector_files(cli: Cli, kernel_file: Path, tmp_path: Path) -> None:
    from ptxtool import api

    (kernel,) = clean_data(cli, "live", kernel_file)["kernels"]
    for form in ("json", "npz", "finereg"):
        path = tmp_path / form
        assert cli("live", kernel_file, "--format", form, "-o", path).exit_code == 0
        vectors = api.read_vectors(path)
        assert [list(vectors.live(pc)) for pc in vectors.pcs] == [i["before"] for i in kernel["instructions"]]
    assert "LIVE_K_H" in cli("live", kernel_file, "--format", "c").stdout
