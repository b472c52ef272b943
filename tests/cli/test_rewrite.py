"""`ptxtool rewrite`: the text on standard output, remarks apart, and the list of passes."""

from pathlib import Path

from smallkernel import KERNEL, Cli


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


def test_a_version_newer_than_the_table_passes_through(cli: Cli, tmp_path: Path) -> None:
    text = (
        ".version 99.0\n.target sm_999\n.address_size 64\n.frob 1\n.entry k(.param .u64 p)\n{\n"
        "\t.reg .b32 %r<9>;\n\tmov.u32 %r7, %frob_size;\n\tfrobnicate.u32 %r8, %r7;\n\tret;\n}\n"
    )
    path = tmp_path / "newer.ptx"
    path.write_text(text)
    result = cli("rewrite", "-p", "allocate", path)
    assert result.exit_code == 0, result.stderr
    assert "\tfrobnicate.u32 %r0, %r1;\n" in result.stdout
    assert result.stderr.count("W201") == 3  # the directive, the special register, the instruction
    run = cli("run", path, "--grid", "1", "--block", "1", "--arg", "u32[1]")
    assert run.exit_code == 1
    assert "error[E403]: 'frobnicate.u32' cannot be simulated" in run.stderr


def test_demote_has_its_ctas_from_the_launch_and_its_machine_from_gpu(cli: Cli, tmp_path: Path) -> None:
    """35 registers, CTAs of 128 threads: 12 of the 16 that an SM of sm_52 has threads for."""
    names = [f"%r{k}" for k in range(35)]
    loads = "".join(f"ld.shared.u32 {name}, [{4 * k}];\n" for k, name in enumerate(names))
    stores = "".join(f"st.shared.u32 [{4 * k}], {name};\n" for k, name in enumerate(names))
    path, launch = tmp_path / "k.ptx", tmp_path / "one.toml"
    head = ".version 8.0\n.target sm_90\n.address_size 64\n"
    path.write_text(f"{head}.entry k() {{\n.reg .b32 %r<35>;\n{loads}{stores}ret;\n}}\n")
    launch.write_text("grid = 1\nblock = [32, 4]\n")
    command = "rewrite", "-p", "demote:occupancy=1.0", path, "--gpu", "sm_52"
    refused = cli(*command)
    assert refused.exit_code == 1
    assert "the size of its CTAs is unknown" in refused.stderr
    result = cli(*command, "--launch", launch)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == (
        "demote: k: 5 registers demoted to 2560 bytes of shared memory (128 threads): 35 -> 32 registers per thread; "
        "12 -> 16 CTAs on an SM of sm_52 (line 4)\n"
    )
    assert ".maxntid 128" in result.stdout
    launch.rename(tmp_path / "k.toml")  # beside the file
    again = cli(*command)
    assert (again.stdout, again.stderr) == (result.stdout, result.stderr)
