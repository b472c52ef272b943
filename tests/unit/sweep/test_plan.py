"""Planning a sweep: labels, keys, and what is wrong before anything runs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pressured
import pytest
from ownpass import OWN, write_passes
from scalekernel import LAUNCH, SCALE
from tinysweep import write

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.passes.own import own_passes
from ptxtool.results.sweeps import Configuration
from ptxtool.sweep import plan as planning
from ptxtool.sweep.plan import labelled, plan
from ptxtool.sweep.spec import read_spec


def key(configuration: Configuration) -> str:
    (planned,) = plan([configuration], api.kernel)
    return planned.key


@pytest.fixture
def run(tmp_path: Path) -> Configuration:
    write(tmp_path)
    return Configuration(tmp_path / "scale.ptx", share_registers=90)


def test_equal_runs_have_equal_keys_wherever_their_files_are(tmp_path: Path, run: Configuration) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "k.ptx").write_text(SCALE)
    (other / "k.toml").write_text(LAUNCH)
    assert key(run) == key(
        Configuration(other / "k.ptx", share_registers="90", label="x", scheme="y", name="z")
    )
    text = Configuration("k", text=SCALE, launch=other / "k.toml", share_registers="90.0")
    assert key(run) == key(text)
    assert key(run) == key(replace(run, scheduler="lrr"))  # the machine's


@pytest.mark.parametrize(
    "change",
    [
        {"share_registers": 89},
        {"share_registers": 0},
        {"share_registers": 0, "share_scratchpad": 90},
        {"scheduler": "gto"},
        {"registers": 24},
        {"dynamic": True},
        {"dynamic": "period=999"},
        {"settings": ("dram.tRCD=11",)},
        {"gpu": "gtx480"},
        {"passes": "unroll-decls"},
        {"register_scheme": "virtual-thread"},
        {"register_scheme": "none"},
        {"max_cycles": 10**9},
        {"ptxplus_semantics": "gpgpu-sim"},
        {"allocate": False},
        {"hotspots": True},
    ],
    ids=str,
)
def test_another_option_is_another_key(run: Configuration, change: dict[str, object]) -> None:
    assert key(replace(run, **change)) != key(run)  # type: ignore[arg-type]


def test_another_content_is_another_key(tmp_path: Path, run: Configuration) -> None:
    keys = {key(run)}
    (tmp_path / "launch.toml").write_text(LAUNCH.replace("2.5", "3.5"))
    keys.add(key(run))
    (tmp_path / "scale.ptx").write_text(SCALE.replace("mul.f32", "add.f32"))
    keys.add(key(run))
    np.save(tmp_path / "x.npy", np.zeros(3584, np.float32))
    (tmp_path / "launch.toml").write_text(LAUNCH.replace("range = [0, 3584]", 'file = "x.npy"'))
    keys.add(key(run))
    np.save(tmp_path / "x.npy", np.ones(3584, np.float32))
    keys.add(key(run))
    own = tmp_path / "mine.py"
    own.write_text(
        "from ptxsim.jit import ctz\ndef pick(sm, scheduler, candidates):\n    return ctz(candidates)\n"
    )
    mine = replace(run, scheduler=f"{own}:pick")
    keys.add(key(mine))
    own.write_text(own.read_text() + "# changed\n")
    keys.add(key(mine))
    own.write_text("def stay(view):\n    return 0\n")
    mine = replace(run, register_scheme=f"{own}:stay")
    keys.add(key(mine))
    (tmp_path / "elsewhere").mkdir()
    moved = tmp_path / "elsewhere" / "mine.py"
    moved.write_text(own.read_text())
    assert key(replace(run, register_scheme=f"{moved}:stay")) == key(mine)
    own.write_text(own.read_text() + "# changed\n")
    keys.add(key(mine))
    assert len(keys) == 9


def test_another_simulator_is_another_key(run: Configuration, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(run)
    monkeypatch.setattr(planning, "simulator_version", lambda: "another")
    assert key(run) != before


def test_labels() -> None:
    runs = [
        Configuration("a.ptx", scheduler="lrr"),
        Configuration("a.ptx", scheduler="gto"),
        Configuration("dir/b.ptx", scheduler="gto", label="mine"),
    ]
    assert labelled(runs) == ("a lrr", "a gto", "mine")
    with pytest.raises(PtxError, match=r"E502.*two runs labelled 'a'"):
        labelled([Configuration("a.ptx"), Configuration("a.ptx")])


def test_a_pass_that_declines_is_an_outcome_of_its_run(run: Configuration) -> None:
    declines = replace(run, passes="allocate{max-regs=1}", label="declines")
    first, second = plan([declines, run], api.kernel)
    assert first.outcome is not None
    assert first.outcome.status == "failed"
    assert first.outcome.problems[0]["code"] == "E301"
    assert second.outcome is None
    assert first.key != second.key


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": "nowhere.ptx"}, r"error\[E501\]: cannot read 'nowhere.ptx'"),
        ({"entry": "other"}, r"error\[E205\]: kernel 'other' is not"),
        ({"launch": "nowhere.toml"}, r"error\[E501\]: cannot read 'nowhere.toml'"),
        ({"text": SCALE}, r"error\[E501\]: no launch file"),
        ({"passes": "nopass"}, r"error\[E302\]: no pass named 'nopass'"),
        ({"scheduler": "nope"}, r"error\[E502\]: no warp scheduler 'nope'"),
        ({"gpu": "nope"}, r"error\[E502\]: no GPU named 'nope'"),
        ({"settings": ("nope",)}, r"error\[E502\]: setting 'nope'"),
        ({"share_registers": 101}, r"error\[E502\]: share_registers = 101"),
        ({"share_scratchpad": 50}, r"error\[E502\]: registers and scratchpad shared at once"),
        ({"share_registers": 0, "dynamic": True}, r"error\[E502\]: dynamic warp execution without"),
        ({"dynamic": "x=1"}, r"error\[E502\]: dynamic warp execution has no option 'x'"),
        ({"registers": 0}, r"error\[E401\]: registers = 0"),
        ({"ptxplus_semantics": "x"}, r"error\[E502\]: PTXPlus has no semantics 'x'"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_before_anything_runs(
    run: Configuration, change: dict[str, object], message: str
) -> None:
    with pytest.raises(PtxError, match=message):
        plan([replace(run, label="wrong", **change), run], api.kernel)  # type: ignore[arg-type]


def test_a_launch_that_does_not_fit_its_kernel(tmp_path: Path, run: Configuration) -> None:
    (tmp_path / "launch.toml").write_text("grid = 1\nblock = 32\n")
    with pytest.raises(PtxError, match=r"error\[E401\]: kernel 'scale' takes 2 arguments, 0 given"):
        plan([run], api.kernel)


def test_all_that_is_wrong_with_a_list_is_said_once(run: Configuration) -> None:
    wrong = [replace(run, scheduler="nope", label=f"{k}") for k in range(3)]
    with pytest.raises(PtxError) as problem:
        plan([*wrong, replace(run, gpu="nope", label="gpu")], api.kernel)
    assert len(problem.value.diagnostics) == 2


@pytest.mark.parametrize(
    ("text", "place", "code", "message", "help"),
    [
        (
            'kernels = [\n  "scale.ptx",\n  "b/cat.ptx",\n]',
            "3:3",
            "E501",
            "no launch file for",
            "launch = FILE",
        ),
        ('kernels = [{ file = "scale.ptx", launch = "k9.toml" }]', "1:21", "E501", "cannot read", "launch"),
        (
            'kernels = ["two.ptx"]',
            "1:12",
            "E205",
            "several kernels in",
            'one: kernel = "NAME" beside its file here',
        ),
        ('[[kernels]]\nfile = "scale.ptx"\nlaunch = "k9.toml"', "1:1", "E501", "cannot read", ""),
    ],
)
def test_a_sweep_file_has_the_place_of_what_its_kernels_lack(
    tmp_path: Path, text: str, place: str, code: str, message: str, help: str
) -> None:
    path = write(tmp_path, f"{text}\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "cat.ptx").write_text(SCALE)
    (tmp_path / "two.ptx").write_text(SCALE + "\n.visible .entry other()\n{\n\tret;\n}\n")
    (tmp_path / "two.toml").write_text(LAUNCH.removeprefix('kernel = "scale"\n'))
    with pytest.raises(PtxError) as problem:
        plan(read_spec(path).configurations, api.kernel)
    (diagnostic,) = problem.value.diagnostics
    assert (diagnostic.code, message in diagnostic.message, help in diagnostic.help) == (code, True, True)
    assert str(diagnostic).startswith(f"{path}:{place}: ")


def test_several_kernels_in_a_text_of_a_program(run: Configuration) -> None:
    text = SCALE + "\n.visible .entry other()\n{\n\tret;\n}\n"
    launch = Path(run.kernel).with_name("launch.toml")
    launch.write_text(LAUNCH.removeprefix('kernel = "scale"\n'))
    two = Configuration("two", text=text, launch=launch)
    with pytest.raises(
        PtxError, match=r"E205.*\n.*its kernels are scale, other; name one: entry of its Config"
    ):
        plan([two], api.kernel)
    plan([replace(two, entry="scale")], api.kernel)


def test_a_users_pass_is_proved_and_its_file_is_part_of_the_key(run: Configuration, tmp_path: Path) -> None:
    path = write_passes(tmp_path)
    wrong = replace(run, passes="swap:by=sub", label="wrong")
    right = replace(run, passes="flip", label="right")
    first, second = plan([wrong, right], api.kernel, own_passes([f"{path}:Swap", f"{path}:Flip"]))
    assert first.outcome is not None
    assert first.outcome.problems[0]["code"] == "E305"
    assert str(first.outcome.problems[0]["file"]) == str(path)
    assert second.outcome is None
    assert "mul.f32 %f2, %f1, %f2;" in second.task.text
    write_passes(tmp_path, OWN + "# the same pass\n")
    (again,) = plan([right], api.kernel, own_passes([f"{path}:Flip"]))
    assert again.task.text == second.task.text
    assert again.key != second.key
    (without,) = plan([replace(run, text=again.task.text, launch=tmp_path / "launch.toml")], api.kernel)
    assert without.key not in (again.key, second.key)


def test_demotion_has_ctas_and_machine_of_its_run(tmp_path: Path, run: Configuration) -> None:
    """CTAs of 128 threads, and of 64 in another launch; SMs of another machine may be full already."""
    other = tmp_path / "other.toml"
    other.write_text(LAUNCH.replace("block = 128", "block = 64"))
    wide = replace(run, passes="allocate,demote:count=1", label="wide")
    tight = replace(wide, launch=other, label="tight")
    full = replace(wide, passes="allocate,demote:occupancy=48", label="full")
    small = replace(full, gpu="gtx980-finereg", passes="allocate,demote:occupancy=64", label="small")
    texts = [planned.task.text for planned in plan([wide, tight, full, small], api.kernel)]
    assert [text.count(".maxntid 128") for text in texts] == [1, 0, 0, 0]
    assert [text.count(".maxntid 64") for text in texts] == [0, 1, 0, 0]


def test_a_pipeline_of_a_sweep_runs_no_file(run: Configuration, tmp_path: Path) -> None:
    path = write_passes(tmp_path, "raise SystemExit\n")
    with pytest.raises(PtxError, match=r"E302.*names a file"):
        plan([replace(run, passes=f"{path}:Swap")], api.kernel)


def test_the_text_that_a_scheme_needs(tmp_path: Path) -> None:
    run = Configuration(pressured.write(tmp_path), gpu="gtx980-finereg", register_scheme="regmutex")
    by_key, plain = plan([run, replace(run, register_scheme="none")], api.kernel)
    assert by_key.task.options is not None
    assert by_key.task.options.scheme == "regmutex"
    assert "acquire-extended-registers" in by_key.task.text
    assert by_key.task.remarks[0].startswith("split-registers: pressured: 24 registers")
    assert (plain.task.text, plain.task.remarks) == (pressured.pressured(), ())
    # a machine with the scheme needs it as well
    (by_machine,) = plan(
        [replace(run, register_scheme="", settings=("switching.scheme=regmutex",))], api.kernel
    )
    assert by_machine.task.text == by_key.task.text


def test_a_scheme_whose_passes_decline(run: Configuration) -> None:
    (found,) = plan([Configuration("hotspot", register_scheme="regmutex")], api.kernel)
    assert found.outcome is not None
    assert found.outcome.is_refused
    assert "PTXPlus" in found.outcome.reason


def test_a_launch_that_has_been_read(tmp_path: Path, run: Configuration) -> None:
    launch = api.load_launch(tmp_path / "launch.toml")
    assert key(replace(run, launch=launch)) == key(run)
    assert key(replace(run, launch=launch, kernel="k", text=SCALE)) == key(run)
