"""What the commands share: `--set`, `--kernel`, `-o`, standard input and samples by name."""

from pathlib import Path

import pytest
from commands import clean_data
from scalekernel import SCALE
from smallkernel import KERNEL, Cli

from ptxtool.formats.files import sample_names


def test_a_setting_changes_the_machine_and_its_name(cli: Cli) -> None:
    whole = cli("occupancy", "--registers", 36, "--block", 256).stdout
    larger = cli("occupancy", "--registers", 36, "--block", 256, "--set", "sm.registers=65536").stdout
    assert "3 resident CTAs on an SM of tesla-c2050, limited by registers" in whole
    assert "6 resident CTAs on an SM of tesla-c2050 with sm.registers=65536, limited by threads" in larger


def test_several_settings_on_another_machine(cli: Cli) -> None:
    shown = cli(
        "overhead",
        "--gpu",
        "gtx980-finereg",
        "--set",
        "sm.warps=48",
        "--set",
        "sm.ctas=8",
        "--scheme",
        "register-sharing",
    ).stdout
    assert "register-sharing: 273 bits per SM" in shown  # it depends on warps and CTAs only
    assert "16 SMs of gtx980-finereg with sm.warps=48, sm.ctas=8" in shown


def test_a_wrong_setting_is_a_diagnostic(cli: Cli) -> None:
    result = cli("overhead", "--set", "sm.wraps=48")
    assert result.exit_code == 1
    assert "error[E502]: setting 'sm.wraps=48': no key 'wraps'" in result.stderr
    assert "did you mean 'warps'?" in result.stderr


def test_standard_input(cli: Cli) -> None:
    assert cli("check", "-", input=KERNEL).stdout == "<stdin>: ok, 1 kernel, 6 instructions\n"


def test_all_kernels_unless_one_is_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "two.ptxplus"
    path.write_text(KERNEL + KERNEL.split("\n", 2)[2].replace(".entry k ", ".entry second "))
    assert [k["kernel"] for k in clean_data(cli, "live", path)["kernels"]] == ["k", "second"]
    assert [k["kernel"] for k in clean_data(cli, "live", path, "--kernel", "second")["kernels"]] == ["second"]
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


def test_samples_by_name(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "hotspot" in cli("check", "hotspot").stdout
    plan = clean_data(cli, "occupancy", "hotspot", "--share-registers", 90)
    assert (plan["resident_ctas_without_sharing"], plan["resident_ctas"]) == (3, 6)
    unknown = cli("check", "hotspots")
    assert f"packaged samples are {', '.join(sample_names())}" in unknown.stderr
    (tmp_path / "hotspot").write_text(SCALE)  # a file of that name comes first
    assert cli("check", "hotspot").stdout == "hotspot: ok, 1 kernel, 12 instructions\n"


def test_kernels_have_their_c_plus_plus_names(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    names = ("_Z5nbodyIfLi4EEvP6float4", "plain")
    path.write_text(
        ".version 7.0\n.target sm_70\n" + "".join(f".entry {name}()\n{{\n\tret;\n}}\n" for name in names)
    )
    result = cli("live", path, "--kernel", "nbody< float,4 >")
    assert result.stdout.startswith("nbody<float, 4>(float4*): live registers ")
    first, second = clean_data(cli, "live", path)["kernels"]
    assert (first["kernel"], first["cpp_name"]) == (names[0], "nbody<float, 4>(float4*)")
    assert "cpp_name" not in second
    remark = cli("rewrite", "-p", "compact", path).stderr
    assert "compact: nbody<float, 4>(float4*): " in remark
    assert "_Z5nbody" not in remark
    launch = ["--kernel", "nbody", "--grid", "1", "--block", "1"]
    assert cli("run", path, *launch).stdout.startswith("nbody<float, 4>(float4*): grid 1 x 1 x 1")
    assert clean_data(cli, "run", path, *launch)["cpp_name"] == "nbody<float, 4>(float4*)"
