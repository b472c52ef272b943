"""The reports on the small kernel of `smallkernel.py`: what each prints, as text and as JSON."""

import json
from pathlib import Path
from typing import Any

from smallkernel import KERNEL, Cli


def data(cli: Cli, *arguments: object) -> Any:
    result = cli(*arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_check_counts_what_is_in_the_file(cli: Cli, kernel_file: Path) -> None:
    result = cli("check", kernel_file)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{kernel_file}: ok, 1 kernel, 6 instructions\n"


def test_first_use_orders_by_the_text(cli: Cli, kernel_file: Path) -> None:
    (kernel,) = data(cli, "first-use", kernel_file)["kernels"]
    # declared: $r0-$r4 1-5, $r124 6, $o127 7, $p0 8, $p1 9
    assert [(r["name"], r["before"], r["after"], r["line"]) for r in kernel["registers"]] == [
        ("$r1", 2, 1, 9),
        ("$r124", 6, 2, 9),
        ("$p0", 8, 3, 10),
        ("$o127", 7, 4, 10),
        ("$r2", 3, 5, 12),
        ("$r3", 4, 6, 12),
        ("$r4", 5, 7, 14),
        ("$r0", 1, 8, None),
        ("$p1", 9, 9, None),
    ]


def test_first_use_says_where_sharing_stops(cli: Cli, kernel_file: Path) -> None:
    # floor(36 * 10%) = 3 private: $r124 (6) stops the first instruction before; after, $o127 (4) the second
    (kernel,) = data(cli, "first-use", kernel_file, "--share-registers", 90, "--registers", 36)["kernels"]
    assert kernel["private_registers"] == 3
    touched = kernel["first_shared"]
    assert [touched[when]["line"] for when in ("before", "after")] == [9, 10]
    assert [touched[when]["register"] for when in ("before", "after")] == ["$r124", "$o127"]
    assert [touched[when]["sequence"] for when in ("before", "after")] == [6, 4]
    text = cli("first-use", kernel_file, "--share-registers", 90, "--registers", 36).stdout
    assert "private registers: 1 to 3" in text
    assert "  before: line 9, $r124 (register 6): mov.u32 $r1, $r124;\n" in text


def test_first_use_with_nothing_beyond_the_private_ones(cli: Cli, kernel_file: Path) -> None:
    text = cli("first-use", kernel_file, "--share-registers", 10, "--registers", 36).stdout
    assert "private registers: 1 to 32" in text
    assert "before: none" in text
    assert "after:  none" in text


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
        (kernel,) = data(cli, "live", kernel_file, "--per", per)["kernels"]
        return [i["before"] for i in kernel["instructions"]]

    # a lane that takes the branch waits at L1 with its $r2 while the others run line 12, which kills theirs
    assert before("warp")[3] == ["$r1", "$r2", "$r3"]
    assert before("thread")[3] == ["$r1", "$r3"]


def test_pressure(cli: Cli, kernel_file: Path) -> None:
    (kernel,) = data(cli, "pressure", kernel_file)["kernels"]
    assert (kernel["maximum"], kernel["line"], kernel["max_predicates"]) == (3, 10, 1)
    assert kernel["curve"] == [2, 3, 3, 3, 1, 0]
    text = cli("pressure", kernel_file).stdout
    assert text.startswith("k: 3 live 32-bit registers per warp before line 10:")
    assert text.endswith("3 | ###\n2 |####\n1 |#####\n  +------\n")


def test_cfg(cli: Cli, kernel_file: Path) -> None:
    (kernel,) = data(cli, "cfg", kernel_file)["kernels"]
    assert [(b["start"], b["end"], b["idom"], b["ipdom"]) for b in kernel["blocks"]] == [
        (0, 3, None, 2),
        (3, 4, 0, 2),
        (4, 6, 0, 3),
    ]
    assert {(e["source"], e["target"]) for e in kernel["edges"]} == {(0, 1), (0, 2), (1, 2), (2, 3)}
    assert [(r["line"], r["rejoins_at"]) for r in kernel["reconvergence"]] == [(11, 4)]
    text = cli("cfg", kernel_file).stdout
    assert "line 14 (B2)" in text
    dot = cli("cfg", kernel_file, "--format", "dot").stdout
    assert dot.startswith('digraph "k" {')
    assert dot.count("{") == dot.count("}")


def test_svg_needs_graphviz_and_says_so(
    cli: Cli, kernel_file: Path, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = cli("cfg", kernel_file, "--format", "svg")
    assert result.exit_code == 1
    assert "error[E502]: drawing needs the program 'dot'" in result.stderr
    assert "--format dot" in result.stderr


def test_svg_is_what_graphviz_draws(cli: Cli, kernel_file: Path, monkeypatch: Any, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "dot"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\n[ "$1" = -Tsvg ] && echo "<svg>" && /bin/cat\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    assert cli("cfg", kernel_file, "--format", "svg").stdout.startswith('<svg>\ndigraph "k"')


def test_occupancy_without_a_file(cli: Cli) -> None:
    # hotspot of the papers: 36 registers, 256 threads, 3 resident blocks, 6 at 90% sharing
    found = data(
        cli, "occupancy", "--gpu", "tesla-c2050", "--registers", 36, "--block", 256, "--share-registers", 90
    )
    wanted = {"resident_ctas": 6, "unshared_ctas": 0, "shared_pairs": 3, "private_registers": 3}
    assert {key: found[key] for key in wanted} == wanted
    assert found["limiter"] == "registers"
    text = cli("occupancy", "--registers", 36, "--block", "16,16").stdout
    assert text.startswith("3 resident CTAs on an SM of tesla-c2050, limited by registers\n")


def test_occupancy_with_scratchpad(cli: Cli) -> None:
    # 16 KB of scratchpad: two CTAs of 7 KB and 2 KB left; at 90% sharing 2 / 0.7 = 2 more
    found = data(
        cli,
        *("occupancy", "--registers", 8, "--block", 64, "--scratchpad", 7168),
        *("--scratchpad-per-sm", 16384, "--share-scratchpad", 90),
    )
    wanted = {"resident_ctas": 4, "unshared_ctas": 0, "shared_pairs": 2, "limiter": "scratchpad"}
    assert {key: found[key] for key in wanted} == wanted
    assert found["private_scratchpad"] == 716


def test_occupancy_by_scratchpad_alone(cli: Cli) -> None:
    # 16 KB over 7200 bytes: 2 CTAs and 1984 bytes left; at 90% sharing 1984 / 720 = 2 pairs, so 4
    options = ("--block", 256, "--scratchpad", 7200, "--scratchpad-per-sm", 16384, "--share-scratchpad", 90)
    found = data(cli, "occupancy", "--gpu", "tesla-c2050", *options)
    assert (found["resident_ctas"], found["shared_pairs"], found["limiter"]) == (4, 2, "scratchpad")
    assert (found["unshared_ctas"], found["private_scratchpad"]) == (0, 720)
    assert found["limits"]["registers"] is None
    for options in ((), ("--share-registers", 90)):
        result = cli("occupancy", "--block", 256, *options)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "--registers N is needed" in result.stderr


def test_occupancy_curve(cli: Cli) -> None:
    curve = data(cli, "occupancy", "--block", 256, "--curve")["curve"]
    resident = {plan["registers"]: plan["resident_ctas"] for plan in curve}
    # 32768 / (256 * registers rounded up to 4), at most 6 by threads
    assert [resident[n] for n in (16, 20, 21, 24, 25, 32, 36, 40, 41, 63)] == [6, 6, 5, 5, 4, 4, 3, 3, 2, 2]
    text = cli("occupancy", "--block", 256, "--curve").stdout
    assert "33-40         3" in text


def test_overhead_is_that_of_the_papers(cli: Cli) -> None:
    schemes = data(cli, "overhead")["schemes"]
    assert [s["bits_per_sm"] for s in schemes] == [273, 93]
    assert "register sharing: 273 bits per SM" in cli("overhead").stdout


def test_rewrite_prints_the_text_and_remarks_apart(cli: Cli, kernel_file: Path) -> None:
    result = cli("rewrite", "-p", "unroll-decls,reorder-decls{order=text}", kernel_file)
    assert result.exit_code == 0
    declared = [line.split()[-1].rstrip(";") for line in result.stdout.splitlines() if ".reg" in line]
    assert declared == ["$r1", "$r124", "$p0", "$o127", "$r2", "$r3", "$r4", "$r0", "$p1"]
    assert result.stdout.split("exit;")[1] == KERNEL.split("exit;")[1]
    assert result.stderr.startswith("unroll-decls: k: ")


def test_rewrite_with_nothing_to_do_is_the_file(cli: Cli, tmp_path: Path) -> None:
    odd = b"// \xff not UTF-8\r\n.version 2.3\r\n.target sm_20\r\n.entry k () { ret; }"
    path = tmp_path / "odd.ptx"
    path.write_bytes(odd)
    assert cli("rewrite", "-p", "unroll-decls", path).stdout_bytes == odd


def test_list_passes(cli: Cli) -> None:
    result = cli("rewrite", "--list-passes")
    assert result.exit_code == 0
    assert "unroll-decls" in result.stdout
    assert "order=text|cfg|late (default text)" in result.stdout


def test_standard_input(cli: Cli) -> None:
    assert cli("check", "-", input=KERNEL).stdout == "<stdin>: ok, 1 kernel, 6 instructions\n"


def test_all_kernels_unless_one_is_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "two.ptxplus"
    path.write_text(KERNEL + KERNEL.split("\n", 2)[2].replace(".entry k ", ".entry second "))
    assert [k["kernel"] for k in data(cli, "live", path)["kernels"]] == ["k", "second"]
    assert [k["kernel"] for k in data(cli, "live", path, "--kernel", "second")["kernels"]] == ["second"]
    text = cli("first-use", path).stdout
    assert "\n\nsecond: " in text


def test_output_option_writes_the_same(cli: Cli, kernel_file: Path, tmp_path: Path) -> None:
    for command in (
        ["live"],
        ["pressure"],
        ["cfg"],
        ["first-use"],
        ["cfg", "--json"],
        ["cfg", "--format", "dot"],
    ):
        out = tmp_path / "out"
        silent = cli(*command, kernel_file, "-o", out)
        assert (silent.exit_code, silent.stdout) == (0, "")
        assert out.read_text() == cli(*command, kernel_file).stdout
        out.unlink()


def test_vector_files(cli: Cli, kernel_file: Path, tmp_path: Path) -> None:
    from ptxtool import api

    (kernel,) = data(cli, "live", kernel_file)["kernels"]
    for form in ("json", "npz", "finereg"):
        path = tmp_path / form
        assert cli("live", kernel_file, "--format", form, "-o", path).exit_code == 0
        vectors = api.read_vectors(path)
        assert [list(vectors.live(pc)) for pc in vectors.pcs] == [i["before"] for i in kernel["instructions"]]
    assert "LIVE_K_H" in cli("live", kernel_file, "--format", "c").stdout


def test_same_input_same_bytes_whatever_the_locale(kernel_file: Path) -> None:
    import os
    import subprocess
    import sys

    outputs = set()
    for locale, seed in (("C", "1"), ("C.UTF-8", "2"), ("POSIX", "3")):
        env = {**os.environ, "LC_ALL": locale, "PYTHONHASHSEED": seed, "PYTHONCOERCECLOCALE": "0"}
        command = [sys.executable, "-m", "ptxtool.cli.main", "cfg", "--format", "dot", str(kernel_file)]
        outputs.add(subprocess.run(command, env=env, capture_output=True, check=True).stdout)
    assert len(outputs) == 1
