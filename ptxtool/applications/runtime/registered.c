/* cudaHostRegister: pages of the application's memory become pages of device memory, so that kernels and the host
 * work on the same bytes. A kernel uses the address that cudaHostGetDevicePointer returns.
 *
 * Not possible: two registered ranges that share a page.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime.h"

enum { DEFAULT_FLAGS = 2 /* mapped */, KNOWN_FLAGS = 0xb /* portable, mapped, read-only */ };

static struct entry { struct registered range; uint64_t start, bytes; struct entry *next; } *entries; /* start: of pages */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const struct registered *registered_at(const void *pointer) {
    static __thread struct registered found;
    const struct registered *result = NULL;
    uint64_t address = (uint64_t)pointer;
    if (!entries)
        return NULL;
    pthread_mutex_lock(&lock);
    for (struct entry *entry = entries; entry && !result; entry = entry->next) {
        const struct registered *range = &entry->range;
        if (address - range->host < range->bytes || address - range->device < range->bytes) {
            found = *range;
            result = &found;
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* Takes `bytes` of pages from one place to another, where their contents stay. */
static int move_pages(uint64_t from, uint64_t to, uint64_t bytes) {
    return mremap((void *)from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)to) == MAP_FAILED;
}

/* A second view of pages of device memory. */
static void *view_of(uint64_t device, uint64_t bytes) {
    return mremap((void *)device, 0, bytes, MREMAP_MAYMOVE); /* an old size of 0 duplicates a shared mapping */
}

static int overlap(uint64_t start, uint64_t bytes, uint64_t pages, uint64_t page_bytes) {
    int error = SUCCESS;
    for (struct entry *entry = entries; entry && error != ALREADY_REGISTERED; entry = entry->next) {
        if (start < entry->range.host + entry->range.bytes && entry->range.host < start + bytes)
            error = ALREADY_REGISTERED;
        else if (pages < entry->start + entry->bytes && entry->start < pages + page_bytes)
            error = NOT_SUPPORTED;
    }
    return error;
}

API int cudaHostRegister(void *pointer, size_t bytes, unsigned flags) {
    int error = ready();
    if (error || !pointer || !bytes || flags & ~(unsigned)KNOWN_FLAGS || is_device_address(pointer))
        return done(error ? error : INVALID_VALUE);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), host = (uint64_t)pointer, start = host & -page;
    uint64_t page_bytes = ((host + bytes + page - 1) & -page) - start;
    pthread_mutex_lock(&lock);
    error = overlap(host, bytes, start, page_bytes);
    pthread_mutex_unlock(&lock);
    if (error == NOT_SUPPORTED)
        refuse("cudaHostRegister(%p, %zu): shares a page with memory that is registered already; align it to %llu bytes",
               pointer, bytes, (unsigned long long)page);
    struct entry *entry = error ? NULL : calloc(1, sizeof *entry);
    void *block;
    if (error || !entry || (error = allocate(&block, page_bytes, page, HOST))) {
        free(entry);
        return done(error ? error : OUT_OF_MEMORY);
    }
    void *view = view_of((uint64_t)block, page_bytes);
    if (view == MAP_FAILED) {
        release("cudaHostRegister", block);
        free(entry);
        return done(OUT_OF_MEMORY);
    }
    memcpy(block, (void *)start, page_bytes);
    if (move_pages((uint64_t)view, start, page_bytes)) {
        munmap(view, page_bytes);
        release("cudaHostRegister", block);
        free(entry);
        return done(INVALID_VALUE);
    }
    pthread_mutex_lock(&lock);
    *entry = (struct entry){{host, (uint64_t)block + (host - start), bytes, flags | DEFAULT_FLAGS}, start, page_bytes, entries};
    entries = entry;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

API int cudaHostUnregister(void *pointer) {
    int error = ready();
    if (error || !pointer)
        return done(error ? error : INVALID_VALUE);
    pthread_mutex_lock(&lock);
    struct entry **at = &entries, *entry;
    while (*at && (*at)->range.host != (uint64_t)pointer)
        at = &(*at)->next;
    if ((entry = *at))
        *at = entry->next;
    pthread_mutex_unlock(&lock);
    if (!entry)
        return done(NOT_REGISTERED);
    void *own = mmap(NULL, entry->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED)
        return done(OUT_OF_MEMORY);
    memcpy(own, (void *)entry->start, entry->bytes);
    if (move_pages((uint64_t)own, entry->start, entry->bytes))
        return done(UNKNOWN);
    error = release("cudaHostUnregister", (void *)(entry->range.device & -(uint64_t)sysconf(_SC_PAGESIZE)));
    free(entry);
    return done(error);
}
