"""`first-use --space shared`: shared variables in order of first access, as text and as JSON."""

from pathlib import Path

import pytest
from commands import data
from smallkernel import Cli

TEXT = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k()
{
	.shared .align 4 .b8 late[32];
	.shared .align 4 .b8 often[64];
	.shared .align 4 .b8 never[4];
	.reg .b32 %r<4>;
	ld.shared.u32 %r1, [often];
	mov.u32 %r2, %tid.x;
	st.shared.u32 [late+8], %r1;
	ld.shared.u32 %r3, [%r2];
	mov.u32 %r0, never;
	st.shared.u32 [often], %r0;
	ret;
}
"""


@pytest.fixture
def shared_file(tmp_path: Path) -> Path:
    path = tmp_path / "k.ptx"
    path.write_text(TEXT)
    return path


def test_variables_in_order_of_first_access(cli: Cli, shared_file: Path) -> None:
    (kernel,) = data(cli, "first-use", "--space", "shared", shared_file)["kernels"]
    assert kernel["scratchpad_bytes"] == 100
    found = [(v["name"], v["offset"], v["bytes"], v["accesses"]) for v in kernel["variables"]]
    assert found == [("often", 32, 64, 2), ("late", 0, 32, 1), ("(any)", None, 0, 1), ("never", 96, 4, 0)]
    often = kernel["variables"][0]
    assert (often["first"]["line"], often["last"]["line"], often["span"]) == (10, 15, 6)
    # an access to anywhere counts for every variable: from line 12 to 13, and line 13 alone
    assert [v["span"] for v in kernel["variables"][1:]] == [2, None, 1]
    assert (kernel["variables"][3]["first"], "first_shared" in kernel) == (None, False)


@pytest.mark.parametrize(
    ("options", "private", "line", "variable"),
    [
        (["--share-scratchpad", "50"], 50, 13, "(any)"),  # often reaches to 36 in line 10
        (["--share-scratchpad", "90"], 10, 10, "often"),
        (["--share-scratchpad", "50", "--scratchpad", "300"], 150, 13, "(any)"),
        (["--share-scratchpad", "99.5"], 0, 10, "often"),
    ],
)
def test_the_first_access_that_needs_the_shared_part(
    cli: Cli, shared_file: Path, options: list[str], private: int, line: int, variable: str
) -> None:
    (kernel,) = data(cli, "first-use", "--space", "shared", *options, shared_file)["kernels"]
    stop = kernel["first_shared"]
    assert (kernel["private_scratchpad"], stop["line"], stop["variable"]) == (private, line, variable)
    text = cli("first-use", "--space", "shared", *options, shared_file).stdout
    assert f"first access that needs the shared part: line {line}, {variable}: " in text


def test_the_launch_file_beside_it_tells_dynamic_bytes(cli: Cli) -> None:
    """hotspot: 80 bytes of header and parameters, 1024 of the launch; floor(1104 * 10%) = 110 are private."""
    (kernel,) = data(cli, "first-use", "--space", "shared", "--share-scratchpad", 90, "hotspot")["kernels"]
    assert kernel["private_scratchpad"] == 110
    assert [(v["name"], v["offset"]) for v in kernel["variables"]] == [("(parameters)", 16), ("(any)", None)]
    assert kernel["first_shared"]["variable"] == "(any)"


def test_a_kernel_without_shared_memory(cli: Cli) -> None:
    text = cli("first-use", "--space", "shared", "--share-scratchpad", 90, "saxpy").stdout
    assert "0 shared variables" in text
    assert "needs the shared part: none" in text


@pytest.mark.parametrize(
    "options",
    [
        ["--space", "shared", "--registers", "4"],
        ["--space", "shared", "--share-registers", "90"],
        ["--space", "shared", "--order", "cfg"],
        ["--space", "shared", "--scratchpad", "64"],
        ["--share-scratchpad", "90"],
        ["--scratchpad", "64"],
    ],
)
def test_options_of_the_other_space(cli: Cli, shared_file: Path, options: list[str]) -> None:
    result = cli("first-use", *options, shared_file)
    assert result.exit_code == 2
    assert "--" in result.stderr


def test_a_scratchpad_that_is_too_small(cli: Cli, shared_file: Path) -> None:
    result = cli("first-use", "--space", "shared", "--share-scratchpad", 50, "--scratchpad", 64, shared_file)
    assert result.exit_code == 1
    assert "E502" in result.stderr


def test_variables_of_ptxplus_are_accessed_by_number(cli: Cli, tmp_path: Path) -> None:
    """After 16 bytes of head lies tile; a number in a register may mean it, s[0x0050] does not."""
    for address, reported in (("s[$r1]", "(by number, if at all)"), ("s[0x0050]", "(never accessed)")):
        file = tmp_path / "k.ptxplus"
        file.write_text(
            ".version 1.4+\n.target sm_10, map_f64_to_f32\n.shared .align 4 .b8 tile[64];\n"
            ".entry k ()\n{\n\t.reg .u32 $r<3>;\n\tcvt.u32.u16 $r1, %tid.x;\n"
            f"\tmov.u32 {address}, $r1;\n\texit;\n}}\n"
        )
        lines = cli("first-use", "--space", "shared", file).stdout.splitlines()
        assert [line.split("  ")[-1].strip() for line in lines if line.startswith("tile")] == [reported]
