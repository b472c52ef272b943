/* Libraries of the runtime API, which are those of the driver API, and functions of the driver API by name. */
#include "driver/driver.h"

struct driver_module;
int cuLibraryLoadData(struct driver_module **, const void *, const int *, void **, unsigned);
int cuLibraryLoadFromFile(struct driver_module **, const char *, const int *, void **, unsigned);
int cuLibraryUnload(struct driver_module *), cuLibraryGetKernel(struct kernel **, struct driver_module *, const char *);
int cuLibraryGetGlobal(address *, size_t *, struct driver_module *, const char *);
int cuLibraryGetKernelCount(unsigned *, struct driver_module *);
int cuLibraryEnumerateKernels(struct kernel **, unsigned, struct driver_module *);
int cuGetProcAddress_v2(const char *, const void **, int, uint64_t, int *);
int cudaRuntimeGetVersion(int *), cudaFuncSetAttribute(const void *, int, int);

API int cudaLibraryLoadData(struct driver_module **library, const void *image, const int *names, void **values, unsigned n) {
    return done(cuLibraryLoadData(library, image, names, values, n));
}

API int cudaLibraryLoadFromFile(struct driver_module **library, const char *path, const int *names, void **values, unsigned n) {
    return done(cuLibraryLoadFromFile(library, path, names, values, n));
}

API int cudaLibraryUnload(struct driver_module *library) { return done(cuLibraryUnload(library)); }

/* The handle serves where calls take a kernel's function: find_function looks for it. */
API int cudaLibraryGetKernel(struct kernel **kernel, struct driver_module *library, const char *name) {
    return done(cuLibraryGetKernel(kernel, library, name));
}

API int cudaLibraryGetKernelCount(unsigned *count, struct driver_module *library) {
    return done(cuLibraryGetKernelCount(count, library));
}

API int cudaLibraryEnumerateKernels(struct kernel **kernels, unsigned most, struct driver_module *library) {
    return done(cuLibraryEnumerateKernels(kernels, most, library));
}

API int cudaLibraryGetGlobal(void **pointer, size_t *bytes, struct driver_module *library, const char *name) {
    return done(cuLibraryGetGlobal((address *)pointer, bytes, library, name));
}

API int cudaLibraryGetManaged(void **pointer, size_t *bytes, struct driver_module *library, const char *name) {
    return cudaLibraryGetGlobal(pointer, bytes, library, name);
}

API int cudaKernelSetAttributeForDevice(struct kernel *kernel, int attribute, int value, int number) {
    return number ? done(INVALID_DEVICE) : cudaFuncSetAttribute(kernel, attribute, value);
}

/* ---- functions of the driver API */

static int entry_point(const char *name, const void **function, int version, uint64_t flags, int *status) {
    int error = ready();
    if (error || !name || !function)
        return error ? error : INVALID_VALUE;
    error = cuGetProcAddress_v2(name, function, version, flags, status);
    return error == NOT_FOUND ? SUCCESS : error; /* the function is NULL, the status says why */
}

API int cudaGetDriverEntryPointByVersion(const char *name, const void **function, unsigned version, uint64_t flags, int *status) {
    return done(entry_point(name, function, (int)version, flags, status));
}

/* CUDA 11 has no status. */
API int cudaGetDriverEntryPoint(const char *name, const void **function, uint64_t flags, int *status) {
    int version = 0;
    cudaRuntimeGetVersion(&version);
    return done(entry_point(name, function, version, flags, runtime_version > 11 ? status : NULL));
}
