/* What the files of this library share: the types of the CUDA runtime API that it needs, and each file's functions.
 *
 * The library stands for libcuda in an application that runs under `ptxtool exec`; libcudart jumps to the functions
 * here, so that a process has one device whichever API it uses. Device memory is a file of memory that the simulator
 * and the application map at the same addresses, so that a copy is a memcpy; allocations, modules and launches are
 * requests to the simulator. A launch has ended when its call returns: streams keep their order, and nothing is ever
 * pending.
 *
 * A function marked API is exported; the library is built with another body, which names itself and returns
 * cudaErrorNotSupported, for each name in calls.txt and driver/calls.txt that no function here has.
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
    INVALID_SURFACE = 37, INVALID_FUNCTION = 98, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_IMAGE = 200, PEER_UNSUPPORTED = 217, UNSUPPORTED_LIMIT = 215,
    INVALID_HANDLE = 400, NOT_READY = 600, PEER_NOT_ENABLED = 705, ALREADY_REGISTERED = 712,
    NOT_REGISTERED = 713, NOT_SUPPORTED = 801, CAPTURE_UNSUPPORTED = 900, CAPTURE_MERGE = 902, CAPTURE_UNMATCHED = 903,
    GRAPH_UPDATE_FAILURE = 910,
    UNKNOWN = 999
};

struct dim3 { unsigned x, y, z; };
struct extent { size_t width, height, depth; };
struct position { size_t x, y, z; };
struct pitched { void *ptr; size_t pitch, xsize, ysize; };
struct channels { int x, y, z, w, kind; };
struct box { /* a copy: each end is an array, or memory */
    struct array *from_array;
    struct position from_position;
    struct pitched from;
    struct array *to_array;
    struct position to_position;
    struct pitched to;
    struct extent extent;
    int direction;
};

/* ---- connection.c: the simulator */

struct answer { int error; uint32_t bytes; char *data; }; /* data: this thread's, until its next request */

extern struct device_record device;
extern char device_name[256];
extern int runtime_version; /* of the libcudart that is loaded: 11, 12, 13; 0: none */

int ready(void); /* connects at the first call; SUCCESS, or the error that every call returns from now on */
int failed(void); /* what ready() returns, without connecting */
struct answer request(enum message kind, const void *head, size_t head_bytes, const void *body, size_t body_bytes);
extern char *written; /* of DEVICE_BASE on, 1 for each byte of device memory that was written; NULL: nothing tracks it */
int memory_file(void); /* the file that device memory is mapped from, at its address less DEVICE_BASE; -1: not open */
int fault(int error); /* keeps the error of a kernel, which every later call returns; returns it */
void refuse(const char *format, ...) __attribute__((format(printf, 1, 2))); /* reports why a call is wrong */

/* ---- errors.c */

extern __thread int last_error; /* of the runtime API */

/* Keeps an error as the thread's last one, and returns it. Reports an invalid argument, function or handle by the name of
 * the call, once, where the call itself has not reported it. */
#define done(error) ({ static int is_named; done_in(__func__, &is_named, error); })
int done_in(const char *call, int *is_named, int error);
extern __thread int is_reported; /* the call under way has reported why it fails */
int missing(const char *name, int *is_named); /* the body of every call that is not implemented */

/* ---- generated: the functions of the driver API by name, in order */

struct entry_point { const char *name; const void *function; };
extern const struct entry_point entry_points[];
extern const size_t n_entry_points;

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

struct texture { /* a texture or surface reference */
    const void *host;
    const char *name;
    struct module *module;
    int reads_fraction;
    struct texture *next;
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
struct function *library_function(const void *handle); /* driver/modules.c: of a kernel of a library; NULL: it is none */
int find_variable(const void *symbol, struct variable **found);  /* loaded; INVALID_SYMBOL, or why it cannot be */
int find_texture(const void *reference, struct texture **found, uint32_t *module); /* its module's number, loaded */
int load_kernel(uint32_t module, struct function *function);     /* by its name: its number and its parameters */
int load_address(uint32_t module, const char *name, uint64_t *address, uint64_t *bytes); /* of a variable */
const void *fat_binary(const void *image, size_t *bytes); /* the container in nvcc's structure, or itself; NULL: neither */

/* ---- copies.c */

enum direction { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };

void note_written(void *to, const void *from, size_t bytes); /* `from` NULL: no copy of device memory */
int copy(const char *call, void *to, const void *from, size_t bytes, int direction);

int fill(const char *call, void *pointer, int value, size_t bytes);

int copy_rows(const char *call, char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width,
              size_t height, int direction); /* `width` bytes of each row */

/* ---- launch.c */

struct launch_attribute { int id; char pad[4]; union { int number; struct dim3 extent; void *event; char bytes[64]; }; };
struct asked { uint32_t is_cooperative; struct dim3 cluster; void *event; }; /* by attributes of a launch; zeros: nothing */

int read_attributes(const char *call, struct asked *asked, const struct launch_attribute *attributes, unsigned n);
int launch_function(const struct function *function, struct dim3 grid, struct dim3 block, const void *data, size_t bytes,
                    size_t dynamic_shared, const struct asked *asked); /* `data`: the parameters, one after the other */
int launch_host(const void *host, struct dim3 grid, struct dim3 block, void **arguments, size_t dynamic_shared,
                const struct asked *asked); /* the same by the address of the host's function */
size_t parameter_bytes(const struct function *function);
int gather(const struct function *function, void **arguments, char *data); /* the parameters, from one pointer for each */
int needs_of_function(const struct function *function, struct needs_record *needs);
int set_function_attribute(const char *call, const struct function *function, int attribute, int value);
int resident_ctas_of(const struct function *function, int threads, size_t dynamic_shared, int *ctas);
int resident_clusters_of(const struct function *function, struct dim3 block, size_t dynamic_shared, const struct asked *asked,
                         int *clusters); /* of all SMs together: a cluster may have its CTAs on any of them */

/* ---- device.c */

int device_attribute(const char *call, int *value, int attribute, int number);

/* ---- streams.c */

extern double simulated_seconds;

/* ---- registered.c: memory of the application that kernels use too */

struct registered { uint64_t host, device, bytes; unsigned flags; };
const struct registered *registered_at(const void *pointer); /* by an address on either side; NULL: none */

/* ---- pools.c */

void leave_pool(uint64_t address); /* an allocation is freed */

/* ---- advice.c */

void forget_advice(uint64_t address); /* an allocation is freed */

/* ---- arrays.c: arrays, and texels as textures and surfaces read them */

struct array {
    uint32_t magic, flags;
    struct channels format;
    struct extent extent; /* in texels; 0: there is no such axis */
    size_t texel_bytes, pitch, rows; /* rows of all planes */
    char *data;
};
int is_array(const struct array *array);

struct resource {
    int type;
    void *memory; /* or the array */
    struct channels format;
    size_t width, height, pitch; /* of linear memory, the first is its bytes */
};
struct sampling {
    int address_modes[3], filter, reads_fraction, srgb;
    float border[4];
    int is_normalized;
};
enum { OF_ARRAY = 0, OF_LINEAR = 2, OF_PITCHED = 3 };
int describe_texels(const char *call, struct texture_record *record, const struct resource *resource,
                    const struct sampling *sampling); /* sampling: NULL for a surface */
int create_texels(const char *call, uint64_t *handle, const struct resource *resource, const struct sampling *sampling);
int destroy_texels(uint64_t handle);

/* ---- graphs/capture.c: what becomes a node of a graph instead of being done */

int is_capturing(const void *stream);
int refuse_capture(const char *call, const void *stream); /* SUCCESS, if it is not captured */
int capture_launch(const void *stream, const void *host, struct dim3 grid, struct dim3 block, void **arguments,
                   size_t dynamic_shared, const struct asked *asked);
int capture_box(const void *stream, const struct box *box);
int capture_rows(const void *stream, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                 size_t height, int direction);
int capture_fill(const void *stream, void *to, size_t pitch, int value, size_t width, size_t height);
int capture_call(const void *stream, void (*call)(void *), void *data);
void capture_record(const void *stream, const void *event);
int capture_wait(const void *stream, const void *event); /* CAPTURE_MERGE: an event of another capture */

#endif
