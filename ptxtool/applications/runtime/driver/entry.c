/* How a program finds the driver: initialisation, versions, functions by name, errors. */
#include <string.h>
#include "driver.h"

static int is_initialised;

/* libcudart initialises the driver. */
int initialised(void) {
    int error = failed();
    return error ? error : is_initialised || (runtime_version && !ready()) ? SUCCESS : NOT_INITIALISED;
}

API int cuInit(unsigned flags) {
    if (flags)
        return INVALID_VALUE;
    int error = ready();
    is_initialised = !error;
    return error;
}

API int cuDriverGetVersion(int *version) { return RESULT(cudaDriverGetVersion(version)); }

/* Functions whose newest variant is younger than version 11 of the API, and the version that it came with. */
static const struct { const char *name; int version; } young[] = {
    {"cuCtxCreate_v3", 11040}, {"cuCtxCreate_v4", 12050}, {"cuCtxGetDevice_v2", 13000}, {"cuCtxSynchronize_v2", 13000},
    {"cuDeviceGetUuid_v2", 11040}, {"cuEventElapsedTime_v2", 12080}, {"cuGetProcAddress_v2", 12000},
    {"cuMemAdvise_v2", 12020}, {"cuMemPrefetchAsync_v2", 12020},
};

static const void *entry(const char *name) {
    size_t low = 0, high = n_entry_points;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, entry_points[middle].name);
        if (!order)
            return entry_points[middle].function;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static int is_young(const char *name, int version) {
    for (size_t k = 0; k < sizeof young / sizeof *young; k++)
        if (!strcmp(young[k].name, name))
            return young[k].version > version;
    return 0;
}

/* The newest variant that a version of the API has: NAME_v4 to NAME_v2, or NAME. */
static const void *newest(const char *name, int version) {
    char variant[128];
    size_t length = strlen(name);
    if (length + 4 > sizeof variant)
        return NULL;
    for (char digit = '4'; digit >= '2'; digit--) {
        memcpy(variant, name, length);
        memcpy(variant + length, (char[]){'_', 'v', digit, 0}, 4);
        const void *found = is_young(variant, version) ? NULL : entry(variant);
        if (found)
            return found;
    }
    return entry(name);
}

enum { FOUND = 0, NOT_IN_DRIVER = 1 };

API int cuGetProcAddress_v2(const char *name, const void **function, int version, uint64_t flags, int *status) {
    if (!name || !function || flags > 2)
        return INVALID_VALUE;
    *function = newest(name, version);
    if (status)
        *status = *function ? FOUND : NOT_IN_DRIVER;
    return *function ? SUCCESS : NOT_FOUND;
}

API int cuGetProcAddress(const char *name, const void **function, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

/* The static runtime asks for tables that NVIDIA does not document: they are not imitated. */
API int cuGetExportTable(const void **table, const void *number) {
    static int is_reported;
    if (!table || !number)
        return INVALID_VALUE;
    *table = NULL;
    if (!ready() && !is_reported) {
        is_reported = 1;
        refuse("cuGetExportTable: this program uses the static CUDA runtime, which needs tables that NVIDIA does not "
               "document: link it with 'nvcc -cudart shared'");
    }
    return NOT_FOUND;
}

API int cuProfilerStart(void) { return begin(); }

API int cuProfilerStop(void) { return begin(); }

/* ---- errors: most have the number of the runtime API's */

int as_result(int error) {
    switch (error) {
    case INVALID_CONFIGURATION: case INVALID_PITCH: case INVALID_TEXTURE: case INVALID_CHANNEL: case INVALID_DIRECTION:
        return INVALID_VALUE;
    case INVALID_SYMBOL: case INVALID_FUNCTION:
        return NOT_FOUND;
    default:
        return error;
    }
}

static const struct { int code; const char *name; } names[] = {
    {0, "CUDA_SUCCESS"},
    {1, "CUDA_ERROR_INVALID_VALUE"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, "CUDA_ERROR_NOT_INITIALIZED"},
    {4, "CUDA_ERROR_DEINITIALIZED"},
    {34, "CUDA_ERROR_STUB_LIBRARY"},
    {100, "CUDA_ERROR_NO_DEVICE"},
    {101, "CUDA_ERROR_INVALID_DEVICE"},
    {200, "CUDA_ERROR_INVALID_IMAGE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {215, "CUDA_ERROR_UNSUPPORTED_LIMIT"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
    {218, "CUDA_ERROR_INVALID_PTX"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    {300, "CUDA_ERROR_INVALID_SOURCE"},
    {301, "CUDA_ERROR_FILE_NOT_FOUND"},
    {400, "CUDA_ERROR_INVALID_HANDLE"},
    {401, "CUDA_ERROR_ILLEGAL_STATE"},
    {500, "CUDA_ERROR_NOT_FOUND"},
    {600, "CUDA_ERROR_NOT_READY"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"},
    {708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
    {710, "CUDA_ERROR_ASSERT"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
    {718, "CUDA_ERROR_INVALID_PC"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
    {800, "CUDA_ERROR_NOT_PERMITTED"},
    {801, "CUDA_ERROR_NOT_SUPPORTED"},
    {999, "CUDA_ERROR_UNKNOWN"},
};

static const char *name_of(int error) {
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (names[k].code == error)
            return names[k].name;
    return NULL;
}

API int cuGetErrorName(int error, const char **name) {
    if (!name)
        return INVALID_VALUE;
    *name = name_of(error);
    return *name ? SUCCESS : INVALID_VALUE;
}

API int cuGetErrorString(int error, const char **text) {
    if (!text)
        return INVALID_VALUE;
    *text = name_of(error) ? cudaGetErrorString(error) : NULL;
    return *text ? SUCCESS : INVALID_VALUE;
}
