/* What programs advise for managed memory, and ask for again. It moves nothing: both sides share the memory.
 *
 * Advice is kept for whole allocations, CUDA has it for pages.
 */
#include <pthread.h>
#include <stdlib.h>
#include "runtime.h"

enum { READ_MOSTLY = 1, PREFERRED = 2, ACCESSED_BY = 3, LAST_PREFETCH = 4, LOCATION_TYPES = 5 }; /* cudaMemRangeAttribute */
enum { ON_DEVICE = 1, ON_HOST = 2, CPU = -1, NO_DEVICE_NUMBER = -2 };

struct location { int type, number; };
static struct advice {
    uint64_t address;
    int is_read_mostly, by_device, by_host;
    struct location preferred, prefetched;
    struct advice *next;
} *list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The advice for the allocation with an address; NULL where there is none. */
static struct advice *advice_for(const void *pointer, size_t bytes) {
    const struct allocation *found = allocation_of(pointer);
    if (!found || !bytes || (uint64_t)pointer - found->address + bytes > found->bytes)
        return NULL;
    struct advice *advice = list;
    while (advice && advice->address != found->address)
        advice = advice->next;
    if (!advice && (advice = calloc(1, sizeof *advice))) {
        advice->address = found->address;
        advice->next = list;
        list = advice;
    }
    return advice;
}

void forget_advice(uint64_t address) {
    pthread_mutex_lock(&lock);
    for (struct advice **at = &list; *at; at = &(*at)->next)
        if ((*at)->address == address) {
            struct advice *old = *at;
            *at = old->next;
            free(old);
            break;
        }
    pthread_mutex_unlock(&lock);
}

/* What CUDA 12 names by the number of a device, CPU for the host. */
static struct location location_of(int number) { return (struct location){number == CPU ? ON_HOST : ON_DEVICE, number}; }

static int is_location(struct location place) { return place.type == ON_HOST || (place.type == ON_DEVICE && !place.number); }

API int cudaMemAdvise_v2(const void *pointer, size_t bytes, int advised, struct location place) {
    int error = ready();
    if (!error && advised >= 3 && advised != 4 && !is_location(place))
        error = INVALID_DEVICE;
    if (error || advised < 1 || advised > 6)
        return done(error ? error : INVALID_VALUE);
    pthread_mutex_lock(&lock);
    struct advice *advice = advice_for(pointer, bytes);
    if (!advice)
        error = INVALID_VALUE;
    else if (advised <= 2)
        advice->is_read_mostly = advised == 1;
    else if (advised <= 4)
        advice->preferred = advised == 3 ? place : (struct location){0, 0};
    else
        *(place.type == ON_DEVICE ? &advice->by_device : &advice->by_host) = advised == 5;
    pthread_mutex_unlock(&lock);
    return done(error);
}

/* Before CUDA 13 with the number of a device: the first half of what a location is passed in. */
API int cudaMemAdvise(const void *pointer, size_t bytes, int advised, struct location place) {
    return cudaMemAdvise_v2(pointer, bytes, advised, runtime_version >= 13 ? place : location_of(place.type));
}

API int cudaMemPrefetchAsync_v2(const void *pointer, size_t bytes, struct location place) {
    int error = ready();
    if (error || !is_location(place))
        return done(error ? error : INVALID_DEVICE);
    pthread_mutex_lock(&lock);
    struct advice *advice = advice_for(pointer, bytes);
    if (advice)
        advice->prefetched = place;
    pthread_mutex_unlock(&lock);
    return done(advice ? SUCCESS : INVALID_VALUE);
}

API int cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct location place) {
    return cudaMemPrefetchAsync_v2(pointer, bytes, runtime_version >= 13 ? place : location_of(place.type));
}

static int number_of(struct location place) {
    return place.type == ON_DEVICE ? place.number : place.type == ON_HOST ? CPU : NO_DEVICE_NUMBER;
}

API int cudaMemRangeGetAttribute(int *data, size_t data_bytes, int attribute, const void *pointer, size_t bytes) {
    int error = ready();
    if (error || !data || data_bytes % sizeof *data || !data_bytes || (attribute != ACCESSED_BY && data_bytes != sizeof *data))
        return done(error ? error : INVALID_VALUE);
    pthread_mutex_lock(&lock);
    const struct advice *advice = advice_for(pointer, bytes);
    struct advice found = advice ? *advice : (struct advice){0};
    pthread_mutex_unlock(&lock);
    if (!advice || attribute < READ_MOSTLY || attribute > LOCATION_TYPES + 3)
        return done(INVALID_VALUE);
    const int answers[] = {found.is_read_mostly, number_of(found.preferred), 0, number_of(found.prefetched),
                           found.preferred.type, found.preferred.number, found.prefetched.type, found.prefetched.number};
    *data = answers[attribute - 1];
    if (attribute == ACCESSED_BY) {
        size_t n = 0, room = data_bytes / sizeof *data;
        if (found.by_device)
            data[n++] = 0;
        if (found.by_host && n < room)
            data[n++] = CPU;
        while (n < room)
            data[n++] = NO_DEVICE_NUMBER;
    }
    return SUCCESS;
}

API int cudaMemRangeGetAttributes(int **data, const size_t *data_bytes, const int *attributes, size_t n,
                                  const void *pointer, size_t bytes) {
    int error = data && data_bytes && attributes && n ? SUCCESS : INVALID_VALUE;
    for (size_t k = 0; !error && k < n; k++)
        error = cudaMemRangeGetAttribute(data[k], data_bytes[k], attributes[k], pointer, bytes);
    return done(error);
}
