/* What the files of this library share: the types of the CUDA runtime API that it needs, and each file's functions.
 *
 * The library stands for libcudart in an application that runs under `ptxtool exec`. Device memory is a file of memory
 * that the simulator and the application map at the same addresses, so that a copy is a memcpy; allocations, modules
 * and launches are requests to the simulator. A launch has ended when its call returns: streams keep their order, and
 * nothing is ever pending.
 *
 * A function marked API is exported; the library is built with another body, which names itself and returns
 * cudaErrorNotSupported, for each name in calls.txt that no function here has.
 *
 * Reference: CUDA Runtime API, versions 11.8, 12.4 and 13.0.
 */
#ifndef PTXTOOL_RUNTIME_H
#define PTXTOOL_RUNTIME_H

#include <stddef.h>
#include <stdint.h>
#include "protocol.h"

#define API __attribute__((visibility("default")))

#define DEVICE_BASE 0x10000000ull /* where device memory begins: ptxsim's GLOBAL_BASE */

enum { /* errors that this library returns by itself; errors.c has their names */
    SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALISED = 3, INVALID_CONFIGURATION = 9, INVALID_PITCH = 12,
    INVALID_SYMBOL = 13, INVALID_TEXTURE = 18, INVALID_CHANNEL = 20, INVALID_DIRECTION = 21, MISSING_CONFIGURATION = 52,
    INVALID_FUNCTION = 98, NO_DEVICE = 100, INVALID_DEVICE = 101, PEER_UNSUPPORTED = 217, UNSUPPORTED_LIMIT = 215,
    INVALID_HANDLE = 400, NOT_READY = 600, PEER_NOT_ENABLED = 705, NOT_SUPPORTED = 801,
    UNKNOWN = 999
};

struct dim3 { unsigned x, y, z; };
struct extent { size_t width, height, depth; };
struct position { size_t x, y, z; };
struct pitched { void *ptr; size_t pitch, xsize, ysize; };
struct channels { int x, y, z, w, kind; };

/* ---- connection.c: the simulator */

struct answer { int error; uint32_t bytes; char *data; }; /* data: this thread's, until its next request */

extern struct device_record device;
extern char device_name[256];

int ready(void); /* connects at the first call; SUCCESS, or the error that every call returns from now on */
int failed(void); /* what ready() returns, without connecting */
struct answer request(enum message kind, const void *head, size_t head_bytes, const void *body, size_t body_bytes);
extern char *written; /* of DEVICE_BASE on, 1 for each byte of device memory that was written; NULL: nothing tracks it */
int fault(int error); /* keeps the error of a kernel, which every later call returns; returns it */
void refuse(const char *format, ...) __attribute__((format(printf, 1, 2))); /* reports why a call is wrong */

/* ---- errors.c */

int done(int error); /* keeps an error as the thread's last one; returns it */
int missing(const char *name, int *is_named); /* the body of every call that is not implemented */

/* ---- memory.c: allocations */

enum memory { HOST = 1, DEVICE = 2, MANAGED = 3 }; /* as cudaMemoryType has them */
struct allocation { uint64_t address, bytes; enum memory memory; };

int allocate(void **pointer, size_t bytes, size_t alignment, enum memory memory);
int release(const char *call, void *pointer);
void add_allocation(uint64_t address, uint64_t bytes, enum memory memory);
const struct allocation *allocation_of(const void *pointer); /* NULL: none has this address */
int is_device_address(const void *pointer); /* whether it lies in the shared memory, allocated or not */

/* ---- modules.c: kernels and variables that the application has registered */

struct function {
    const void *host;
    const char *name;
    struct module *module;
    int is_loaded, error;
    uint32_t number, n_parameters;
    struct parameter_record *parameters;
    struct function *next;
};

struct variable {
    const void *host;
    const char *name;
    struct module *module;
    int is_loaded, error;
    uint64_t address, bytes;
    struct variable *next;
};

size_t registered_targets(uint32_t *targets, size_t most); /* the architectures of all PTX: 75 for sm_75 */
int find_function(const void *host, struct function **found);    /* loaded; INVALID_FUNCTION, or why it cannot be */
int find_variable(const void *symbol, struct variable **found);  /* loaded; INVALID_SYMBOL, or why it cannot be */

/* ---- copies.c */

enum direction { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };

void note_written(void *to, const void *from, size_t bytes); /* `from` NULL: no copy of device memory */
int copy(const char *call, void *to, const void *from, size_t bytes, int direction);

int copy_rows(const char *call, char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width,
              size_t height, int direction); /* `width` bytes of each row */

/* ---- streams.c */

extern double simulated_seconds;

#endif
