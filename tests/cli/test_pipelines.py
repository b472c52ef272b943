"""`rewrite -p` given more than once, and what it refuses to write."""

from pathlib import Path

from smallkernel import Cli

TEXT = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
\t.reg .b32 %r<3>;
\t.reg .b64 %rd<2>;
\tld.param.u64 %rd1, [p];
\tld.global.u32 %r2, [%rd1];
\tst.global.u32 [%rd1], %r2;
\tret;
}
"""


def test_pipelines_are_chained_in_order(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(TEXT)
    both = cli("rewrite", "-p", "unroll-decls", "-p", "reorder-decls", file)
    assert both.exit_code == 0
    assert both.stdout == cli("rewrite", "-p", "unroll-decls,reorder-decls", file).stdout
    assert both.stdout.index(".reg .b64 %rd1;") < both.stdout.index(".reg .b32 %r2;")
    other = cli("rewrite", "-p", "reorder-decls", "-p", "unroll-decls", file)
    assert "run unroll-decls first" in other.stderr
    wrong = cli("rewrite", "-p", "unroll-decls", "-p", "reorder-decls{ordr=cfg}", file)
    assert "<pipeline>:1:28: error[E302]" in wrong.stderr
    assert "    1 | unroll-decls,reorder-decls{ordr=cfg}" in wrong.stderr


def test_a_file_of_counts_is_not_replaced(cli: Cli, tmp_path: Path) -> None:
    file, counts = tmp_path / "k.ptx", tmp_path / "counts.json"
    file.write_text(TEXT)
    counts.write_text("{}")
    passes = f"unroll-decls,reorder-decls{{order=late,share=90,counts={counts}}}"
    result = cli("rewrite", "-p", passes, file, "-o", counts)
    assert f"error[E503]: -o cannot write '{counts}': it is the file of issue counts" in result.stderr
    assert counts.read_text() == "{}"


def test_what_a_pass_refuses_is_printed_as_far_as_asked(cli: Cli, tmp_path: Path) -> None:
    """`check` finds nothing here, and is not what prints the rest."""
    path = tmp_path / "k.ptx"
    divisions = "".join(f"\tdiv.u64 %d1, %d1, {n};\n" for n in range(1, 31))
    path.write_text(
        ".version 8.0\n.target sm_75\n.address_size 64\n.entry k()\n{\n\t.reg .b64 %d1;\n\tmov.u64 %d1, 1;\n"
        f"{divisions}\tst.global.u64 [%d1], %d1;\n\tret;\n}}\n"
    )
    assert cli("check", path).exit_code == 0
    result = cli("rewrite", "-p", "lower-ptxplus", path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("error[E301]") == 20
    assert result.stderr.splitlines()[-1] == "... and 10 more; --max-errors 0 prints all"
    assert cli("rewrite", "-p", "lower-ptxplus", path, "--max-errors", 0).stderr.count("error[E301]") == 30
    assert cli("rewrite", "-p", "lower-ptxplus", path, "--max-errors", 3).stderr.count("error[E301]") == 3
