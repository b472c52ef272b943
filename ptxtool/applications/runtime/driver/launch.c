/* Launches of the driver API, what a kernel needs, and how many CTAs of it an SM holds. */
#include <string.h>
#include "driver.h"

enum { END = 0, BUFFER = 1, BUFFER_BYTES = 2 }; /* of `extra`: pairs of a number and a pointer */

/* The parameters as one block, which `extra` describes. */
static int launch_block(const struct kernel *kernel, struct dim3 grid, struct dim3 block, size_t dynamic_shared,
                        const struct asked *asked, void **extra) {
    const void *data = NULL;
    size_t bytes = 0, needed = parameter_bytes(&kernel->function);
    for (; extra[0] != (void *)END; extra += 2) {
        if (extra[0] == (void *)BUFFER)
            data = extra[1];
        else if (extra[0] == (void *)BUFFER_BYTES && extra[1])
            bytes = *(size_t *)extra[1];
        else
            return INVALID_VALUE;
    }
    if (bytes < needed || (needed && !data)) {
        refuse("a launch of %s: `extra` has %zu bytes of parameters, and the kernel takes %zu", kernel->function.name,
               data ? bytes : 0, needed);
        return INVALID_VALUE;
    }
    return launch_function(&kernel->function, grid, block, data, needed, dynamic_shared, asked);
}

static int launch(const struct kernel *kernel, struct dim3 grid, struct dim3 block, size_t dynamic_shared,
                  const struct asked *asked, void **arguments, void **extra) {
    int error = begin();
    if (error || !is_kernel(kernel))
        return error ? error : INVALID_HANDLE;
    if (arguments && extra)
        return INVALID_VALUE;
    if (extra)
        return as_result(launch_block(kernel, grid, block, dynamic_shared, asked, extra));
    size_t bytes = parameter_bytes(&kernel->function);
    char data[bytes + 1];
    if ((error = gather(&kernel->function, arguments, data)))
        return error;
    return as_result(launch_function(&kernel->function, grid, block, data, bytes, dynamic_shared, asked));
}

API int cuLaunchKernel(const struct kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned dynamic_shared, struct stream *stream,
                       void **arguments, void **extra) {
    (void)stream;
    return launch(kernel, (struct dim3){grid_x, grid_y, grid_z}, (struct dim3){block_x, block_y, block_z}, dynamic_shared,
                  &(struct asked){0}, arguments, extra);
}

API int cuLaunchCooperativeKernel(const struct kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_shared,
                                  struct stream *stream, void **arguments) {
    (void)stream;
    return launch(kernel, (struct dim3){grid_x, grid_y, grid_z}, (struct dim3){block_x, block_y, block_z}, dynamic_shared,
                  &(struct asked){.is_cooperative = 1}, arguments, NULL);
}

struct configuration {
    struct dim3 grid, block;
    unsigned dynamic_shared;
    struct stream *stream;
    struct launch_attribute *attributes;
    unsigned n_attributes;
};

API int cuLaunchKernelEx(const struct configuration *chosen, const struct kernel *kernel, void **arguments, void **extra) {
    struct asked asked;
    int error = begin();
    if (error || !chosen)
        return error ? error : INVALID_VALUE;
    if ((error = read_attributes("cuLaunchKernelEx", &asked, chosen->attributes, chosen->n_attributes)))
        return error;
    error = launch(kernel, chosen->grid, chosen->block, chosen->dynamic_shared, &asked, arguments, extra);
    return error || !asked.event ? error : IN_CONTEXT(cudaEventRecord(asked.event, chosen->stream));
}

API int cuLaunchHostFunc(struct stream *stream, void (*call)(void *), void *data) {
    return IN_CONTEXT(cudaLaunchHostFunc(stream, call, data));
}

/* ---- attributes, by the numbers of CUfunction_attribute */

static int get_attribute(int *value, int number, const struct kernel *kernel) {
    struct needs_record needs;
    int error = begin();
    if (error || !value || !is_kernel(kernel))
        return error ? error : value ? INVALID_HANDLE : INVALID_VALUE;
    if ((error = needs_of_function(&kernel->function, &needs)))
        return as_result(error);
    const int64_t values[] = {needs.most_threads, (int64_t)needs.shared_bytes, (int64_t)needs.constant_bytes,
                              (int64_t)needs.local_bytes, needs.registers, needs.ptx_version, needs.target, 0,
                              (int64_t)(device.shared_bytes_cta - needs.shared_bytes), -1};
    if (number < 0 || number > 15)
        return INVALID_VALUE;
    *value = number < (int)(sizeof values / sizeof *values) ? (int)values[number] : 0; /* the rest: of clusters */
    return SUCCESS;
}

static int set_attribute(const char *call, const struct kernel *kernel, int number, int value) {
    int error = begin();
    if (error || !is_kernel(kernel))
        return error ? error : INVALID_HANDLE;
    return as_result(set_function_attribute(call, &kernel->function, number, value));
}

API int cuFuncGetAttribute(int *value, int number, const struct kernel *kernel) {
    return get_attribute(value, number, kernel);
}

API int cuKernelGetAttribute(int *value, int number, const struct kernel *kernel, int device_number) {
    return device_number ? INVALID_DEVICE : get_attribute(value, number, kernel);
}

API int cuFuncSetAttribute(const struct kernel *kernel, int number, int value) {
    return set_attribute("cuFuncSetAttribute", kernel, number, value);
}

API int cuKernelSetAttribute(int number, int value, const struct kernel *kernel, int device_number) {
    return device_number ? INVALID_DEVICE : set_attribute("cuKernelSetAttribute", kernel, number, value);
}

/* A preference changes nothing: the machine's file divides L1 and shared memory. */
static int prefer(const struct kernel *kernel, int preference, int most) {
    int error = begin();
    if (error || !is_kernel(kernel))
        return error ? error : INVALID_HANDLE;
    return preference < 0 || preference > most ? INVALID_VALUE : SUCCESS;
}

API int cuFuncSetCacheConfig(const struct kernel *kernel, int preference) { return prefer(kernel, preference, 3); }

API int cuKernelSetCacheConfig(const struct kernel *kernel, int preference) { return prefer(kernel, preference, 3); }

API int cuFuncSetSharedMemConfig(const struct kernel *kernel, int bank) { return prefer(kernel, bank, 2); }

/* ---- occupancy */

API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, const struct kernel *kernel, int threads,
                                                    size_t dynamic_shared) {
    int error = begin();
    if (error || !is_kernel(kernel))
        return error ? error : INVALID_HANDLE;
    return as_result(resident_ctas_of(&kernel->function, threads, dynamic_shared, ctas));
}

API int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ctas, const struct kernel *kernel, int threads,
                                                             size_t dynamic_shared, unsigned flags) {
    return flags > 1 ? INVALID_VALUE : cuOccupancyMaxActiveBlocksPerMultiprocessor(ctas, kernel, threads, dynamic_shared);
}

API int cuOccupancyMaxActiveClusters(int *clusters, const struct kernel *kernel, const struct configuration *chosen) {
    struct asked asked;
    int error = begin();
    if (error || !chosen || !is_kernel(kernel))
        return error ? error : chosen ? INVALID_HANDLE : INVALID_VALUE;
    if ((error = read_attributes("cuOccupancyMaxActiveClusters", &asked, chosen->attributes, chosen->n_attributes)))
        return as_result(error);
    return as_result(resident_clusters_of(&kernel->function, chosen->block, chosen->dynamic_shared, &asked, clusters));
}

/* The block with most threads on an SM, the larger one of equals; a function may say how much shared memory a block needs. */
API int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, const struct kernel *kernel, size_t (*shared_of)(int),
                                         size_t dynamic_shared, int limit) {
    int most = 0, error = SUCCESS;
    if (!grid || !block)
        return INVALID_VALUE;
    *grid = *block = 0;
    for (int threads = limit > 0 && limit < 1024 ? limit : 1024; threads > 0; threads -= threads % 32 ? threads % 32 : 32) {
        int ctas;
        size_t shared = shared_of ? shared_of(threads) : dynamic_shared;
        if ((error = cuOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernel, threads, shared)))
            return error;
        if (ctas * threads > most) {
            most = ctas * threads;
            *block = threads;
            *grid = ctas * (int)device.sms;
        }
    }
    return SUCCESS;
}

API int cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, const struct kernel *kernel,
                                                  size_t (*shared_of)(int), size_t dynamic_shared, int limit, unsigned flags) {
    return flags > 1 ? INVALID_VALUE
                     : cuOccupancyMaxPotentialBlockSize(grid, block, kernel, shared_of, dynamic_shared, limit);
}
