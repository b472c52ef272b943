/* Errors: their names and texts, and the last one of a thread. */
#include <stddef.h>
#include <string.h>
#include "runtime.h"

static const struct { int code; const char *name, *text; } known[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {4, "cudaErrorCudartUnloading", "driver shutting down"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {16, "cudaErrorInvalidHostPointer", "invalid host pointer"},
    {17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {18, "cudaErrorInvalidTexture", "invalid texture reference"},
    {20, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
    {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {34, "cudaErrorStubLibrary", "CUDA driver is a stub library"},
    {35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
    {37, "cudaErrorInvalidSurface", "invalid surface reference"},
    {52, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {200, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {201, "cudaErrorDeviceUninitialized", "invalid device context"},
    {209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {215, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture"},
    {217, "cudaErrorPeerAccessUnsupported", "peer access is not supported between these two devices"},
    {218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {222, "cudaErrorUnsupportedPtxVersion", "the provided PTX was compiled with an unsupported toolchain."},
    {300, "cudaErrorInvalidSource", "device kernel image is invalid"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {401, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {500, "cudaErrorSymbolNotFound", "named symbol not found"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {708, "cudaErrorSetOnActiveProcess", "cannot set while device is active in this process"},
    {710, "cudaErrorAssert", "device-side assert triggered"},
    {712, "cudaErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"},
    {713, "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
    {714, "cudaErrorHardwareStackError", "hardware stack error"},
    {715, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
    {716, "cudaErrorMisalignedAddress", "misaligned address"},
    {717, "cudaErrorInvalidAddressSpace", "operation not supported on global/shared address space"},
    {718, "cudaErrorInvalidPc", "invalid program counter"},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {800, "cudaErrorNotPermitted", "operation not permitted"},
    {801, "cudaErrorNotSupported", "operation not supported"},
    {900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {901, "cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"},
    {902, "cudaErrorStreamCaptureMerge", "operation would result in a merge of separate capture sequences"},
    {903, "cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began"},
    {907, "cudaErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream"},
    {910, "cudaErrorGraphExecUpdateFailure", "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"},
    {912, "cudaErrorInvalidClusterSize", "a kernel launch error has occurred due to cluster misconfiguration"},
    {999, "cudaErrorUnknown", "unknown error"},
};

__thread int last_error;

__thread int is_reported;
const char *cudaGetErrorString(int error);

int done_in(const char *call, int *is_named, int error) {
    int is_mistake = error == INVALID_VALUE || error == INVALID_FUNCTION || error == INVALID_HANDLE;
    if (is_mistake && !is_reported && !*is_named && !ready()) {
        *is_named = 1;
        refuse("%s: %s", call, cudaGetErrorString(error));
    }
    is_reported = 0;
    if (error)
        last_error = error;
    return error;
}

/* The error of a kernel stays; another is reset by being read. */
API int cudaGetLastError(void) {
    int error = failed() ? failed() : last_error;
    last_error = SUCCESS;
    return error;
}

API int cudaPeekAtLastError(void) { return failed() ? failed() : last_error; }

API const char *cudaGetErrorName(int error) {
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].code == error)
            return known[k].name;
    return "unrecognized error code";
}

API const char *cudaGetErrorString(int error) {
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].code == error)
            return known[k].text;
    return "unrecognized error code";
}

/* For the calls of the API that this library does not have: each names itself once. */
int missing(const char *name, int *is_named) {
    int error = ready();
    if (!error && !*is_named) {
        *is_named = 1;
        request(MESSAGE_MISSING, name, strlen(name), NULL, 0);
    }
    error = error ? error : NOT_SUPPORTED;
    return strstr(name, "cuda") ? done(error) : error; /* the driver API keeps no error */
}
