"""`ptxtool diff`: which kernels are compared, exit codes, JSON; golden reports are tests/cases/diff."""

import json
from pathlib import Path

import pytest
from smallkernel import KERNEL, Cli

GROWN = KERNEL.replace("\tmov.u32 $r4, $r2;", "\tbar.sync 0x00000000;\n\tmov.u32 $r4, $r2;")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ptxplus").write_text(KERNEL)
    Path("b.ptxplus").write_text(GROWN)


@pytest.mark.usefixtures("files")
class TestDiff:
    def test_differences_are_a_result(self, cli: Cli) -> None:
        result = cli("diff", "a.ptxplus", "b.ptxplus")
        assert (result.exit_code, result.stderr) == (0, "")
        assert "instructions: 6 same, 0 changed, 0 removed, 1 added\n" in result.stdout
        assert "+  bar.sync 0x00000000;\n" in result.stdout

    def test_the_same(self, cli: Cli) -> None:
        result = cli("diff", "a.ptxplus", "a.ptxplus", "--fail-on", "any")
        assert (result.exit_code, result.stdout, result.stderr) == (0, "k: same, 6 instructions\n", "")

    @pytest.mark.parametrize(
        ("measure", "code"), [("any", 1), ("barriers", 1), ("pressure", 0), ("registers,instructions", 1)]
    )
    def test_fail_on(self, cli: Cli, measure: str, code: int) -> None:
        result = cli("diff", "a.ptxplus", "b.ptxplus", "--fail-on", measure)
        assert result.exit_code == code
        assert ("b.ptxplus:3:1: error[E304]: 'k': " in result.stderr) == bool(code)
        assert result.stdout == cli("diff", "a.ptxplus", "b.ptxplus").stdout
        assert cli("diff", "b.ptxplus", "a.ptxplus", "--fail-on", "barriers,pressure").exit_code == 0

    def test_standard_input(self, cli: Cli) -> None:
        rewritten = cli("rewrite", "-p", "unroll-decls,reorder-decls", "a.ptxplus").stdout
        result = cli("diff", "a.ptxplus", "-", input=rewritten)
        assert "instructions: 6 same, 0 changed" in result.stdout
        assert "registers with another sequence number: " in result.stdout

    def test_json(self, cli: Cli) -> None:
        data = json.loads(cli("diff", "a.ptxplus", "b.ptxplus", "--json", "--block", "64").stdout)
        (kernel,) = data["kernels"]
        assert (data["before"], data["after"], data["removed"], data["added"]) == (
            "a.ptxplus",
            "b.ptxplus",
            [],
            [],
        )
        assert kernel["figures"]["barriers"] == {"before": 0, "after": 1}
        assert kernel["changes"] == [{"kind": "added", "after": {"line": 14, "text": "bar.sync 0x00000000;"}}]
        assert kernel["occupancy"]["before"] == kernel["occupancy"]["after"]

    def test_occupancy_at_given_registers(self, cli: Cli) -> None:
        arguments = ("diff", "a.ptxplus", "b.ptxplus", "--block", "256", "--registers", "32,36")
        result = cli(*arguments, "--fail-on", "occupancy")
        assert result.exit_code == 1
        assert "'k': occupancy went from 4 to 3" in result.stderr
        assert cli(*arguments[:-1], "36", "--fail-on", "occupancy").exit_code == 0

    def test_kernels_by_name(self, cli: Cli) -> None:
        head, _, body = KERNEL.partition(".entry k")
        Path("two.ptxplus").write_text(f"{head}.entry j{body}.entry k{body}")
        result = cli("diff", "a.ptxplus", "two.ptxplus", "--fail-on", "any")
        assert result.stdout == "k: same, 6 instructions\nj: only in two.ptxplus\n"
        assert (result.exit_code, "'j': it is in one of the files only" in result.stderr) == (1, True)
        result = cli("diff", "a.ptxplus", "two.ptxplus", "--kernel", "k=j", "--fail-on", "any")
        assert (result.exit_code, result.stdout) == (0, "k -> j: same, 6 instructions\n")
        assert cli("diff", "a.ptxplus", "two.ptxplus", "--kernel", "k").stdout == "k: same, 6 instructions\n"

    def test_no_common_kernel(self, cli: Cli) -> None:
        head, _, body = KERNEL.partition(".entry k")
        Path("two.ptxplus").write_text(f"{head}.entry i{body}.entry j{body}")
        result = cli("diff", "a.ptxplus", "two.ptxplus")
        assert result.exit_code == 1
        assert "error[E205]" in result.stderr
        assert "--kernel OLD=NEW" in result.stderr
        assert "E205" in cli("diff", "a.ptxplus", "b.ptxplus", "--kernel", "kk").stderr

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            (["-", "-"], "both be standard input"),
            (["a.ptxplus", "b.ptxplus", "--fail-on", "speed"], "'speed' is none of any"),
            (["a.ptxplus", "b.ptxplus", "--fail-on", "occupancy"], "needs --block"),
            (["a.ptxplus", "b.ptxplus", "--registers", "36"], "needs --block"),
            (["a.ptxplus", "b.ptxplus", "--block", "64", "--registers", "1,2,3"], "one or two whole numbers"),
            (["a.ptxplus", "b.ptxplus", "--block", "64", "--registers", "0"], "one or two whole numbers"),
            (["a.ptxplus"], "Missing argument 'B'"),
        ],
    )
    def test_usage(self, cli: Cli, arguments: list[str], why: str) -> None:
        result = cli("diff", *arguments)
        assert (result.exit_code, why in result.stderr) == (2, True), result.stderr

    def test_broken_files(self, cli: Cli) -> None:
        Path("bad.ptxplus").write_text(KERNEL.replace("bra L1", "bra L2"))
        result = cli("diff", "a.ptxplus", "bad.ptxplus")
        assert (result.exit_code, result.stdout) == (1, "")
        assert "E202" in result.stderr
