"""GPU files: the packaged machine's numbers, inheriting, and what is reported of a wrong file."""

from pathlib import Path

import pytest

from ptxtool.analysis.occupancy.register_schemes import scheme_named
from ptxtool.analysis.occupancy.unified_plan import unified_plan
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.gpu_names import gpu_names


def refuse(path: Path, text: str) -> str:
    path.write_text(text)
    with pytest.raises(PtxError) as caught:
        load_gpu(path)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E502"
    assert diagnostic.help
    return str(caught.value)


def test_packaged_machine() -> None:
    gpu = load_gpu("tesla-c2050")
    assert (gpu.sm.count, gpu.sm.threads, gpu.sm.ctas, gpu.sm.registers) == (14, 1536, 8, 32768)
    assert gpu.l1d.sets * gpu.l1d.ways * gpu.l1d.line_bytes == 16 * 1024
    assert gpu.l2.slices * gpu.l2.sets * gpu.l2.ways * gpu.l2.line_bytes == 768 * 1024
    assert gpu.l2.slices == gpu.dram.channels * gpu.dram.slices_per_channel


@pytest.mark.parametrize(
    (
        "unit",
        "kind",
        "distance",
        "sources",
    ),  # dependent-issue distances printed in timing-model 1.6: L + 5 + s
    [
        ("alu", "int", 7, 1),
        ("add", "int", 11, 2),
        ("mul", "fp32", 11, 2),
        ("mad", "fp32", 13, 3),
        ("mul", "int", 11, 2),
        ("mad", "int", 13, 3),
        ("minmax", "int", 20, 2),
        ("sfu", "fp32", 14, 1),
        ("div", "fp32", 46, 2),
        ("div", "int", 152, 2),
        ("add", "fp64", 15, 2),
        ("div", "fp64", 337, 2),
    ],
)
def test_dependent_issue_distances(unit: str, kind: str, distance: int, sources: int) -> None:
    gpu = load_gpu("tesla-c2050")
    assert gpu.latency[unit][kind].latency + 5 + sources == distance  # type: ignore[index]


def test_which_unit_executes_what() -> None:
    latency = load_gpu("tesla-c2050").latency
    assert [latency["mul"][k].unit for k in ("int", "fp32", "fp64")] == ["SFU", "EITHER", "EITHER"]
    assert [latency["mad"][k].unit for k in ("int", "fp32")] == ["SFU", "SP"]
    assert {latency["div"][k].unit for k in ("int", "fp32", "fp64")} == {"SFU"}
    assert {latency[u]["int"].unit for u in ("fma", "mul24", "mad24", "rem", "alu", "branch", "barrier")} == {
        "SP"
    }


def test_a_file_may_inherit_and_change(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text('inherits = "tesla-c2050"\nname = "small"\n[sm]\ncount = 2\n')
    (tmp_path / "smaller.toml").write_text(
        'inherits = "./small.toml"\n[sm]\nctas = 4\n[latency.add.int]\nlatency = 9\n'
    )
    gpu = load_gpu(tmp_path / "smaller.toml")
    assert (gpu.name, gpu.sm.count, gpu.sm.ctas, gpu.sm.threads) == ("small", 2, 4, 1536)
    assert (gpu.latency["add"]["int"].latency, gpu.latency["add"]["int"].unit) == (9, "SP")


def test_an_unknown_name_is_near_another() -> None:
    with pytest.raises(PtxError, match="no GPU named 'tesla-c2051'") as caught:
        load_gpu("tesla-c2051")
    assert caught.value.diagnostics[0].help.startswith("did you mean 'tesla-c2050'?")
    assert "tesla-c2050" in gpu_names()


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(PtxError) as caught:
        load_gpu(tmp_path / "none.toml")
    assert caught.value.diagnostics[0].code == "E501"


BASE = 'inherits = "tesla-c2050"\n'


@pytest.mark.parametrize(
    ("text", "place", "reported"),
    [
        (BASE + "[sm]\nctas = 8\nthread = 9\n", ":4:1:", "unknown key 'sm.thread'"),
        (BASE + "[sms]\nctas = 8\n", ":2:2:", "unknown key 'sms'"),
        (BASE + '[sm]\nctas = "8"\n', ":3:1:", "'sm.ctas': expected 'int', got 'str'"),
        (BASE + "[sm]\nctas = 0\n", ":3:1:", "'sm.ctas': expected 'int' >= 1"),
        (BASE + "[latency.add.int]\ninterval = 42949672961\n", ":3:1:", "expected 'int' <= 2147483647"),
        (BASE + "[latency]\nadd = { int = { latency = 0 } }\n", ":3:17:", "'latency.add.int.latency'"),
        (BASE + "[latency.mull]\nint = 3\n", ":2:2:", "latency.mull"),
        (BASE + '[ldst]\nunits = ["ld", "st", "atom", "tex"]\n', ":", "missing key 'latency.membar'"),
        ('name = "x"\n', "", "missing key 'description'"),
        ("inherits = 3\n", ":1:1:", "'inherits' is no text"),
        ('inherits = "none"\n', ":1:1:", "no GPU named 'none'"),
        ('inherits = "./g.toml"\n', ":1:1:", "inherits from itself"),
        ("[sm\n", ":1:4:", "not TOML"),
    ],
)
def test_a_wrong_file_is_reported_with_its_place(
    tmp_path: Path, text: str, place: str, reported: str
) -> None:
    message = refuse(tmp_path / "g.toml", text)
    assert reported in message
    assert f"g.toml{place}" in message


def test_other_sm_limits() -> None:
    gpu = load_gpu("tesla-c2050")
    assert gpu.with_sm(scratchpad_bytes=16384).sm.scratchpad_bytes == 16384
    with pytest.raises(PtxError, match="unknown field 'scratchpad'"):
        gpu.with_sm(scratchpad=16384)
    with pytest.raises(PtxError, match=">= 1"):
        gpu.with_sm(ctas=0)


def test_a_machine_with_unified_memory_divided() -> None:
    gpu = load_gpu("gtx980-finereg")
    # 64 x 32 x 4 bytes: 16 in the ACRF; n x (8192 + 2 x 32 x 128) <= 229376 and 16 x 8192 up to n = 22
    split = unified_plan(gpu, scheme_named("finereg-unified"), 64, 32, 8192)
    divided = gpu.divided(split)
    assert (divided.sm.registers, divided.sm.scratchpad_bytes) == (32768 + 6 * 64 * 32, 22 * 8192)
    assert (divided.switching.pcrf_entries, divided.l1d.ways) == (6 * 64, 8)
    assert divided.name == gpu.name


def test_a_file_is_read_again_only_when_it_has_changed(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('inherits = "tesla-c2050"\nname = "mine"\n[sm]\ncount = 2\n')
    assert load_gpu(mine) is load_gpu(str(mine))
    mine.write_text('inherits = "tesla-c2050"\nname = "mine"\n[sm]\ncount = 30\n')
    assert load_gpu(mine).sm.count == 30
    mine.unlink()
    with pytest.raises(PtxError, match="cannot read"):
        load_gpu(mine)
