/* What the files of the driver API share. Its calls rest on the same files as those of the runtime API, so that a
 * process has one device, one memory and one clock; handles of streams, events and arrays serve both.
 *
 * Names are those that programs link: cuMemAlloc of cuda.h is cuMemAlloc_v2. The variants before it, of 32-bit
 * addresses, are not implemented.
 *
 * Reference: CUDA Driver API, versions 11.8 to 13.0.
 */
#ifndef PTXTOOL_DRIVER_H
#define PTXTOOL_DRIVER_H

#include "../runtime.h"

enum { INVALID_CONTEXT = 201, FILE_NOT_FOUND = 301, NOT_FOUND = 500 };

typedef uint64_t address;

struct context { uint32_t magic, flags; uint64_t number; };

/* A kernel is a function of a module and, as CUkernel, of a library: one handle serves as both. */
struct kernel { uint32_t magic; struct function function; struct driver_module *module; struct kernel *next; };

int initialised(void);            /* NOT_INITIALISED before cuInit, or what every call returns */
int begin(void);                  /* the same, and INVALID_CONTEXT for a thread without a context */
struct context *current(void);    /* this thread's; NULL: none */
int is_kernel(const struct kernel *kernel);
int read_file(const char *path, char **data, size_t *bytes); /* `data` is the caller's to free */
int as_result(int error);         /* the driver API's code for one of the runtime API */

/* Of the runtime API: what these files rest on */

struct stream;
struct event;

const char *cudaGetErrorString(int);
int cudaDriverGetVersion(int *), cudaDeviceGetPCIBusId(char *, int, int), cudaDeviceGetByPCIBusId(int *, const char *);
int cudaDeviceCanAccessPeer(int *, int, int), cudaDeviceGetLimit(size_t *, int), cudaDeviceSetLimit(int, size_t);
int cudaDeviceGetCacheConfig(int *), cudaDeviceSetCacheConfig(int);
int cudaDeviceGetSharedMemConfig(int *), cudaDeviceSetSharedMemConfig(int), cudaDeviceGetStreamPriorityRange(int *, int *);
struct location { int type, number; }; /* of memory: 1 the device, 2 the host */
int cudaMemGetInfo(size_t *, size_t *), cudaMemAdvise_v2(const void *, size_t, int, struct location);
int cudaMemPrefetchAsync_v2(const void *, size_t, struct location);
int cudaHostRegister(void *, size_t, unsigned), cudaHostUnregister(void *);
int cudaMallocHost(void **, size_t), cudaHostAlloc(void **, size_t, unsigned), cudaMallocManaged(void **, size_t, unsigned);
int cudaHostGetDevicePointer(void **, void *, unsigned), cudaHostGetFlags(unsigned *, void *);
int cudaStreamAttachMemAsync(void *, void *);
int cudaStreamCreateWithPriority(struct stream **, unsigned, int), cudaStreamDestroy(struct stream *);
int cudaStreamSynchronize(struct stream *), cudaStreamQuery(struct stream *), cudaStreamWaitEvent(struct stream *, struct event *);
int cudaStreamGetFlags(struct stream *, unsigned *), cudaStreamGetPriority(struct stream *, int *);
int cudaStreamAddCallback(struct stream *, void (*)(struct stream *, int, void *), void *, unsigned);
int cudaStreamIsCapturing(struct stream *, int *), cudaLaunchHostFunc(void *, void (*)(void *), void *);
int cudaEventCreateWithFlags(struct event **, unsigned), cudaEventDestroy(struct event *);
int cudaEventRecord(struct event *, struct stream *), cudaEventRecordWithFlags(struct event *, struct stream *, unsigned);
int cudaEventSynchronize(struct event *), cudaEventQuery(struct event *);
int cudaEventElapsedTime(float *, struct event *, struct event *);

/* The result of a call of the runtime API, whose last error stays as it was. */
#define RESULT(call) ({ int before = last_error, error_ = (call); last_error = before; as_result(error_); })

/* The same for a call that needs a context. */
#define IN_CONTEXT(call) ({ int refused = begin(); refused ? refused : RESULT(call); })

#endif
