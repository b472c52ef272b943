"""Launches of an application become folders that are run again without it."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxsim.loaded_modules import LoadedKernel
from ptxtool import api
from ptxtool.applications.launch_choice import ALL, LaunchChoice, launch_choice
from ptxtool.applications.recording import Recorder, not_recordable
from ptxtool.base.diag import PtxError
from ptxtool.results.applications import Launch

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
TEXT = f"""{HEAD}
.global .align 4 .u32 calls = 0;
.const .align 4 .u32 step = 2;
.visible .entry _Z5chasePPjj(.param .u64 .ptr .align 8 cell, .param .u32 n)
{{
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [cell];
	ld.param.u32 %r1, [n];
	ld.global.u64 %rd2, [%rd1];
	ld.global.u32 %r2, [%rd2];
	ld.const.u32 %r3, [step];
	mad.lo.u32 %r4, %r1, %r3, %r2;
	st.global.u32 [%rd2], %r4;
	atom.global.add.u32 %r5, [calls], 1;
	ret;
}}
"""


class Program:
    """A machine with a pointer in memory to the middle of a block, and a recorder."""

    def __init__(self, folder: Path, choice: LaunchChoice = ALL, text: str = TEXT):
        self.notes: list[str] = []
        self.problems: list[PtxError] = []
        self.recorder = Recorder(folder, ["./app"], self.notes.append, self.problems.append, choice)
        self.machine = ptxsim.Machine(memory=1 << 20)
        self.module = self.machine.load(text, "app.ptx")
        self.kernel = self.module.kernels["_Z5chasePPjj"]
        heap = self.machine.heap
        self.cell, self.data, self.unused = heap.malloc(8), heap.malloc(1000), heap.malloc(4096)
        heap.write(self.cell, struct.pack("<Q", self.data + 400))
        heap.fill(self.data, 1, 1000)
        heap.write(self.unused, np.random.default_rng(1).integers(0, 256, 4096, np.uint8))
        self.n = 0

    def launch(self, error: int = 0, **settings: int) -> Any:
        """Record a launch with n = 5; the result of its run."""
        self.n += 1
        entry = Launch(self.n, self.kernel.name, (1, 1, 1), (1, 1, 1), error=error)
        parameters = struct.pack("<QI", self.cell, 5)
        record = self.recorder.begin(entry, self.kernel, parameters, self.machine.heap, settings)
        found = self.machine.run(self.kernel, 1, 1, parameters=parameters)
        if record is not None:
            record.end(entry)
        return found


def folders(recorded: Path) -> list[str]:
    return sorted(path.name for path in recorded.iterdir() if path.is_dir())


def replayed(folder: Path) -> Any:
    return api.run(api.kernel(api.load(folder / "kernel.ptx")), folder / "launch.toml")


def test_a_recorded_launch_leaves_the_same_memory(tmp_path: Path) -> None:
    program = Program(tmp_path / "out")
    program.machine.heap.write(program.data + 400, struct.pack("<I", 7))
    program.launch()
    program.module.write("step", np.uint32(3))
    program.launch()
    assert folders(tmp_path / "out") == ["0001-chase", "0002-chase"]
    for folder, expected, calls in (("0001-chase", 17, 1), ("0002-chase", 32, 2)):
        outcome = replayed(tmp_path / "out" / folder)
        assert outcome.wrong == ()
        arrays = {buffer.name: buffer.array for buffer in outcome.buffers}
        assert arrays[f"memory_{program.data:x}"][100] == expected
        assert arrays[f"memory_{program.module.symbols['calls'][0]:x}"].tolist() == [calls]
        assert len(outcome.checked) == len(program.machine.heap.blocks()) == 5
    assert program.notes == program.problems == []


def test_a_result_that_differs_is_found(tmp_path: Path) -> None:
    program = Program(tmp_path / "out")
    program.launch()
    file = tmp_path / "out" / "0001-chase" / "launch.toml"
    file.write_text(file.read_text().replace("value = 5\n", "value = 6\n"))
    (wrong,) = replayed(file.parent).wrong
    assert f"'memory_{program.data:x}' is not as expected: 1 of 250 elements" in wrong.message


def test_contents_are_stored_once_and_zeros_not_at_all(tmp_path: Path) -> None:
    program = Program(tmp_path / "out")
    program.launch()
    before = program.recorder.recording
    assert (before.folder, before.launches) == (str(tmp_path / "out"), 1)
    assert before.content_bytes == 8 + 1000 + 4096 + 4 + 16
    assert 4096 < before.file_bytes < 4096 + 4000
    program.launch()
    after = program.recorder.recording
    assert (after.launches, after.content_bytes) == (2, 2 * before.content_bytes)
    assert after.file_bytes < before.file_bytes + 2000
    first, second = (tmp_path / "out" / f"000{k}-chase" / f"{program.unused:x}.npy.zst" for k in (1, 2))
    assert first.samefile(second)
    assert second.with_name("kernel.ptx").samefile(first.with_name("kernel.ptx"))
    calls = program.module.symbols["calls"][0]
    texts = [file.with_name("launch.toml").read_text() for file in (first, second)]
    zeros = f'address = {calls:#x}\ntype = "u32"\ncount = 1\nvalue = 0\n'
    assert [zeros in text for text in texts] == [True, False]


def test_only_chosen_launches_are_recorded(tmp_path: Path) -> None:
    program = Program(tmp_path / "out", launch_choice("2"))
    for _ in range(3):
        program.launch()
    assert folders(tmp_path / "out") == ["0002-chase"]
    assert replayed(tmp_path / "out" / "0002-chase").wrong == ()


def test_a_failed_launch_has_no_results(tmp_path: Path) -> None:
    program = Program(tmp_path / "out")
    program.launch(error=700, stack_bytes=2048)
    outcome = replayed(tmp_path / "out" / "0001-chase")
    assert (outcome.checked, outcome.wrong) == ((), ())
    assert "stack_bytes = 2048" in (tmp_path / "out" / "0001-chase" / "launch.toml").read_text()


def test_a_launch_that_does_not_end_leaves_nothing(tmp_path: Path) -> None:
    program = Program(tmp_path / "out")
    entry = Launch(1, program.kernel.name, (1, 1, 1), (1, 1, 1))
    heap = program.machine.heap
    record = program.recorder.begin(entry, program.kernel, struct.pack("<QI", program.cell, 5), heap, {})
    assert record is not None
    record.discard()
    assert list((tmp_path / "out").iterdir()) == []
    program.launch()
    assert replayed(tmp_path / "out" / "0001-chase").wrong == ()


def kernel_of(body: str, head: str = "") -> LoadedKernel:
    text = f"{HEAD}{head}.visible .entry k(.param .u64 t)\n{{\n.reg .f32 %f<5>;\n.reg .b64 %d<4>;\n{body}\nret;\n}}\n"
    return ptxsim.Machine(memory=1 << 20).load(text).kernels["k"]


TEX = "ld.param.u64 %d1, [t];\ntex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}];"
MALLOC = "{ .param .b64 p; .param .b64 q; call (q), malloc, (p); }"
IN_FUNCTION = (
    f".func inner(.reg .u64 t)\n{{\n.reg .f32 %f<5>;\n.reg .b64 %d<4>;\n{TEX.splitlines()[1]}\nret;\n}}\n"
)


@pytest.mark.parametrize(
    ("body", "head", "why"),
    [
        ("", "", ""),
        (TEX, "", "it uses textures or surfaces"),
        ("call inner, (%d1);", IN_FUNCTION, "it uses textures or surfaces"),
        (MALLOC, ".extern .func (.param .b64 q) malloc (.param .b64 p);\n", "it allocates memory"),
    ],
)
def test_what_cannot_be_recorded(body: str, head: str, why: str) -> None:
    assert not_recordable(kernel_of(body, head)) == why


def test_such_a_kernel_is_named_once(tmp_path: Path) -> None:
    program = Program(tmp_path / "out")
    program.kernel = program.machine.load(kernel_of(TEX).module.module.source.text).kernels["k"]
    entries = [Launch(number, "k", (1, 1, 1), (1, 1, 1)) for number in (1, 2)]
    for entry in entries:
        begun = program.recorder.begin(entry, program.kernel, bytes(8), program.machine.heap, {})
        assert begun is None
    assert program.notes == ["ptxtool exec: launches of k are not recorded, as it uses textures or surfaces"]
    assert list((tmp_path / "out").iterdir()) == []


def test_a_folder_must_be_empty_and_writable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder, what in ((tmp_path, "is not empty"), (tmp_path / "file" / "out", "cannot record in")):
        with pytest.raises(PtxError, match=what) as caught:
            Recorder(folder, ["./app"], print, print)
        assert caught.value.diagnostics[0].code == "E503"


def test_an_error_while_recording_is_reported_once(tmp_path: Path) -> None:
    program = Program(tmp_path / "out")
    (tmp_path / "out" / "0001-chase").mkdir()
    for _ in range(2):
        program.launch()
    (problem,) = program.problems
    assert problem.diagnostics[0].code == "E503"
    assert "0001-chase': file exists" in str(problem)
    assert program.recorder.recording.launches == 0


def test_a_module_without_variables_is_no_block(tmp_path: Path) -> None:
    text = TEXT.replace(".global .align 4 .u32 calls = 0;\n", "").replace(
        "atom.global.add.u32 %r5, [calls], 1;", ""
    )
    text = text.replace(".const .align 4 .u32 step = 2;\n", "").replace(
        "ld.const.u32 %r3, [step]", "mov.u32 %r3, 2"
    )
    program = Program(tmp_path / "out", text=text)
    program.launch()
    outcome = replayed(tmp_path / "out" / "0001-chase")
    assert outcome.wrong == ()
    assert len(outcome.checked) == len(program.machine.heap.blocks()) == 3


def test_the_list_has_all_launches_of_a_process(tmp_path: Path) -> None:
    program = Program(tmp_path / "out", launch_choice("1-4,7"))
    for error in (0, 700, 0, 0, 0, 0, 0):
        program.launch(error=error)
    recording = api.load_recording(tmp_path / "out" / "launch.toml")
    assert recording is not None
    assert recording.memory_bytes == 1 << 20
    assert [(each.number, each.left_out) for each in recording.launches] == [
        (1, ""),
        (3, "launch 2"),
        (4, ""),
        (7, "launches 5-6"),
    ]
    assert [each.file.parent.name for each in recording.launches] == [
        f"000{number}-chase" for number in (1, 3, 4, 7)
    ]
    outcome = api.run_recording(recording)
    assert (outcome.wrong, outcome.numbers) == ((), (1, 3, 4, 7))
    assert outcome.left_out == ("launch 2", "launches 5-6")


def test_each_process_has_a_list(tmp_path: Path) -> None:
    first, second = Program(tmp_path / "out"), Program(tmp_path / "other")
    second.recorder, second.n = first.recorder, 1
    first.launch()
    second.launch()
    first.n += 1
    first.launch()
    lists = [api.load_recording(tmp_path / "out" / name) for name in ("launch.toml", "launch-2.toml")]
    assert [[each.number for each in found.launches] for found in lists if found] == [[1, 3], [2]]
    assert [each.left_out for found in lists if found for each in found.launches] == ["", "", ""]
    for found in lists:
        assert found is not None
        assert api.run_recording(found).wrong == ()
