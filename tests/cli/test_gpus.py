"""`ptxtool gpus`: the packaged machines, and where the keys of one are set."""

from pathlib import Path

from commands import clean_data
from gpgpusim_files import OLD, config_of
from smallkernel import Cli

from ptxtool.base.resources import resource_dir
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.gpu_names import gpu_names


def test_every_packaged_machine_is_listed(cli: Cli) -> None:
    found = clean_data(cli, "gpus")["gpus"]
    assert [gpu["name"] for gpu in found] == list(gpu_names())
    (c2050,) = (gpu for gpu in found if gpu["name"] == "tesla-c2050")
    assert (c2050["sms"], c2050["registers_per_sm"], c2050["scratchpad_bytes_per_sm"]) == (14, 32768, 49152)
    lines = cli("gpus").stdout.splitlines()
    assert lines[0].split() == ["name", "SMs", "registers", "warps", "scratchpad", "description"]
    assert all(any(line.startswith(f"{name} ") for line in lines) for name in gpu_names())
    assert lines[-1] == f"the files are in {resource_dir('gpus')}"


def test_the_keys_of_a_machine_with_the_files_that_set_them(cli: Cli) -> None:
    found = clean_data(cli, "gpus", "gtx480")
    assert [Path(file).name for file in found["files"]] == ["gtx480.toml", "tesla-c2050.toml"]
    keys = {key["key"]: key for key in found["keys"]}
    own, inherited = keys["sm.count"], keys["sm.registers"]
    assert (own["value"], Path(own["file"]).name, own["comment"]) == (15, "gtx480.toml", "TM 0")
    assert (inherited["value"], Path(inherited["file"]).name, inherited["comment"]) == (
        32768,
        "tesla-c2050.toml",
        "of 32 bits",
    )
    written = Path(own["file"]).read_text().splitlines()[own["line"] - 1]
    assert written.startswith("count = 15")
    assert keys["latency.add.fp64"]["value"] == {"unit": "SP", "latency": 8, "interval": 8}


def test_a_file_of_ones_own(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('inherits = "tesla-c2050"\nname = "mine"\ndescription = "small"\n[sm]\ncount = 3 # few\n')
    shown = cli("gpus", path).stdout
    assert shown.startswith(f"mine: small\nfile: {path}\ninherits from: ")
    (line,) = (line for line in shown.splitlines() if line.startswith("sm.count "))
    assert line.split() == ["sm.count", "3", "mine.toml:5", "few"]


def test_a_default_of_gpgpu_sim_has_no_place(cli: Cli, tmp_path: Path) -> None:
    options = config_of(load_gpu(OLD), 3)
    del options["gpgpu_shader_cta"]
    path = tmp_path / "gpgpusim.config"
    path.write_text("".join(f"-{name} {value}\n" for name, value in options.items()))
    lines = {line.split()[0]: line.split() for line in cli("gpus", path).stdout.splitlines() if "." in line}
    assert lines["sm.count"][1:] == ["14", "gpgpusim.config:1"]
    assert lines["sm.ctas"][1:] == ["8", "default", "of", "GPGPU-Sim"]


def test_an_unknown_machine(cli: Cli) -> None:
    result = cli("gpus", "gtx9999")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[E502]: no GPU named 'gtx9999'" in result.stderr
