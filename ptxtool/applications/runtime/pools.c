/* Memory pools: which allocations belong to each, and the counts that programs ask for. All of them lie in the one device
 * memory; what is freed is free for every other allocation at once.
 *
 * Not implemented: pools that processes share.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "runtime.h"

enum { POOL = 0x9001, FREED = 0xF4EE, DEVICE_LOCATION = 1, PINNED_TYPE = 1, READ_WRITE = 3 };
enum { FIRST_REUSE = 1, LAST_REUSE = 3, RELEASE_THRESHOLD = 4, RESERVED = 5, RESERVED_HIGH = 6, USED = 7, USED_HIGH = 8 };

struct pool { uint32_t magic; int reuses[LAST_REUSE + 1]; uint64_t threshold, used, high; };
struct member { uint64_t address, bytes; struct pool *pool; struct member *next; };
struct location { int type, number; };
struct pool_properties { int allocation_type, handle_types; struct location location; };

static struct pool standard = {POOL, {1, 1, 1, 1}, 0, 0, 0}, *current = &standard;
static struct member *members;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int check_pool(const struct pool *pool) {
    int error = ready();
    return error ? error : pool && pool->magic == POOL ? SUCCESS : INVALID_VALUE;
}

static int is_device(const struct location *location) {
    return location && location->type == DEVICE_LOCATION && location->number == 0;
}

API int cudaMallocFromPoolAsync(void **pointer, size_t bytes, struct pool *pool, void *stream) {
    int error = check_pool(pool);
    if (error || (error = refuse_capture("cudaMallocAsync", stream)) || (error = allocate(pointer, bytes, 256, DEVICE)))
        return done(error);
    struct member *member = malloc(sizeof *member);
    if (!member)
        abort();
    pthread_mutex_lock(&lock);
    *member = (struct member){(uint64_t)*pointer, bytes, pool, members};
    members = member;
    pool->used += bytes;
    if (pool->used > pool->high)
        pool->high = pool->used;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

API int cudaMallocAsync(void **pointer, size_t bytes, void *stream) {
    return cudaMallocFromPoolAsync(pointer, bytes, current, stream);
}

API int cudaFreeAsync(void *pointer, void *stream) {
    int error = refuse_capture("cudaFreeAsync", stream);
    return done(error ? error : release("cudaFreeAsync", pointer));
}

void leave_pool(uint64_t address) {
    pthread_mutex_lock(&lock);
    struct member **at = &members, *member;
    while (*at && (*at)->address != address)
        at = &(*at)->next;
    if ((member = *at)) {
        *at = member->next;
        member->pool->used -= member->bytes;
        free(member);
    }
    pthread_mutex_unlock(&lock);
}

API int cudaDeviceGetDefaultMemPool(struct pool **pool, int number) {
    int error = ready();
    if (error || !pool || number)
        return done(error ? error : number ? INVALID_DEVICE : INVALID_VALUE);
    *pool = &standard;
    return SUCCESS;
}

API int cudaDeviceGetMemPool(struct pool **pool, int number) {
    int error = cudaDeviceGetDefaultMemPool(pool, number);
    if (!error)
        *pool = current;
    return error;
}

API int cudaDeviceSetMemPool(int number, struct pool *pool) {
    int error = check_pool(pool);
    if (error || number)
        return done(error ? error : INVALID_DEVICE);
    current = pool;
    return SUCCESS;
}

API int cudaMemPoolCreate(struct pool **pool, const struct pool_properties *properties) {
    int error = ready();
    if (error || !pool || !properties || properties->allocation_type != PINNED_TYPE || !is_device(&properties->location))
        return done(error ? error : INVALID_VALUE);
    if (properties->handle_types) {
        refuse("cudaMemPoolCreate: pools that processes share are not implemented");
        return done(NOT_SUPPORTED);
    }
    if (!(*pool = malloc(sizeof **pool)))
        return done(OUT_OF_MEMORY);
    **pool = (struct pool){POOL, {1, 1, 1, 1}, 0, 0, 0};
    return SUCCESS;
}

/* What is still allocated stays so, and counts for the device's own pool from now on. */
API int cudaMemPoolDestroy(struct pool *pool) {
    int error = check_pool(pool);
    if (error || pool == &standard)
        return done(error ? error : INVALID_VALUE);
    pthread_mutex_lock(&lock);
    for (struct member *member = members; member; member = member->next)
        if (member->pool == pool)
            member->pool = &standard;
    standard.used += pool->used;
    if (current == pool)
        current = &standard;
    pthread_mutex_unlock(&lock);
    pool->magic = FREED;
    free(pool);
    return SUCCESS;
}

API int cudaMemPoolTrimTo(struct pool *pool) { return done(check_pool(pool)); }

API int cudaMemPoolSetAttribute(struct pool *pool, int attribute, void *value) {
    int error = check_pool(pool);
    if (error || !value || attribute < FIRST_REUSE || attribute > USED_HIGH)
        return done(error ? error : INVALID_VALUE);
    uint64_t number = 0;
    memcpy(&number, value, attribute <= LAST_REUSE ? sizeof(int) : sizeof number);
    if (attribute <= LAST_REUSE)
        pool->reuses[attribute] = (int)number;
    else if (attribute == RELEASE_THRESHOLD)
        pool->threshold = number;
    else if (number || attribute == RESERVED || attribute == USED)
        return done(INVALID_VALUE);
    else
        pool->high = pool->used;
    return SUCCESS;
}

API int cudaMemPoolGetAttribute(struct pool *pool, int attribute, void *value) {
    int error = check_pool(pool);
    if (error || !value || attribute < FIRST_REUSE || attribute > USED_HIGH)
        return done(error ? error : INVALID_VALUE);
    if (attribute <= LAST_REUSE)
        memcpy(value, &pool->reuses[attribute], sizeof(int));
    else
        memcpy(value, attribute == RELEASE_THRESHOLD                    ? &pool->threshold
                      : attribute == RESERVED_HIGH || attribute == USED_HIGH ? &pool->high
                                                                        : &pool->used, sizeof(uint64_t));
    return SUCCESS;
}

struct access { struct location location; int flags; };

API int cudaMemPoolSetAccess(struct pool *pool, const struct access *list, size_t n) {
    int error = check_pool(pool);
    for (size_t k = 0; !error && k < n; k++)
        error = !list || !is_device(&list[k].location) || list[k].flags != READ_WRITE ? INVALID_VALUE : SUCCESS;
    return done(error);
}

API int cudaMemPoolGetAccess(int *flags, struct pool *pool, const struct location *location) {
    int error = check_pool(pool);
    if (error || !flags || !location)
        return done(error ? error : INVALID_VALUE);
    *flags = is_device(location) ? READ_WRITE : 0;
    return SUCCESS;
}
