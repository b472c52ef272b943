/* Launches: `<<<...>>>` as each version of nvcc compiles it, and the calls of the API. A launch returns when it has ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime.h"

int cudaEventRecord(void *event, void *stream);

/* What `<<<...>>>` keeps between its two calls. */
static __thread struct { struct dim3 grid, block; size_t dynamic_shared; void *stream; int is_set; } configuration;

API unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t dynamic_shared, void *stream) {
    configuration.grid = grid;
    configuration.block = block;
    configuration.dynamic_shared = dynamic_shared;
    configuration.stream = stream;
    configuration.is_set = 1;
    return 0;
}

API int __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *dynamic_shared, void **stream) {
    if (!configuration.is_set)
        return done(MISSING_CONFIGURATION);
    *grid = configuration.grid;
    *block = configuration.block;
    *dynamic_shared = configuration.dynamic_shared;
    *stream = configuration.stream;
    configuration.is_set = 0;
    return SUCCESS;
}

/* What leaves a device unusable: an illegal address, a timeout, an assertion, a stack overflow and the like. */
static int is_fault(int error) { return error == 700 || error == 702 || error == 710 || (error >= 714 && error <= 719); }

size_t parameter_bytes(const struct function *function) {
    const struct parameter_record *end = function->parameters + function->n_parameters;
    return function->n_parameters ? end[-1].offset + end[-1].bytes : 0;
}

int gather(const struct function *function, void **arguments, char *data) {
    memset(data, 0, parameter_bytes(function));
    for (size_t k = 0; k < function->n_parameters; k++) {
        if (!arguments || !arguments[k]) {
            refuse("a launch of %s: its argument %zu is a null pointer", function->name, k);
            return INVALID_VALUE;
        }
        memcpy(data + function->parameters[k].offset, arguments[k], function->parameters[k].bytes);
    }
    return SUCCESS;
}

int launch_function(const struct function *function, struct dim3 grid, struct dim3 block, const void *data, size_t bytes,
                    size_t dynamic_shared, const struct asked *asked) {
    struct launch_record record = {function->number, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, asked->is_cooperative,
                                   {asked->cluster.x, asked->cluster.y, asked->cluster.z}, dynamic_shared};
    struct answer answer = request(MESSAGE_LAUNCH, &record, sizeof record, data, bytes);
    if (answer.bytes >= sizeof simulated_seconds) {
        memcpy(&simulated_seconds, answer.data, sizeof simulated_seconds);
        fwrite(answer.data + sizeof simulated_seconds, 1, answer.bytes - sizeof simulated_seconds, stdout);
    }
    return is_fault(answer.error) ? fault(answer.error) : answer.error;
}

int launch_host(const void *host, struct dim3 grid, struct dim3 block, void **arguments, size_t dynamic_shared,
                const struct asked *asked) {
    struct function *function;
    int error = ready();
    if (error || (error = find_function(host, &function)))
        return error;
    size_t bytes = parameter_bytes(function);
    char data[bytes + 1];
    if ((error = gather(function, arguments, data)))
        return error;
    return launch_function(function, grid, block, data, bytes, dynamic_shared, asked);
}

/* Launch, or capture the launch. */
static int launch(const void *host, struct dim3 grid, struct dim3 block, void **arguments, size_t dynamic_shared, void *stream,
                  const struct asked *asked) {
    return is_capturing(stream) ? capture_launch(stream, host, grid, block, arguments, dynamic_shared, asked)
                                  : launch_host(host, grid, block, arguments, dynamic_shared, asked);
}

API int cudaLaunchKernel(const void *host, struct dim3 grid, struct dim3 block, void **arguments, size_t dynamic_shared,
                         void *stream) {
    return done(launch(host, grid, block, arguments, dynamic_shared, stream, &(struct asked){0}));
}

API int cudaLaunchCooperativeKernel(const void *host, struct dim3 grid, struct dim3 block, void **arguments,
                                    size_t dynamic_shared, void *stream) {
    return done(launch(host, grid, block, arguments, dynamic_shared, stream, &(struct asked){.is_cooperative = 1}));
}

enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4, ATTRIBUTE_PROGRAMMATIC_EVENT = 7, ATTRIBUTE_COMPLETION_EVENT = 12,
       ATTRIBUTE_UPDATABLE_NODE = 13, LAST_ATTRIBUTE = 16 };

/* A launch begins when all before it have ended, which `programmatic stream serialization` allows, and an event that a
 * kernel may trigger is recorded when it has ended. The other attributes change neither results nor order. */
int read_attributes(const char *call, struct asked *asked, const struct launch_attribute *attributes, unsigned n) {
    *asked = (struct asked){0};
    for (unsigned k = 0; k < n; k++) {
        int id = attributes[k].id;
        if (id < 0 || id > LAST_ATTRIBUTE || id == ATTRIBUTE_UPDATABLE_NODE) {
            refuse("%s: launch attribute %d is not supported", call, id);
            return NOT_SUPPORTED;
        }
        if (id == ATTRIBUTE_COOPERATIVE)
            asked->is_cooperative = attributes[k].number != 0;
        else if (id == ATTRIBUTE_CLUSTER)
            asked->cluster = attributes[k].extent;
        else if (id == ATTRIBUTE_PROGRAMMATIC_EVENT || id == ATTRIBUTE_COMPLETION_EVENT)
            asked->event = attributes[k].event;
    }
    return SUCCESS;
}

struct launch_configuration {
    struct dim3 grid, block;
    size_t dynamic_shared;
    void *stream;
    struct launch_attribute *attributes;
    unsigned n_attributes;
};

API int cudaLaunchKernelExC(const struct launch_configuration *chosen, const void *host, void **arguments) {
    struct asked asked;
    int error = ready();
    if (error || !chosen)
        return done(error ? error : INVALID_VALUE);
    if ((error = read_attributes("cudaLaunchKernelExC", &asked, chosen->attributes, chosen->n_attributes)))
        return done(error);
    error = launch(host, chosen->grid, chosen->block, arguments, chosen->dynamic_shared, chosen->stream, &asked);
    if (!error && asked.event)
        return cudaEventRecord(asked.event, chosen->stream);
    return done(error);
}

/* From CUDA 12 on a launch goes through a handle, which the code asks for once: here, the registered function. */
API int __cudaGetKernel(void **kernel, const void *host) {
    *kernel = (void *)host;
    return SUCCESS;
}

API int cudaGetKernel(void **kernel, const void *host) { return __cudaGetKernel(kernel, host); }

API int __cudaLaunchKernel(void *kernel, struct dim3 grid, struct dim3 block, void **arguments, size_t dynamic_shared,
                           void *stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, dynamic_shared, stream);
}

API int cudaLaunchHostFunc(void *stream, void (*call)(void *), void *data) {
    int error = ready();
    if (error || !call)
        return done(error ? error : INVALID_VALUE);
    if (is_capturing(stream))
        return done(capture_call(stream, call, data));
    call(data);
    return SUCCESS;
}

/* ---- what a kernel needs, and how many CTAs of it an SM holds */

struct function_attributes { size_t shared, constant, local; int threads, registers, ptx, binary, cache, dynamic_shared, carveout; };

int needs_of_function(const struct function *function, struct needs_record *needs) {
    struct answer answer = request(MESSAGE_NEEDS, &function->number, 4, NULL, 0);
    if (!answer.error)
        memcpy(needs, answer.data, sizeof *needs);
    return answer.error;
}

static int needs_of(const void *host, struct function **function, struct needs_record *needs) {
    int error = ready();
    if (error || (error = find_function(host, function)))
        return error;
    return needs_of_function(*function, needs);
}

API int cudaFuncGetAttributes(struct function_attributes *attributes, const void *host) {
    struct function *function;
    struct needs_record needs;
    int error = attributes ? needs_of(host, &function, &needs) : INVALID_VALUE;
    if (error)
        return done(error);
    if (runtime_version >= 12)
        memset((char *)attributes + 56, 0, 88);
    *attributes = (struct function_attributes){
        needs.shared_bytes, needs.constant_bytes, needs.local_bytes, (int)needs.most_threads, (int)needs.registers,
        (int)needs.ptx_version, (int)needs.target, 0, (int)(device.shared_bytes_cta - needs.shared_bytes), -1};
    return SUCCESS;
}

/* The simulated machine has no cache that a kernel could prefer to shared memory, and no limit to raise: what is
 * asked for holds already, or the launch says that it does not fit. */
API int cudaFuncSetCacheConfig(const void *host, int preference) {
    struct function *function;
    int error = ready();
    return done(error ? error : preference < 0 || preference > 3 ? INVALID_VALUE : find_function(host, &function));
}

API int cudaFuncSetSharedMemConfig(const void *host, int bank) {
    struct function *function;
    int error = ready();
    return done(error ? error : bank < 0 || bank > 2 ? INVALID_VALUE : find_function(host, &function));
}

static int check_dynamic_shared(const char *call, const struct function *function, int bytes) {
    struct needs_record needs;
    int error = needs_of_function(function, &needs);
    if (error || (bytes >= 0 && bytes + needs.shared_bytes <= device.shared_bytes_cta))
        return error;
    refuse("%s(%s, %d bytes of dynamic shared memory): a CTA has at most %llu bytes of shared memory, and the kernel "
           "declares %llu", call, function->name, bytes, (unsigned long long)device.shared_bytes_cta,
           (unsigned long long)needs.shared_bytes);
    return INVALID_VALUE;
}

enum { DYNAMIC_SHARED = 8, CARVEOUT = 9, LARGE_CLUSTERS = 14, CLUSTER_SCHEDULING = 15 };

/* Clusters of more than eight CTAs run in any case. */
int set_function_attribute(const char *call, const struct function *function, int attribute, int value) {
    if (attribute == DYNAMIC_SHARED)
        return check_dynamic_shared(call, function, value);
    return attribute == CARVEOUT || attribute == LARGE_CLUSTERS || attribute == CLUSTER_SCHEDULING ? SUCCESS : INVALID_VALUE;
}

API int cudaFuncSetAttribute(const void *host, int attribute, int value) {
    struct function *function;
    int error = ready();
    if (error || (error = find_function(host, &function)))
        return done(error);
    return done(set_function_attribute("cudaFuncSetAttribute", function, attribute, value));
}

struct residence { uint32_t ctas, cluster; }; /* what MESSAGE_OCCUPANCY answers */

static int residence_of(const struct function *function, int threads, size_t dynamic_shared, struct residence *found) {
    struct { uint32_t kernel, threads; uint64_t dynamic_shared; } asked = {function->number, (uint32_t)threads, dynamic_shared};
    if (threads < 1)
        return INVALID_VALUE;
    struct answer answer = request(MESSAGE_OCCUPANCY, &asked, sizeof asked, NULL, 0);
    if (!answer.error)
        memcpy(found, answer.data, sizeof *found);
    return answer.error;
}

int resident_ctas_of(const struct function *function, int threads, size_t dynamic_shared, int *ctas) {
    struct residence found;
    int error = ctas ? residence_of(function, threads, dynamic_shared, &found) : INVALID_VALUE;
    if (!error)
        *ctas = (int)found.ctas;
    return error;
}

int resident_clusters_of(const struct function *function, struct dim3 block, size_t dynamic_shared, const struct asked *asked,
                         int *clusters) {
    struct residence found;
    int error = clusters ? residence_of(function, (int)(block.x * block.y * block.z), dynamic_shared, &found) : INVALID_VALUE;
    uint32_t ctas = asked->cluster.x * asked->cluster.y * asked->cluster.z;
    if (!error)
        *clusters = (int)(found.ctas * device.sms / (ctas ? ctas : found.cluster));
    return error;
}

static int resident_ctas(const void *host, int threads, size_t dynamic_shared, int *ctas) {
    struct function *function;
    int error = ready();
    if (error || (error = find_function(host, &function)))
        return error;
    return resident_ctas_of(function, threads, dynamic_shared, ctas);
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, const void *host, int threads, size_t dynamic_shared) {
    return done(resident_ctas(host, threads, dynamic_shared, ctas));
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ctas, const void *host, int threads,
                                                               size_t dynamic_shared, unsigned flags) {
    return done(flags > 1 ? INVALID_VALUE : resident_ctas(host, threads, dynamic_shared, ctas));
}

API int cudaOccupancyMaxActiveClusters(int *clusters, const void *host, const struct launch_configuration *chosen) {
    struct function *function;
    struct asked asked;
    int error = ready();
    if (error || !chosen || (error = find_function(host, &function)))
        return done(error ? error : INVALID_VALUE);
    if ((error = read_attributes("cudaOccupancyMaxActiveClusters", &asked, chosen->attributes, chosen->n_attributes)))
        return done(error);
    return done(resident_clusters_of(function, chosen->block, chosen->dynamic_shared, &asked, clusters));
}

/* The most dynamic shared memory with which an SM still holds so many CTAs. */
API int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int ctas, int threads) {
    size_t least = 0, most = device.shared_bytes_cta + 1;
    int resident, error = resident_ctas(host, threads, 0, &resident);
    if (error || !bytes || ctas < 1 || resident < ctas)
        return done(error ? error : INVALID_VALUE);
    while (!error && most - least > 1) {
        size_t middle = (least + most) / 2;
        error = resident_ctas(host, threads, middle, &resident);
        *(resident >= ctas ? &least : &most) = middle;
    }
    *bytes = least;
    return done(error);
}

/* ---- kernels by name, and their parameters */

API int cudaFuncGetName(const char **name, const void *host) {
    struct function *function;
    int error = ready();
    if (error || !name || (error = find_function(host, &function)))
        return done(error ? error : INVALID_VALUE);
    *name = function->name;
    return SUCCESS;
}

API int cudaFuncGetParamInfo(const void *host, size_t number, size_t *offset, size_t *bytes) {
    struct function *function;
    int error = ready();
    if (error || !offset || (error = find_function(host, &function)) || number >= function->n_parameters)
        return done(error ? error : INVALID_VALUE);
    *offset = function->parameters[number].offset;
    if (bytes)
        *bytes = function->parameters[number].bytes;
    return SUCCESS;
}

API int cudaGetFuncBySymbol(const void **handle, const void *host) {
    struct function *function;
    int error = ready();
    if (error || !handle || (error = find_function(host, &function)))
        return done(error ? error : INVALID_VALUE);
    *handle = host;
    return SUCCESS;
}
