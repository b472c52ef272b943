/* Memory of the driver API: allocations, and what is known about an address. */
#include <string.h>
#include "driver.h"

static int allocate_bytes(void **pointer, size_t bytes, size_t alignment, enum memory memory) {
    int error = begin();
    return error ? error : !bytes ? INVALID_VALUE : as_result(allocate(pointer, bytes, alignment, memory));
}

API int cuMemAlloc_v2(address *at, size_t bytes) { return allocate_bytes((void **)at, bytes, 256, DEVICE); }

API int cuMemAllocAsync(address *at, size_t bytes, struct stream *stream) {
    (void)stream;
    return cuMemAlloc_v2(at, bytes);
}

API int cuMemAllocPitch_v2(address *at, size_t *pitch, size_t width, size_t height, unsigned element_bytes) {
    if (!pitch || (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
        return INVALID_VALUE;
    *pitch = (width + 511) / 512 * 512;
    return allocate_bytes((void **)at, *pitch * height, 512, DEVICE);
}

API int cuMemAllocManaged(address *at, size_t bytes, unsigned flags) {
    return IN_CONTEXT(cudaMallocManaged((void **)at, bytes, flags));
}

API int cuMemAllocHost_v2(void **pointer, size_t bytes) { return allocate_bytes(pointer, bytes, 4096, HOST); }

API int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    return flags > 7 ? INVALID_VALUE : allocate_bytes(pointer, bytes, 4096, HOST);
}

static int free_bytes(const char *call, void *pointer) {
    int error = begin();
    return error ? error : as_result(release(call, pointer));
}

API int cuMemFree_v2(address at) { return free_bytes("cuMemFree", (void *)at); }

API int cuMemFreeAsync(address at, struct stream *stream) {
    (void)stream;
    return free_bytes("cuMemFreeAsync", (void *)at);
}

API int cuMemFreeHost(void *pointer) { return free_bytes("cuMemFreeHost", pointer); }

API int cuMemGetInfo_v2(size_t *available, size_t *total) { return IN_CONTEXT(cudaMemGetInfo(available, total)); }

API int cuMemGetAddressRange_v2(address *start, size_t *bytes, address at) {
    int error = begin();
    const struct allocation *found = allocation_of((void *)at);
    if (error || !found)
        return error ? error : NOT_FOUND;
    if (start)
        *start = found->address;
    if (bytes)
        *bytes = found->bytes;
    return SUCCESS;
}

API int cuMemHostGetDevicePointer_v2(address *at, void *pointer, unsigned flags) {
    return IN_CONTEXT(cudaHostGetDevicePointer((void **)at, pointer, flags));
}

API int cuMemHostGetFlags(unsigned *flags, void *pointer) { return IN_CONTEXT(cudaHostGetFlags(flags, pointer)); }

/* Before CUDA 12.2 a place is the number of a device, or -1: the host. */
static struct location place_of(int number) { return (struct location){number < 0 ? 2 : 1, number}; }

API int cuMemAdvise_v2(address at, size_t bytes, int advised, struct location place) {
    return IN_CONTEXT(cudaMemAdvise_v2((void *)at, bytes, advised, place));
}

API int cuMemAdvise(address at, size_t bytes, int advised, int number) {
    return cuMemAdvise_v2(at, bytes, advised, place_of(number));
}

API int cuMemPrefetchAsync_v2(address at, size_t bytes, struct location place) {
    return IN_CONTEXT(cudaMemPrefetchAsync_v2((void *)at, bytes, place));
}

API int cuMemPrefetchAsync(address at, size_t bytes, int number) {
    return cuMemPrefetchAsync_v2(at, bytes, place_of(number));
}

API int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags) {
    return IN_CONTEXT(cudaHostRegister(pointer, bytes, flags));
}

API int cuMemHostUnregister(void *pointer) { return IN_CONTEXT(cudaHostUnregister(pointer)); }

/* ---- attributes of an address, by the numbers of CUpointer_attribute */

static int attribute(void *value, int number, address at) {
    const struct allocation *found = allocation_of((void *)at);
    if (!value)
        return INVALID_VALUE;
    if (number == 9 && found)
        *(int *)value = 0; /* the device's number */
    else if (number == 13)
        *(char *)value = found != NULL; /* whether a kernel can use it */
    else if (number == 8)
        *(char *)value = found && found->memory == MANAGED;
    else if (!found)
        return INVALID_VALUE;
    else if (number == 1)
        *(void **)value = current();
    else if (number == 2)
        *(int *)value = found->memory == HOST ? 1 : 2;
    else if (number == 3 || (number == 4 && found->memory != DEVICE))
        *(address *)value = at; /* the same for both sides */
    else if (number == 6)
        *(char *)value = 1; /* copies are synchronous */
    else if (number == 7)
        *(uint64_t *)value = found->address;
    else if (number == 11)
        *(address *)value = found->address;
    else if (number == 12)
        *(size_t *)value = found->bytes;
    else
        return number < 1 || number > 20 || number == 4 ? INVALID_VALUE : NOT_SUPPORTED;
    return SUCCESS;
}

API int cuPointerGetAttribute(void *value, int number, address at) {
    int error = initialised();
    return error ? error : attribute(value, number, at);
}

/* Those that an address does not have are 0. */
API int cuPointerGetAttributes(unsigned n, const int *numbers, void **values, address at) {
    int error = initialised();
    if (error || !numbers || !values)
        return error ? error : INVALID_VALUE;
    for (unsigned k = 0; k < n; k++) {
        int is_wide = numbers[k] <= 4 || numbers[k] == 7 || numbers[k] == 11 || numbers[k] == 12;
        size_t bytes = numbers[k] == 2 || numbers[k] == 9 ? 4 : is_wide ? 8 : 1;
        if (!values[k] || attribute(values[k], numbers[k], at) == NOT_SUPPORTED)
            return values[k] ? NOT_SUPPORTED : INVALID_VALUE;
        if (attribute(values[k], numbers[k], at))
            memset(values[k], 0, bytes);
    }
    return SUCCESS;
}
