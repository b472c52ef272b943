"""The driver's side without a GPU: what is said where there is none, what a launch hands over, faults."""

import ctypes
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.device import Device, NoGpu, ptx_version
from gpu.fake_device import troubled
from gpu.machine import Job, MachineError, Simulator, job
from gpu.programs import Program, row_items, rows
from gpu.worker import GuardedDevice


class FakeDriver(ModuleType):
    """Enough of `cuda.bindings.driver`: memory is the host's, a launch is a run of the simulator."""

    def __init__(self, status: str = "CUDA_SUCCESS", missing: bool = False):
        super().__init__("cuda.bindings.driver")
        self.success = SimpleNamespace(name="CUDA_SUCCESS")
        self.CUresult = SimpleNamespace(CUDA_SUCCESS=self.success)
        self._status = self.success if status == "CUDA_SUCCESS" else SimpleNamespace(name=status)
        self._missing = missing
        self.memory: dict[int, np.ndarray] = {}
        self.textures: list[Any] = []
        self.refuses = False
        for name in (
            "CUdevice_attribute",
            "CUjit_option",
            "CUresourcetype",
            "CUaddress_mode",
            "CUfilter_mode",
        ):
            setattr(self, name, _Names())
        self.CUarray_format, self.CUmemorytype = _Names(), _Names()
        self.CU_TRSF_READ_AS_INTEGER, self.CU_TRSF_NORMALIZED_COORDINATES = 1, 2
        self.CUDA_ARRAY3D_LAYERED, self.CUDA_ARRAY3D_SURFACE_LDST = 1, 2
        self.CUDA_ARRAY3D_CUBEMAP, self.CUDA_ARRAY3D_TEXTURE_GATHER = 4, 8
        self.CUDA_RESOURCE_DESC = lambda: SimpleNamespace(res=SimpleNamespace(array=SimpleNamespace()))
        self.CUDA_TEXTURE_DESC = self.CUDA_ARRAY3D_DESCRIPTOR = self.CUDA_MEMCPY3D = SimpleNamespace

    def cuInit(self, flags: int) -> tuple[Any, ...]:
        if self._missing:
            raise RuntimeError("libcuda.so.1 is not there")
        return (self._status,)

    def cuDriverGetVersion(self) -> tuple[Any, int]:
        return self.success, 13010

    def cuDeviceGetAttribute(self, which: str, device: int) -> tuple[Any, int]:
        return self.success, {"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR": 9}.get(which, 0)

    def cuDeviceGetName(self, size: int, device: int) -> tuple[Any, bytes]:
        return self.success, b"Fake GPU" + bytes(size - 8)

    def cuModuleLoadDataEx(
        self, image: bytes, n: int, options: list[str], values: list[Any]
    ) -> tuple[Any, Any]:
        self.text = image.rstrip(b"\0").decode()
        assert options[0] == "CU_JIT_ERROR_LOG_BUFFER"
        if self.refuses:
            log = (ctypes.c_char * values[1]).from_address(id(values[0]) + bytes.__basicsize__ - 1)
            log.value = b"ptxas: line 7; no"
            return SimpleNamespace(name="CUDA_ERROR_INVALID_PTX"), None
        return self.success, self.text

    def cuMemAlloc(self, n: int) -> tuple[Any, int]:
        array = np.zeros(n, np.uint8)
        self.memory[array.ctypes.data] = array
        return self.success, array.ctypes.data

    def cuMemFree(self, pointer: int) -> tuple[Any]:
        del self.memory[pointer]
        return (self.success,)

    def cuMemcpyHtoD(self, to: int, source: int, n: int) -> tuple[Any]:
        ctypes.memmove(to, source, n)
        return (self.success,)

    cuMemcpyDtoH = cuMemcpyHtoD

    def cuArray3DCreate(self, made: Any) -> tuple[Any, Any]:
        self.textures.append(made)
        return self.success, made

    def cuTexObjectCreate(self, resource: Any, sampling: Any, view: None) -> tuple[Any, int]:
        return self.success, 4096 + len(self.textures)

    def cuLaunchKernel(self, kernel: str, *numbers: int) -> tuple[Any]:
        *shape, places, extra = numbers
        assert shape == [1, 1, 1, 128, 1, 1, 0, 0]
        assert extra == 0
        n = 5 + len(self.textures)
        self.parameters = (ctypes.POINTER(ctypes.c_uint64) * n).from_address(places)
        if not self.textures:
            given: list[Any] = [self.memory[self.parameters[k][0]].view(np.uint64) for k in (0, 1, 2)]
            by_value = ctypes.cast(self.parameters[3], ctypes.POINTER(ctypes.c_uint8 * 64)).contents
            given += [np.array(by_value, np.uint8), self.memory[self.parameters[4][0]].view(np.uint64)]
            Simulator("sm_90a").run(Job(self.text, given))
        return (self.success,)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)
        return lambda *arguments: (self.success, "handle")


class _Names:
    """An enumeration whose members are their names."""

    def __getattr__(self, name: str) -> str:
        return name


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    return installed(monkeypatch, FakeDriver())


def installed(monkeypatch: pytest.MonkeyPatch, driver: FakeDriver) -> FakeDriver:
    bindings = ModuleType("cuda.bindings")
    bindings.driver = driver  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
    return driver


def program(base: str, limit: int = 3) -> Program:
    form = next(f for f in rows() if f.base == base)
    return Program(tuple(row_items(form, limit)[0]), "sm_90a", "9.0")


def test_a_launch(driver: FakeDriver) -> None:
    """Memory goes there and back, the parameters are pointers and the bytes of an array; nothing is left."""
    device = Device()
    assert (device.name, device.target, device.version) == (
        "Fake GPU (compute capability 9.0)",
        "sm_90a",
        "9.0",
    )
    wanted = program("mad")
    found = device.run(job(wanted))
    assert found.any()
    assert (found == Simulator("sm_90a").run(job(wanted))).all()
    assert driver.memory == {}


def test_textures(driver: FakeDriver) -> None:
    """An array of texels and a handle for each; cubes are six layers."""
    wanted = program("tex.grad", 16)
    forms = [f for f in rows() if f.base == "tex" and "cube" in f.words]
    cube = Program((row_items(forms[0], 1)[0][0],), "sm_90a", "9.0")
    Device().run(job(cube))
    (made,) = driver.textures
    assert (made.Width, made.Height, made.NumChannels) == (8, 8, 4)
    assert (made.Depth, made.Flags) in ((6, 4), (12, 5))
    assert driver.parameters[5][0] == 4097
    driver.textures.clear()
    Device().run(job(wanted))
    assert [(m.Width, m.Height, m.Depth) for m in driver.textures if m.Flags == 0] == [(128, 0, 0)] * sum(
        name.startswith("t_1d") for name in {n for i in wanted.items for n in i.handles}
    )


def test_what_the_compiler_says_is_reported(driver: FakeDriver) -> None:
    driver.refuses = True
    with pytest.raises(MachineError, match="CUDA_ERROR_INVALID_PTX: ptxas: line 7; no") as caught:
        Device().run(job(program("mad")))
    assert caught.value.stage == "compile"


@pytest.mark.parametrize(
    ("driver", "message"),
    [
        (FakeDriver(missing=True), r"no NVIDIA driver \(libcuda.so.1\)"),
        (FakeDriver("CUDA_ERROR_NO_DEVICE"), r"finds no GPU \(CUDA_ERROR_NO_DEVICE\); `nvidia-smi`"),
    ],
)
def test_no_gpu(monkeypatch: pytest.MonkeyPatch, driver: FakeDriver, message: str) -> None:
    installed(monkeypatch, driver)
    with pytest.raises(NoGpu, match=message):
        Device()


def test_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(NoGpu, match=r"pip install 'ptxtool\[gpu\]'"):
        Device()


@pytest.mark.parametrize(
    ("cuda", "version"),
    [(11080, "7.8"), (12040, "8.4"), (12060, "8.5"), (12090, "8.8"), (13000, "9.0"), (14020, "9.0")],
)
def test_versions(cuda: int, version: str) -> None:
    assert ptx_version(cuda) == version


def test_an_old_driver() -> None:
    with pytest.raises(NoGpu, match=r"CUDA 10\.2; install one of CUDA 11\.8"):
        ptx_version(10020)


def test_the_process_may_fault_crash_and_hang() -> None:
    """Each costs its own job; the next one finds a new process."""
    device = GuardedDevice(troubled, seconds=20)
    try:
        assert device.name == "fake"
        assert device.run(job(program("add", 1))).any()
        for base, stage, message in (
            ("div", "run", "no such thing here"),
            ("bfi", "compile", "no such thing here"),
            ("rem", "run", "the process ended"),
        ):
            with pytest.raises(MachineError, match=message) as caught:
                device.run(job(program(base, 1)))
            assert caught.value.stage == stage
        assert device.run(job(program("add", 1))).any()
    finally:
        device.close()
    hanging = GuardedDevice(troubled, seconds=1)
    try:
        with pytest.raises(MachineError, match="no end after 1 seconds"):
            hanging.run(job(program("sad", 1)))
    finally:
        hanging.close()
