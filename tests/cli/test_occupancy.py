"""`ptxtool occupancy` without a file: resident CTAs, their limiter, the sharing plan and the curve."""

import json
from pathlib import Path

import pytest
from bound_samples import kernel
from commands import clean_data
from smallkernel import Cli


def test_occupancy_without_a_file(cli: Cli) -> None:
    # hotspot of the papers: 36 registers, 256 threads, 3 resident blocks, 6 at 90% sharing
    found = clean_data(
        cli, "occupancy", "--gpu", "tesla-c2050", "--registers", 36, "--block", 256, "--share-registers", 90
    )
    wanted = {"resident_ctas": 6, "unshared_ctas": 0, "shared_pairs": 3, "private_registers": 3}
    assert {key: found[key] for key in wanted} == wanted
    assert found["limiter"] == "registers"
    text = cli("occupancy", "--registers", 36, "--block", "16,16").stdout
    assert text.startswith("3 resident CTAs on an SM of tesla-c2050, limited by registers\n")


def test_occupancy_with_scratchpad(cli: Cli) -> None:
    # 16 KB of scratchpad: two CTAs of 7 KB and 2 KB left; at 90% sharing 2 / 0.7 = 2 more
    found = clean_data(
        cli,
        *("occupancy", "--registers", 8, "--block", 64, "--scratchpad", 7168),
        *("--scratchpad-per-sm", 16384, "--share-scratchpad", 90),
    )
    wanted = {"resident_ctas": 4, "unshared_ctas": 0, "shared_pairs": 2, "limiter": "scratchpad"}
    assert {key: found[key] for key in wanted} == wanted
    assert found["private_scratchpad"] == 716


def test_registers_at_the_entry_of_a_kernel_that_adjusts_them(cli: Cli, tmp_path: Path) -> None:
    """65536 / 384 = 170 registers: 168. Without `setmaxnreg` as many as the kernel needs."""
    adjust = "setmaxnreg.dec.sync.aligned.u32 40;"
    (tmp_path / "k.ptx").write_text(kernel(".maxntid 384 .minnctapersm 1", adjust))
    options = "--gpu", "sm_90", "--block", 384
    found = clean_data(cli, "occupancy", tmp_path / "k.ptx", *options)
    assert found["registers"] == 168
    assert found["registers_from"] == "at its entry, as its launch bounds fix them for setmaxnreg"
    assert found["resident_ctas"] == 1
    (tmp_path / "k.ptx").write_text(kernel(".maxntid 384 .minnctapersm 1"))
    found = clean_data(cli, "occupancy", tmp_path / "k.ptx", *options)
    assert found["registers_from"] == "what allocate needs"


def test_registers_worth_demoting_to(cli: Cli) -> None:
    """12 of the paper's 16 CTAs of conv, with 35 registers; 5 in slots are 2560 bytes of each."""
    options = "--gpu", "gtx-titan-x", "--block", 128, "--registers", 35, "--demotion"
    found = clean_data(cli, "occupancy", *options)
    assert found["before"]["resident_ctas"] == 12
    (target,) = found["targets"]
    wanted = {"registers": 32, "demoted": 5, "slot_bytes": 2560, "resident_ctas": 16, "occupancy": 1.0}
    assert {key: target[key] for key in wanted} == wanted
    assert found["end"] == "threads limit an SM to 16 CTAs"
    of_file = cli("occupancy", "regdem/cfd", "--demotion", "--gpu", "gtx-titan-x", "--no-ptxas", "--json")
    (target,) = json.loads(of_file.stdout)["targets"]
    assert (target["registers"], target["slot_bytes"]) == (56, 10752)


@pytest.mark.parametrize("other", ["--curve", "--switching=finereg", "--share-registers=50"])
def test_demotion_goes_alone(cli: Cli, other: str) -> None:
    command = "occupancy", "--gpu", "gtx980-finereg", "--block", 128, "--registers", 35, "--demotion", other
    result = cli(*command)
    assert result.exit_code == 2
    assert "--demotion goes with none of" in result.stderr


def test_occupancy_by_scratchpad_alone(cli: Cli) -> None:
    # 16 KB over 7200 bytes: 2 CTAs and 1984 bytes left; at 90% sharing 1984 / 720 = 2 pairs, so 4
    options = ("--block", 256, "--scratchpad", 7200, "--scratchpad-per-sm", 16384, "--share-scratchpad", 90)
    found = clean_data(cli, "occupancy", "--gpu", "tesla-c2050", *options)
    assert (found["resident_ctas"], found["shared_pairs"], found["limiter"]) == (4, 2, "scratchpad")
    assert (found["unshared_ctas"], found["private_scratchpad"]) == (0, 720)
    assert found["limits"]["registers"] is None
    for options in ((), ("--share-registers", 90)):
        result = cli("occupancy", "--block", 256, *options)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "--registers N is needed" in result.stderr


def test_occupancy_curve(cli: Cli) -> None:
    curve = clean_data(cli, "occupancy", "--block", 256, "--curve")["curve"]
    resident = {plan["registers"]: plan["resident_ctas"] for plan in curve}
    # 32768 / (256 * registers rounded up to 4), at most 6 by threads
    assert [resident[n] for n in (16, 20, 21, 24, 25, 32, 36, 40, 41, 63)] == [6, 6, 5, 5, 4, 4, 3, 3, 2, 2]
    text = cli("occupancy", "--block", 256, "--curve").stdout
    assert "33-40         3" in text


def test_occupancy_of_a_compute_capability(cli: Cli) -> None:
    # 36 registers are 1280 of a warp in units of 256: 51 warps, 6 CTAs; the machine of FineReg is a Maxwell too
    for gpu in ("sm_52", "sm_90a", "gtx980-finereg"):
        found = clean_data(cli, "occupancy", "--gpu", gpu, "--registers", 36, "--block", 256)
        assert (found["gpu"], found["resident_ctas"], found["limiter"]) == (gpu, 6, "registers")
    for wrong, said in (
        (("--registers", 256), "256 registers per thread: a thread of sm_90 has at most 255"),
        (("--registers", 30, "--set", "sm.ctas=3"), "'sm_90' is a compute capability"),
        (("--registers", 30, "--scheme", "finereg"), "needs a machine that is simulated"),
    ):
        result = cli("occupancy", "--gpu", "sm_90", "--block", 256, *wrong)
        assert (result.exit_code, result.stdout) == (1 if said[0] == "2" else 2, "")
        assert said in result.stderr
    result = cli("occupancy", "--gpu", "tesla-c2050", "--registers", 64, "--block", 32)
    assert "64 registers per thread: a thread of sm_20 has at most 63" in result.stderr


def test_the_curve_goes_to_what_a_thread_can_have(cli: Cli) -> None:
    for gpu, most in (("sm_90", 255), ("gtx980-finereg", 255), ("tesla-c2050", 63)):
        curve = clean_data(cli, "occupancy", "--gpu", gpu, "--block", 64, "--curve")["curve"]
        assert [plan["registers"] for plan in curve] == list(range(1, most + 1))


HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


@pytest.mark.parametrize(("bound", "note"), [("maxntid 192, 2, 1", True), ("reqntid 384, 1, 1", False)])
def test_the_block_of_a_file_is_that_of_its_head(cli: Cli, tmp_path: Path, bound: str, note: bool) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(f"{HEAD}.visible .entry k()\n.{bound}\n{{ ret; }}\n")
    result = cli("occupancy", file, "--no-ptxas", "--gpu", "sm_80")
    assert (result.exit_code, "a CTA: 384 threads" in result.stdout) == (0, True), result
    assert ("CTAs of 384 threads, the most that '.maxntid' of 'k' allows" in result.stderr) == note
    assert "sm_80 has its limits" not in result.stderr
    result = cli("occupancy", file, "--no-ptxas", "--block", 384, "--gpu", "tesla-c2050")
    newer = "the file is for sm_80, tesla-c2050 is an sm_20 machine: --gpu sm_80 has its limits"
    assert newer in result.stderr


def test_the_machine_is_that_of_the_launch_or_fits_the_text(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(f"{HEAD}.visible .entry k()\n{{ ret; }}\n")
    command = ("occupancy", file, "--no-ptxas", "--block", 64)
    assert cli(*command).stdout.splitlines()[0].startswith("32 resident CTAs on an SM of a100")
    (tmp_path / "launch.toml").write_text('gpu = "gtx480"\ngrid = 1\nblock = 64\n')
    assert "on an SM of gtx480" in cli(*command).stdout
    assert "on an SM of v100" in cli(*command, "--gpu", "v100").stdout
    assert "on an SM of tesla-c2050" in cli("occupancy", "--registers", 20, "--block", 64).stdout


def test_the_machine_of_a_launch_file_is_that_of_its_kernel_only(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(f"{HEAD}.visible .entry k()\n{{ ret; }}\n.visible .entry launched()\n{{ ret; }}\n")
    (tmp_path / "launch.toml").write_text('kernel = "launched"\ngpu = "gtx480"\ngrid = 1\nblock = 64\n')
    command = ("occupancy", file, "--no-ptxas", "--block", 64)
    assert "on an SM of gtx480" in cli(*command).stdout
    assert "on an SM of a100" in cli(*command, "--kernel", "k").stdout
