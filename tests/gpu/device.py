"""An NVIDIA GPU through the CUDA driver: compile a job with the driver's own compiler, run it, read the results.

`cuda-bindings`, NVIDIA's own package, has the functions and structures of the driver. Its header has 25,000 lines; the
parts that textures need are not written down here once more.

Reference: CUDA driver API, sections on modules, memory, texture and surface objects.
"""

from typing import Any

import numpy as np
from gpu.machine import BY_VALUE, RESULTS, Job, MachineError
from gpu.programs import newest_target

from ptxsim import Surface, Texture

# what PTX the compiler of a driver of some CUDA version takes; later ones of a major version count on
_PTX = {(11, 8): "7.8", (12, 0): "8.0", (12, 1): "8.1", (12, 2): "8.2", (12, 3): "8.3", (12, 4): "8.4", (12, 5): "8.5",
        (12, 7): "8.6", (12, 8): "8.7", (12, 9): "8.8", (13, 0): "9.0"}  # fmt: skip
_LOG_BYTES = 1 << 14


class NoGpu(Exception):
    """There is nothing to compare with; the message says what is missing and what to do."""


def ptx_version(cuda: int) -> str:
    """The newest PTX of a driver, from its number (13010: CUDA 13.1); of those that the table of instructions knows."""
    have = cuda // 1000, cuda % 1000 // 10
    known = [version for version in _PTX if version <= have]
    if not known:
        raise NoGpu(f"the driver is one of CUDA {have[0]}.{have[1]}; install one of CUDA 11.8 or later")
    return _PTX[max(known)]


class Device:
    """The first GPU. Raises `NoGpu` where there is none; after an error of a run a device is of no use any more."""

    def __init__(self, ordinal: int = 0):
        try:
            from cuda.bindings import driver
        except ImportError as problem:
            raise NoGpu(
                "there is no package cuda-bindings; install it: pip install 'ptxtool[gpu]'"
            ) from problem
        self._cuda: Any = driver
        try:
            status = driver.cuInit(0)[0]
        except RuntimeError as problem:
            raise NoGpu(
                "there is no NVIDIA driver (libcuda.so.1) on this machine; run it where there is one"
            ) from problem
        if status != driver.CUresult.CUDA_SUCCESS:
            raise NoGpu(f"the NVIDIA driver finds no GPU ({status.name}); `nvidia-smi` shows what it sees")
        handle = self._call(driver.cuDeviceGet, ordinal)
        context = self._call(driver.cuDevicePrimaryCtxRetain, handle)
        self._call(driver.cuCtxSetCurrent, context)
        attribute = driver.CUdevice_attribute
        capability = tuple(
            self._call(driver.cuDeviceGetAttribute, which, handle)
            for which in (
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        name = self._call(driver.cuDeviceGetName, 256, handle).split(b"\0")[0].decode()
        self.name = f"{name} (compute capability {capability[0]}.{capability[1]})"
        self.target = newest_target(capability)
        self.version = ptx_version(self._call(driver.cuDriverGetVersion))

    def _call(self, function: Any, *arguments: Any) -> Any:
        """A function of the driver; what it returns after its status."""
        status, *values = function(*arguments)
        if status != self._cuda.CUresult.CUDA_SUCCESS:
            raise MachineError("run", f"{function.__name__}: {status.name}")
        return values[0] if values else None

    def run(self, job: Job) -> np.ndarray:
        """Compile, launch, wait. Raises `MachineError` with what the compiler or the driver says."""
        cuda = self._cuda
        module = self._load(job.text)
        kernel = self._call(cuda.cuModuleGetFunction, module, b"k")
        memory: list[Any] = []
        arrays: list[Any] = []
        words = np.zeros(len(job.arguments), np.uint64)
        places = np.zeros(len(job.arguments), np.uint64)  # of the parameters
        first = len(job.arguments) - len(job.geometries)
        for k, argument in enumerate(job.arguments):
            places[k] = words.ctypes.data + 8 * k
            if k == BY_VALUE:
                places[k] = argument.ctypes.data
            elif k >= first:
                array, words[k] = self._opaque(argument, job.geometries[k - first])
                arrays.append(array)
            else:
                memory.append(self._call(cuda.cuMemAlloc, argument.nbytes))
                words[k] = int(memory[-1])
                self._call(cuda.cuMemcpyHtoD, memory[-1], argument.ctypes.data, argument.nbytes)
        self._call(cuda.cuLaunchKernel, kernel, 1, 1, 1, job.block, 1, 1, 0, 0, places.ctypes.data, 0)
        self._call(cuda.cuCtxSynchronize)
        results: np.ndarray = job.arguments[RESULTS]
        self._call(cuda.cuMemcpyDtoH, results.ctypes.data, memory[RESULTS], results.nbytes)
        for pointer in memory:
            self._call(cuda.cuMemFree, pointer)
        for array in arrays:
            self._call(cuda.cuArrayDestroy, array)
        self._call(cuda.cuModuleUnload, module)
        return results

    def _load(self, text: str) -> Any:
        """The module of a text, made by the driver's compiler."""
        cuda = self._cuda
        log = bytes(_LOG_BYTES)  # the package takes bytes, and the driver writes into them
        option = cuda.CUjit_option
        options = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        image = text.encode() + b"\0"
        status, module = cuda.cuModuleLoadDataEx(image, 2, options, [log, _LOG_BYTES])
        if status != cuda.CUresult.CUDA_SUCCESS:
            message = log.partition(b"\0")[0].decode(errors="replace").strip() or "without a message"
            raise MachineError("compile", f"{status.name}: {message}")
        return module

    def _opaque(self, given: Texture | Surface, geometry: str) -> tuple[Any, int]:
        """An array of texels on the device, and the handle of a texture or surface object of it."""
        cuda = self._cuda
        array = self._texels(given.array, given.channels, geometry, isinstance(given, Surface))
        resource = cuda.CUDA_RESOURCE_DESC()
        resource.resType = cuda.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
        resource.res.array.hArray = array
        if isinstance(given, Surface):
            return array, int(self._call(cuda.cuSurfObjectCreate, resource))
        mode = cuda.CUaddress_mode.CU_TR_ADDRESS_MODE_CLAMP
        assert (given.address, given.filter, given.read) == ("clamp", "point", "element")
        sampling = cuda.CUDA_TEXTURE_DESC()
        sampling.addressMode = [mode] * 3
        sampling.filterMode = cuda.CUfilter_mode.CU_TR_FILTER_MODE_POINT
        sampling.flags = cuda.CU_TRSF_READ_AS_INTEGER if given.array.dtype.kind != "f" else 0
        if given.normalized:
            sampling.flags |= cuda.CU_TRSF_NORMALIZED_COORDINATES
        return array, int(self._call(cuda.cuTexObjectCreate, resource, sampling, None))

    def _texels(self, texels: np.ndarray, channels: int, geometry: str, is_surface: bool) -> Any:
        cuda = self._cuda
        extents = texels.shape[: texels.ndim - (channels > 1)]
        width, layers = extents[-1], extents[0]
        height = extents[-2] if geometry not in ("1d", "a1d") else 0
        depth = layers if geometry not in ("1d", "2d") else 0
        format_ = cuda.CUarray_format
        made = cuda.CUDA_ARRAY3D_DESCRIPTOR()
        made.Width, made.Height, made.Depth, made.NumChannels = width, height, depth, channels
        made.Format = {
            "float32": format_.CU_AD_FORMAT_FLOAT, "float16": format_.CU_AD_FORMAT_HALF,
            "int32": format_.CU_AD_FORMAT_SIGNED_INT32, "uint32": format_.CU_AD_FORMAT_UNSIGNED_INT32,
        }[texels.dtype.name]  # fmt: skip
        made.Flags = (
            (cuda.CUDA_ARRAY3D_SURFACE_LDST if is_surface else 0)
            | (cuda.CUDA_ARRAY3D_TEXTURE_GATHER if geometry == "2d" and not is_surface else 0)
            | (cuda.CUDA_ARRAY3D_LAYERED if geometry in ("a1d", "a2d", "acube") else 0)
            | (cuda.CUDA_ARRAY3D_CUBEMAP if "cube" in geometry else 0)
        )
        array = self._call(cuda.cuArray3DCreate, made)
        flat = np.ascontiguousarray(texels)
        copy = cuda.CUDA_MEMCPY3D()
        copy.srcMemoryType = cuda.CUmemorytype.CU_MEMORYTYPE_HOST
        copy.srcHost = flat.ctypes.data
        copy.srcPitch = copy.WidthInBytes = width * channels * texels.itemsize
        copy.srcHeight = copy.Height = max(height, 1)
        copy.Depth = max(depth, 1)
        copy.dstMemoryType = cuda.CUmemorytype.CU_MEMORYTYPE_ARRAY
        copy.dstArray = array
        self._call(cuda.cuMemcpy3D, copy)
        return array
