/* Contexts: each thread has a stack of them, and calls need one on top. All share the device's memory and modules, which
 * stay when a context is destroyed. */
#include <stdlib.h>
#include "driver.h"

enum { CONTEXT = 0xC0A7, FREED = 0xF4EE, MOST = 64, API_VERSION = 3020 };

static struct context primary = {CONTEXT, 0, 1};
static int retained;
static __thread struct context *stack[MOST];
static __thread int depth;

static int is_context(const struct context *context) { return context && context->magic == CONTEXT; }

struct context *current(void) {
    if (depth)
        return stack[depth - 1];
    return runtime_version ? &primary : NULL; /* libcudart makes the primary context current */
}

int begin(void) {
    int error = initialised();
    return error ? error : is_context(current()) ? SUCCESS : INVALID_CONTEXT;
}

/* The context that a call names, or where it names none this thread's; NULL: there is none. */
static struct context *chosen(struct context *context) {
    struct context *found = context ? context : current();
    return is_context(found) ? found : NULL;
}

static int push(struct context *context) {
    if (depth == MOST)
        return OUT_OF_MEMORY;
    stack[depth++] = context;
    return SUCCESS;
}

static int create(struct context **context, unsigned flags, int number) {
    static uint64_t numbers = 1;
    int error = initialised();
    if (error || number || !context)
        return error ? error : number ? INVALID_DEVICE : INVALID_VALUE;
    if (!(*context = malloc(sizeof **context)))
        return OUT_OF_MEMORY;
    **context = (struct context){CONTEXT, flags, __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED)};
    return push(*context);
}

API int cuCtxCreate_v2(struct context **context, unsigned flags, int number) { return create(context, flags, number); }

static int refuse_affinity(const char *call) {
    refuse("%s: a share of the device's SMs is not simulated", call);
    return NOT_SUPPORTED;
}

API int cuCtxCreate_v3(struct context **context, const void *affinities, int n, unsigned flags, int number) {
    (void)affinities;
    int error = initialised();
    return error ? error : n ? refuse_affinity("cuCtxCreate_v3") : create(context, flags, number);
}

API int cuCtxCreate_v4(struct context **context, void *const *affinities, unsigned flags, int number) {
    int error = initialised();
    return error ? error : affinities && *affinities ? refuse_affinity("cuCtxCreate_v4") : create(context, flags, number);
}

API int cuCtxDestroy_v2(struct context *context) {
    int error = initialised();
    if (error || !is_context(context) || context == &primary)
        return error ? error : is_context(context) ? INVALID_CONTEXT : INVALID_VALUE;
    if (depth && stack[depth - 1] == context)
        depth--;
    context->magic = FREED; /* other threads may have it on their stacks: it is never given back */
    return SUCCESS;
}

API int cuCtxPushCurrent_v2(struct context *context) {
    int error = initialised();
    return error ? error : is_context(context) ? push(context) : INVALID_CONTEXT;
}

API int cuCtxPopCurrent_v2(struct context **context) {
    int error = initialised();
    if (error || !depth)
        return error ? error : INVALID_CONTEXT;
    depth--;
    if (context)
        *context = stack[depth];
    return SUCCESS;
}

API int cuCtxSetCurrent(struct context *context) {
    int error = initialised();
    if (error || (context && !is_context(context)))
        return error ? error : INVALID_CONTEXT;
    if (depth)
        depth--;
    return context ? push(context) : SUCCESS;
}

API int cuCtxGetCurrent(struct context **context) {
    int error = initialised();
    if (error || !context)
        return error ? error : INVALID_VALUE;
    *context = current();
    return SUCCESS;
}

API int cuCtxGetDevice(int *number) {
    int error = begin();
    if (error || !number)
        return error ? error : INVALID_VALUE;
    *number = 0;
    return SUCCESS;
}

API int cuCtxGetDevice_v2(int *number, struct context *context) {
    int error = initialised();
    if (error || !number || !chosen(context))
        return error ? error : number ? INVALID_CONTEXT : INVALID_VALUE;
    *number = 0;
    return SUCCESS;
}

API int cuCtxGetFlags(unsigned *flags) {
    int error = begin();
    if (error || !flags)
        return error ? error : INVALID_VALUE;
    *flags = current()->flags;
    return SUCCESS;
}

API int cuCtxSetFlags(unsigned flags) {
    int error = begin();
    if (!error)
        current()->flags = flags;
    return error;
}

API int cuCtxGetId(struct context *context, uint64_t *number) {
    int error = initialised();
    struct context *found = chosen(context);
    if (error || !number || !found)
        return error ? error : number ? INVALID_CONTEXT : INVALID_VALUE;
    *number = found->number;
    return SUCCESS;
}

API int cuCtxGetApiVersion(struct context *context, unsigned *version) {
    int error = initialised();
    if (error || !version || !chosen(context))
        return error ? error : version ? INVALID_CONTEXT : INVALID_VALUE;
    *version = API_VERSION;
    return SUCCESS;
}

API int cuCtxSynchronize(void) { return begin(); }

API int cuCtxSynchronize_v2(struct context *context) {
    int error = initialised();
    return error ? error : chosen(context) ? SUCCESS : INVALID_CONTEXT;
}

/* ---- limits and preferences: those of the device */

API int cuCtxGetLimit(size_t *value, int limit) { return IN_CONTEXT(cudaDeviceGetLimit(value, limit)); }

API int cuCtxSetLimit(int limit, size_t value) { return IN_CONTEXT(cudaDeviceSetLimit(limit, value)); }

API int cuCtxGetCacheConfig(int *chosen) { return IN_CONTEXT(cudaDeviceGetCacheConfig(chosen)); }

API int cuCtxSetCacheConfig(int chosen) { return IN_CONTEXT(cudaDeviceSetCacheConfig(chosen)); }

API int cuCtxGetSharedMemConfig(int *bank) { return IN_CONTEXT(cudaDeviceGetSharedMemConfig(bank)); }

API int cuCtxSetSharedMemConfig(int bank) { return IN_CONTEXT(cudaDeviceSetSharedMemConfig(bank)); }

API int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    return IN_CONTEXT(cudaDeviceGetStreamPriorityRange(least, greatest));
}

/* ---- the primary context, which libcudart uses */

API int cuDevicePrimaryCtxRetain(struct context **context, int number) {
    int error = initialised();
    if (error || number || !context)
        return error ? error : number ? INVALID_DEVICE : INVALID_VALUE;
    __atomic_add_fetch(&retained, 1, __ATOMIC_RELAXED);
    *context = &primary;
    return SUCCESS;
}

API int cuDevicePrimaryCtxRelease_v2(int number) {
    int error = initialised();
    if (error || number || retained < 1)
        return error ? error : number ? INVALID_DEVICE : INVALID_CONTEXT;
    __atomic_sub_fetch(&retained, 1, __ATOMIC_RELAXED);
    return SUCCESS;
}

API int cuDevicePrimaryCtxReset_v2(int number) {
    int error = initialised();
    return error ? error : number ? INVALID_DEVICE : SUCCESS;
}

API int cuDevicePrimaryCtxGetState(int number, unsigned *flags, int *is_active) {
    int error = initialised();
    if (error || number || !flags || !is_active)
        return error ? error : number ? INVALID_DEVICE : INVALID_VALUE;
    *flags = primary.flags;
    *is_active = retained > 0 || runtime_version;
    return SUCCESS;
}

API int cuDevicePrimaryCtxSetFlags_v2(int number, unsigned flags) {
    int error = initialised();
    if (error || number)
        return error ? error : INVALID_DEVICE;
    primary.flags = flags;
    return SUCCESS;
}
