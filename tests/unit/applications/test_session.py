"""One process's device, asked as the C library asks: memory, modules, launches, and what is wrong."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from fat_binaries import entry, fat_binary

from ptxsim.launch_options import LaunchOptions
from ptxsim.memory_image.texture_objects import Texture
from ptxtool.applications.protocol import DEVICE, LAUNCH, NEEDS, TEXTURE, Error, Gone, Message, Request
from ptxtool.applications.reporter import Reporter
from ptxtool.applications.session import Session
from ptxtool.applications.settings import Settings
from ptxtool.base.diag import Diagnostic
from ptxtool.formats.gpu import load_gpu

TEXT = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 last = 5;
.visible .const .align 4 .u32 step = 2;
.visible .entry count(.param .u64 out, .param .u32 start)
{
	.reg .u32 %r<6>;
	.reg .u64 %rd<4>;
	.shared .align 4 .b8 room[64];
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [start];
	ld.const.u32 %r2, [step];
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r3, %r2, %r1;
	mul.wide.u32 %rd2, %r3, 4;
	add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r4;
	st.global.u32 [last], %r4;
	st.shared.u32 [room], %r4;
	ret;
}
"""


@dataclass
class Device:
    """A session, what it reported, and its requests as functions."""

    session: Session
    told: list[Diagnostic | str] = field(default_factory=list)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return self.session.reporter.problems

    @property
    def notes(self) -> list[str]:
        return [each for each in self.told if isinstance(each, str)]

    def ask(self, kind: Message, data: bytes = b"") -> tuple[int, bytes]:
        code, found, _ = self.session.answer(Request(kind, data))
        return code, found

    def malloc(self, n_bytes: int) -> int:
        code, data = self.ask(Message.MALLOC, struct.pack("<QQ", n_bytes, 256))
        assert code == Error.SUCCESS
        return int(struct.unpack("<Q", data)[0])

    def load(self) -> None:
        assert self.ask(Message.MODULE, fat_binary(entry(TEXT))) == (0, struct.pack("<I", 0))
        code, data = self.ask(Message.KERNEL, struct.pack("<I", 0) + b"count")
        assert (code, data) == (0, struct.pack("<6I", 0, 2, 0, 8, 8, 4))

    def launch(self, address: int, *, grid: int = 1, threads: int = 4, shared: int = 0) -> tuple[int, float]:
        head = LAUNCH.pack(0, grid, 1, 1, threads, 1, 1, 0, 0, 0, 0, shared)
        code, data = self.ask(Message.LAUNCH, head + struct.pack("<QI", address, 10))
        return code, float(struct.unpack_from("<d", data)[0])


def device_with(settings: Settings, gone: bool = False) -> Device:
    told: list[Diagnostic | str] = []
    return Device(Session(settings, Reporter(told.append), lambda: gone), told)


@pytest.fixture
def settings() -> Settings:
    return Settings(load_gpu("tesla-c2050"), LaunchOptions(), memory_bytes=4 << 20)


@pytest.fixture
def device(settings: Settings) -> Iterator[Device]:
    found = device_with(settings)
    yield found
    found.session.close()


def test_a_launch_from_memory_to_result(device: Device) -> None:
    code, data, files = device.session.answer(Request(Message.HELLO, struct.pack("<IIII", 1, 13, 75, 90)))
    assert (code, len(files), data[DEVICE.size :]) == (0, 1, b"tesla-c2050")
    address = device.malloc(16)
    device.load()
    code, seconds = device.launch(address)
    assert code == Error.SUCCESS
    assert device.session.machine.heap.read(address, 16) == struct.pack("<4I", 10, 12, 14, 16)
    # 11 instructions of one warp, one a cycle on each of 14 SMs at 575 MHz
    assert seconds == pytest.approx(11 / (14 * 575e6))
    (launch,) = device.session.reporter.launches
    assert str(launch) == "launch 1, count, grid 1x1x1, block 4x1x1"
    assert (launch.warp_instructions, launch.error) == (11, 0)


def test_variables_lie_in_device_memory(device: Device) -> None:
    address = device.malloc(16)
    device.load()
    heap = device.session.machine.heap
    places = {}
    for name, first in ((b"last", 5), (b"step", 2)):
        code, data = device.ask(Message.VARIABLE, struct.pack("<I", 0) + name)
        places[name], n_bytes = struct.unpack("<QQ", data)
        assert (code, n_bytes) == (0, 4)
        assert heap.read(places[name], 4) == struct.pack("<I", first)
    heap.write(places[b"step"], struct.pack("<I", 100))
    assert device.launch(address, threads=1)[0] == Error.SUCCESS
    assert device.launch(address)[0] == Error.SUCCESS
    assert heap.read(address, 8) == struct.pack("<2I", 10, 110)
    assert device.ask(Message.VARIABLE, struct.pack("<I", 0) + b"other")[0] == Error.INVALID_SYMBOL


@pytest.mark.parametrize(
    ("targets", "changes", "expected"),
    [
        ([75, 90], {}, 90),
        ([75, 90], {"target": 80}, 80),
        ([75, 90], {"target": 50}, 50),
        ([75, 90], {"gpu_chosen": True}, 75),
        ([20, 75], {"gpu_chosen": True}, 20),
        ([], {}, 75),
    ],
)
def test_the_compute_capability(targets: list[int], changes: dict[str, int], expected: int) -> None:
    found = device_with(Settings(load_gpu("tesla-c2050"), LaunchOptions(), memory_bytes=4 << 20, **changes))  # type: ignore[arg-type]
    _, data, _ = found.session.answer(
        Request(Message.HELLO, struct.pack(f"<{2 + len(targets)}I", 1, 13, *targets))
    )
    figures = DEVICE.unpack_from(data)
    assert figures[5] * 10 + figures[6] == expected
    assert bool(found.notes) == (
        (expected == 75 and "gpu_chosen" in changes) or (expected < 75 and "target" in changes)
    )
    found.session.close()


def test_memory_that_is_freed_twice_or_never_was(device: Device) -> None:
    address = device.malloc(64)
    free = struct.pack("<Q", address) + b"cudaFree(0x1)"
    assert device.ask(Message.FREE, free)[0] == Error.SUCCESS
    assert device.ask(Message.FREE, free)[0] == Error.INVALID_VALUE
    (problem,) = device.diagnostics
    assert (problem.code, problem.message.startswith("cudaFree(0x1): free of address")) == ("E404", True)
    assert "freed" in problem.message
    device.ask(Message.RANGE, struct.pack("<QQ", address, 8) + b"cudaMemset(0x1, 0, 8 bytes)")
    assert device.diagnostics[1].message.startswith("cudaMemset(0x1, 0, 8 bytes): no 8 bytes at")
    assert device.ask(Message.MALLOC, struct.pack("<QQ", 1 << 40, 256))[0] == Error.OUT_OF_MEMORY
    assert "--memory" in device.diagnostics[2].help


def test_a_fault_of_a_kernel(device: Device) -> None:
    device.load()
    assert device.launch(0)[0] == Error.ILLEGAL_ADDRESS
    (problem,) = device.diagnostics
    assert problem.code == "E404"
    assert problem.message.startswith("launch 1, count, grid 1x1x1, block 4x1x1: ")
    assert device.session.reporter.launches[0].error == 700


@pytest.mark.parametrize(
    ("extents", "what"),
    [
        ({"grid": 0}, "this grid cannot be launched"),
        ({"grid": 1 << 31}, "this grid cannot be launched"),
        ({"threads": 0}, "this block cannot be launched"),
        ({"threads": 1025}, "this block cannot be launched"),
    ],
)
def test_extents_that_no_gpu_takes(device: Device, extents: dict[str, int], what: str) -> None:
    device.load()
    assert device.launch(device.malloc(16), **extents)[0] == Error.INVALID_CONFIGURATION
    assert device.diagnostics[0].message.endswith(what)


def test_too_much_shared_memory(device: Device) -> None:
    device.load()
    assert device.launch(device.malloc(16), shared=300_000)[0] == Error.OUT_OF_RESOURCES


def test_what_a_kernel_needs(device: Device) -> None:
    device.session.answer(Request(Message.HELLO, struct.pack("<IIII", 1, 13, 75, 90)))
    device.load()
    code, data = device.ask(Message.NEEDS, struct.pack("<I", 0))
    registers, most_threads, compiled_for, target, shared, constant, _ = NEEDS.unpack(data)
    assert (code, most_threads, compiled_for, target, shared, constant) == (0, 1024, 75, 90, 64, 4)
    assert 0 < registers < 16
    # 48 warps of an SM and 8 CTAs: 8 CTAs of 6 warps; 48 KB of shared memory hold two with 20 KB, and no machine was
    # chosen: one with as much as any GPU has, 227 KB, of which the kernel itself takes 64
    of_shared = ((192, 20_000, 2), (192, 60_000, 1), (192, 232_384, 1), (192, 232_385, 0))
    for threads, dynamic, expected in ((192, 0, 8), (384, 0, 4), *of_shared):
        code, data = device.ask(Message.OCCUPANCY, struct.pack("<IIQ", 0, threads, dynamic))
        assert struct.unpack("<II", data) == (expected, 1)


def test_modules_that_cannot_be_loaded(device: Device) -> None:
    assert device.ask(Message.MODULE, fat_binary(entry(b"\x7fELF", kind=2)))[0] == Error.NO_KERNEL_IMAGE
    assert (
        device.ask(Message.MODULE, fat_binary(entry(b".version 7.0\n.target sm_75\nx")))[0]
        == Error.INVALID_PTX
    )
    code, log = device.ask(Message.MODULE, b".version 7.0\n.target sm_75\nnonsense\0")
    assert (code, b"error[E101]" in log, b"nonsense" in log) == (Error.INVALID_PTX, True, True)
    assert [problem.code for problem in device.diagnostics] == ["E501", "E101", "E101"]
    assert "-gencode" in device.diagnostics[0].help


def test_a_kernel_that_is_not_there(device: Device) -> None:
    device.load()
    assert device.ask(Message.KERNEL, struct.pack("<I", 0) + b"other")[0] == Error.INVALID_FUNCTION
    assert device.diagnostics[0].code == "E205"
    assert device.diagnostics[0].help == "its kernels: count"


def test_a_module_that_is_a_text(device: Device) -> None:
    assert device.ask(Message.MODULE, TEXT + b"\0") == (0, struct.pack("<I", 0))
    assert device.ask(Message.KERNEL, struct.pack("<I", 0) + b"count")[0] == Error.SUCCESS


def test_the_kernels_of_a_module(device: Device) -> None:
    text = TEXT + b".visible .entry nothing() { ret; }\n"
    assert device.ask(Message.MODULE, text)[0] == Error.SUCCESS
    assert device.ask(Message.KERNELS, struct.pack("<I", 0)) == (Error.SUCCESS, b"count\0nothing\0")


def test_calls_that_are_missing_are_named_once(device: Device) -> None:
    for name in (b"cudaGraphCreate", b"cudaGraphCreate", b"cuGraphLaunch"):
        assert device.ask(Message.MISSING, name)[0] == 0
    assert device.session.reporter.missing == ["cudaGraphCreate", "cuGraphLaunch"]
    assert [note.split()[8] for note in device.notes] == ["cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED"]
    device.ask(Message.REFUSED, b"cudaMemcpy(...): a null pointer")
    assert str(device.diagnostics[0]).startswith("error[E401]: cudaMemcpy(...): a null pointer")


def test_texture_references_are_variables_of_a_module(device: Device) -> None:
    text = TEXT.replace(b".visible .global", b".global .texref picture;\n.visible .global", 1)
    assert device.ask(Message.MODULE, fat_binary(entry(text)))[0] == 0
    module, texels = struct.pack("<I", 0), (device.malloc(64), 64, 16, 0, 0)
    record = module + TEXTURE.pack(*texels, 0, 0, 32, 1, 2, 1, 1, 1, 0, 0, 0)
    assert device.ask(Message.BIND, record + b"picture") == (Error.SUCCESS, b"")
    (bound,) = device.session._modules[0].textures.values()
    assert isinstance(bound, Texture)
    assert bound.array.shape == (16,)
    assert device.ask(Message.UNBIND, module + b"picture")[0] == Error.SUCCESS
    assert device.session._modules[0].textures == {}
    assert device.ask(Message.BIND, record + b"other")[0] == Error.INVALID_VALUE
    assert device.ask(Message.UNBIND, module + b"other")[0] == Error.INVALID_VALUE
    assert [problem.message.partition(":")[0] for problem in device.diagnostics] == [
        "the reference 'other'"
    ] * 2


def test_limits(device: Device) -> None:
    assert device.ask(Message.LIMIT, struct.pack("<IQ", 2, 16 << 20))[0] == Error.SUCCESS
    assert device.ask(Message.LIMIT, struct.pack("<IQ", 0, 1 << 50))[0] == Error.INVALID_VALUE
    device.load()
    assert device.launch(device.malloc(16))[0] == Error.SUCCESS


def test_what_no_library_of_ours_sends(device: Device) -> None:
    with pytest.raises(Gone):
        device.session.answer(Request(99, b""))


def test_the_checks_report_every_finding() -> None:
    checked = Settings(load_gpu("tesla-c2050"), LaunchOptions(check=("memory",)), memory_bytes=4 << 20)
    found = device_with(checked)
    address = found.malloc(8)
    found.load()
    assert found.launch(address)[0] == Error.SUCCESS
    assert found.diagnostics[0].message.startswith("launch 1, count, grid 1x1x1, block 4x1x1: ")
    assert found.session.reporter.launches[0].findings == len(found.diagnostics) >= 1
    found.session.close()


def test_a_finding_is_told_once_for_all_launches() -> None:
    checked = Settings(load_gpu("tesla-c2050"), LaunchOptions(check=("memory",)), memory_bytes=4 << 20)
    found = device_with(checked)
    address = found.malloc(8)
    found.load()
    for _ in range(3):
        assert found.launch(address)[0] == Error.SUCCESS
    told = [each for each in found.told if isinstance(each, Diagnostic)]
    assert len(found.diagnostics) == 3 * len(told)
    assert [launch.findings for launch in found.session.reporter.launches] == [len(told)] * 3
    found.session.close()


def test_an_instruction_that_cannot_be_simulated(device: Device) -> None:
    text = TEXT.replace(b"mov.u32 %r3, %tid.x;", b"mov.u32 %r9, %tid.x;")
    assert device.ask(Message.MODULE, fat_binary(entry(text)))[0] == 0
    assert device.ask(Message.KERNEL, struct.pack("<I", 0) + b"count")[0] == 0
    assert device.launch(device.malloc(16))[0] == Error.NOT_SUPPORTED
    assert device.diagnostics[0].code == "E403"
