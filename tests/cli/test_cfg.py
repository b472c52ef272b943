"""`ptxtool cfg`: blocks and edges, as tables or for Graphviz."""

from pathlib import Path
from typing import Any

from commands import clean_data
from smallkernel import Cli


def test_a_branch_has_three_blocks(cli: Cli, kernel_file: Path) -> None:
    (kernel,) = clean_data(cli, "cfg", kernel_file)["kernels"]
    edges = {(edge["source"], edge["target"]) for edge in kernel["edges"]}
    assert {(0, 1), (0, 2), (1, 2)} <= edges
    assert [block["ipdom"] for block in kernel["blocks"][:2]] == [2, 2]


def test_graphviz_text(cli: Cli, kernel_file: Path) -> None:
    result = cli("cfg", kernel_file, "--format", "dot")
    assert result.exit_code == 0
    assert result.stdout.startswith("digraph")


def test_json_is_a_format_of_its_own(cli: Cli, kernel_file: Path) -> None:
    result = cli("cfg", kernel_file, "--format", "dot", "--json")
    assert result.exit_code == 2
    assert "--json is a format of its own" in result.stderr


def test_cfg(cli: Cli, kernel_file: Path) -> None:
    (kernel,) = clean_data(cli, "cfg", kernel_file)["kernels"]
    assert [(b["start"], b["end"], b["idom"], b["ipdom"]) for b in kernel["blocks"]] == [
        (0, 3, None, 2),
        (3, 4, 0, 2),
        (4, 6, 0, 3),
    ]
    assert {(e["source"], e["target"]) for e in kernel["edges"]} == {(0, 1), (0, 2), (1, 2), (2, 3)}
    assert [(r["line"], r["rejoins_at"]) for r in kernel["reconvergence"]] == [(11, 4)]
    assert "take the same way: line 11" in cli("cfg", kernel_file).stdout
    divergent = kernel_file.with_name("divergent.ptxplus")
    divergent.write_text(kernel_file.read_text().replace("s[0x0010]", "%laneid"))
    assert "line 14 (B2)" in cli("cfg", divergent).stdout
    assert "dashed" in cli("cfg", divergent, "--format", "dot").stdout
    dot = cli("cfg", kernel_file, "--format", "dot").stdout
    assert "dashed" not in dot
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
