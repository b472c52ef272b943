"""`ptxtool live`: the registers live at each instruction, of one kernel or of all."""

from pathlib import Path

from commands import clean_data
from smallkernel import Cli


def test_live_registers_of_a_warp(cli: Cli, kernel_file: Path) -> None:
    """The add reads $r3 and $r1; $r2 is live at the join, where lanes that jumped read what it had."""
    (kernel,) = clean_data(cli, "live", kernel_file)["kernels"]
    before = {step["text"]: set(step["before"]) for step in kernel["instructions"]}
    assert kernel["per"] == "warp"
    assert {"$r1", "$r2", "$r3"} <= before["add.u32 $r2, $r1, $r3;"]
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


def test_live_listing(cli: Cli, kernel_file: Path) -> None:
    # $r2 is live from the start: the branch may go around its definition; $r124 and $o127 are never live
    expected = """\
k: live registers per warp   ^ defined  v used  x both  : live through
                                                        $ $ $ $ $
                                                        r r r r p
line                                             count  1 2 3 4 0
 9  mov.u32 $r1, $r124;                              2  ^ : :
10  set.le.s32.s32 $p0/$o127, s[0x0010], $r124;      3  : : :   ^
11  @$p0.ne bra L1;                                  4  : : :   v
12  add.u32 $r2, $r1, $r3;                           3  v ^ v
14  mov.u32 $r4, $r2;                                1    v   ^
15  exit;                                            0
"""
    assert cli("live", kernel_file).stdout == expected


def test_live_per_thread_differs_where_lanes_wait(cli: Cli, kernel_file: Path) -> None:
    def before(per: str) -> list[list[str]]:
        (kernel,) = clean_data(cli, "live", kernel_file, "--per", per)["kernels"]
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
