/* Memory of every kind: device, pinned and managed memory are allocations of the one memory that both sides share.
 *
 * The simulator decides where an allocation lies. The table here is a copy of its decisions, in order of address, so
 * that a copy can check its ranges without asking.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct allocation *allocations;
static size_t count, room;

/* The place of the first allocation that begins after an address. */
static size_t after(uint64_t address) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (allocations[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void add_allocation(uint64_t address, uint64_t bytes, enum memory memory) {
    pthread_rwlock_wrlock(&lock);
    if (count == room) {
        room = room ? 2 * room : 64;
        allocations = realloc(allocations, room * sizeof *allocations);
        if (!allocations)
            abort();
    }
    size_t at = after(address);
    memmove(allocations + at + 1, allocations + at, (count - at) * sizeof *allocations);
    allocations[at] = (struct allocation){address, bytes, memory};
    count++;
    pthread_rwlock_unlock(&lock);
}

static void remove_allocation(uint64_t address) {
    pthread_rwlock_wrlock(&lock);
    size_t at = after(address);
    if (at && allocations[at - 1].address == address) {
        memmove(allocations + at - 1, allocations + at, (count - at) * sizeof *allocations);
        count--;
    }
    pthread_rwlock_unlock(&lock);
}

const struct allocation *allocation_of(const void *pointer) {
    static __thread struct allocation found;
    uint64_t address = (uint64_t)pointer;
    const struct allocation *result = NULL;
    pthread_rwlock_rdlock(&lock);
    size_t at = after(address);
    if (at && address - allocations[at - 1].address < allocations[at - 1].bytes) {
        found = allocations[at - 1];
        result = &found;
    }
    pthread_rwlock_unlock(&lock);
    return result;
}

int is_device_address(const void *pointer) { return (uint64_t)pointer - DEVICE_BASE < device.memory_bytes; }

int allocate(void **pointer, size_t bytes, size_t alignment, enum memory memory) {
    int error = ready();
    if (error)
        return error;
    if (!pointer)
        return INVALID_VALUE;
    *pointer = NULL;
    if (!bytes)
        return SUCCESS;
    uint64_t wanted[2] = {bytes, alignment};
    struct answer answer = request(MESSAGE_MALLOC, wanted, sizeof wanted, NULL, 0);
    if (answer.error)
        return answer.error;
    uint64_t address;
    memcpy(&address, answer.data, sizeof address);
    add_allocation(address, bytes, memory);
    *pointer = (void *)address;
    if (memory != DEVICE)
        note_written(*pointer, NULL, bytes); /* the application writes there without a call */
    return SUCCESS;
}

int release(const char *call, void *pointer) {
    int error = ready();
    if (error || !pointer)
        return error;
    char text[128];
    snprintf(text, sizeof text, "%s(%p)", call, pointer);
    uint64_t address = (uint64_t)pointer;
    struct answer answer = request(MESSAGE_FREE, &address, sizeof address, text, strlen(text));
    if (!answer.error) {
        remove_allocation(address);
        leave_pool(address);
        forget_advice(address);
    }
    return answer.error;
}

API int cudaMalloc(void **pointer, size_t bytes) { return done(allocate(pointer, bytes, 256, DEVICE)); }

API int cudaMallocHost(void **pointer, size_t bytes) { return done(allocate(pointer, bytes, 4096, HOST)); }

API int cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    return done(flags > 7 ? INVALID_VALUE : allocate(pointer, bytes, 4096, HOST));
}

API int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
    return done((flags != 1 && flags != 2) || !bytes ? INVALID_VALUE : allocate(pointer, bytes, 256, MANAGED));
}

#define PITCH 512

API int cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    if (!pitch)
        return done(INVALID_VALUE);
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return done(allocate(pointer, *pitch * height, PITCH, DEVICE));
}

API int cudaMalloc3D(struct pitched *pitched, struct extent extent) {
    if (!pitched)
        return done(INVALID_VALUE);
    pitched->pitch = (extent.width + PITCH - 1) / PITCH * PITCH;
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return done(allocate(&pitched->ptr, pitched->pitch * extent.height * extent.depth, PITCH, DEVICE));
}

API int cudaFree(void *pointer) { return done(release("cudaFree", pointer)); }

API int cudaFreeHost(void *pointer) { return done(release("cudaFreeHost", pointer)); }

API int cudaMemGetInfo(size_t *available, size_t *total) {
    int error = ready();
    if (error || !available || !total)
        return done(error ? error : INVALID_VALUE);
    *total = *available = device.memory_bytes;
    pthread_rwlock_rdlock(&lock);
    for (size_t k = 0; k < count; k++)
        *available -= allocations[k].bytes < *available ? allocations[k].bytes : *available;
    pthread_rwlock_unlock(&lock);
    return SUCCESS;
}

/* Pinned and mapped memory has one address on both sides. */
API int cudaHostGetDevicePointer(void **pointer, void *host, unsigned flags) {
    int error = ready();
    const struct registered *registered = registered_at(host);
    if (error || !pointer || flags || (!registered && !allocation_of(host)))
        return done(error ? error : INVALID_VALUE);
    *pointer = registered ? (char *)registered->device + ((uint64_t)host - registered->host) : host;
    return SUCCESS;
}

API int cudaHostGetFlags(unsigned *flags, void *host) {
    const struct allocation *found = allocation_of(host);
    const struct registered *registered = registered_at(host);
    if (flags && registered) {
        *flags = registered->flags;
        return SUCCESS;
    }
    if (!flags || !found || found->memory != HOST)
        return done(INVALID_VALUE);
    *flags = 2; /* cudaHostAllocMapped */
    return SUCCESS;
}

struct attributes { int type, device; void *device_pointer, *host_pointer; };

API int cudaPointerGetAttributes(struct attributes *attributes, const void *pointer) {
    int error = ready();
    if (error || !attributes)
        return done(error ? error : INVALID_VALUE);
    const struct allocation *found = allocation_of(pointer);
    const struct registered *registered = registered_at(pointer);
    void *address = (void *)pointer;
    if (registered) {
        int is_host = !is_device_address(pointer);
        uint64_t offset = (uint64_t)pointer - (is_host ? registered->host : registered->device);
        *attributes = (struct attributes){HOST, 0, (char *)registered->device + offset, (char *)registered->host + offset};
    } else if (!found)
        *attributes = (struct attributes){0, runtime_version == 11 ? 0 : -2, NULL, address};
    else
        *attributes = (struct attributes){found->memory, 0, address, found->memory == DEVICE ? NULL : address};
    return SUCCESS;
}

API int cudaStreamAttachMemAsync(void *stream, void *pointer) {
    (void)stream;
    int error = ready();
    return done(error ? error : allocation_of(pointer) ? SUCCESS : INVALID_VALUE);
}
