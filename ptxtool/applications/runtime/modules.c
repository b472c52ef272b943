/* What nvcc's code registers before main: fat binaries, kernels, variables. Each is loaded at its first use. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "runtime.h"

/* nvcc's own structure around a fat binary, and the head of what it points to */
struct wrapper { uint32_t magic, version; const char *data; const void *names; };
struct container { uint32_t magic; uint16_t version, head_bytes; uint64_t bytes; };

struct module {
    const struct wrapper *wrapper;
    int is_loaded, error;
    uint32_t number;
    struct module *next;
};
enum { CONTAINER = 0xBA55ED50, WRAPPER = 0x466243b1 };

static struct module *modules;
static struct function *functions;
static struct variable *variables;
static struct texture *textures;

static void *new(size_t bytes) {
    void *made = calloc(1, bytes);
    if (!made)
        abort();
    return made;
}

API void **__cudaRegisterFatBinary(void *wrapper) {
    struct module *module = new(sizeof *module);
    *module = (struct module){.wrapper = wrapper, .next = modules};
    modules = module;
    return (void **)module;
}

API void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

API void __cudaUnregisterFatBinary(void **handle) { (void)handle; } /* called when the process ends */

API void __cudaRegisterFunction(void **handle, const char *host, char *device_function, const char *name) {
    struct function *function = new(sizeof *function);
    (void)device_function;
    *function = (struct function){.host = host, .name = name, .module = (struct module *)handle, .next = functions};
    functions = function;
}

static struct variable *registered(void **handle, const void *host, const char *name) {
    struct variable *variable = new(sizeof *variable);
    *variable = (struct variable){.host = host, .name = name, .module = (struct module *)handle, .next = variables};
    return variables = variable;
}

API void __cudaRegisterVar(void **handle, char *host, char *address, const char *name) {
    (void)address;
    registered(handle, host, name);
}

static struct managed { void **host; struct variable *variable; struct managed *next; } *managed;

API void __cudaRegisterManagedVar(void **handle, void **host, char *address, const char *name) {
    struct managed *entry = new(sizeof *entry);
    (void)address;
    *entry = (struct managed){host, registered(handle, host, name), managed};
    managed = entry;
}

API void __cudaRegisterTexture(void **handle, const void *host, const void **address, const char *name, int axes,
                               int reads_fraction) {
    struct texture *texture = new(sizeof *texture);
    (void)address, (void)axes;
    *texture = (struct texture){host, name, (struct module *)handle, reads_fraction, textures};
    textures = texture;
}

API void __cudaRegisterSurface(void **handle, const void *host, const void **address, const char *name, int axes) {
    __cudaRegisterTexture(handle, host, address, name, axes, 0);
}

/* An entry of a container: its kind (1: PTX), its own size, that of its data, and at byte 28 the architecture. */
struct entry { uint16_t kind, version; uint32_t head_bytes; uint64_t bytes; uint32_t more[3], target; };

size_t registered_targets(uint32_t *targets, size_t most) {
    size_t n = 0;
    for (struct module *module = modules; module; module = module->next) {
        const struct container *container = (const void *)module->wrapper->data;
        if (container->magic != CONTAINER)
            continue;
        const char *at = (const char *)container + container->head_bytes, *end = at + container->bytes;
        while (at + sizeof(struct entry) <= end && n < most) {
            const struct entry *entry = (const void *)at;
            if (entry->kind == 1)
                targets[n++] = entry->target;
            at += entry->head_bytes + entry->bytes;
        }
    }
    return n;
}

const void *fat_binary(const void *image, size_t *bytes) {
    const struct wrapper *wrapper = image;
    const struct container *container = wrapper->magic == WRAPPER ? (const void *)wrapper->data : image;
    *bytes = container->magic == CONTAINER ? container->head_bytes + container->bytes : 16;
    return container->magic == CONTAINER || container != image ? container : NULL;
}

static int load(struct module *module) {
    if (module->is_loaded)
        return module->error;
    module->is_loaded = 1;
    size_t bytes;
    const void *container = fat_binary(module->wrapper, &bytes);
    if (!container)
        return module->error = INVALID_IMAGE;
    struct answer answer = request(MESSAGE_MODULE, container, bytes, NULL, 0);
    if (!answer.error)
        memcpy(&module->number, answer.data, sizeof module->number);
    return module->error = answer.error;
}

int load_kernel(uint32_t module, struct function *function) {
    struct answer answer = request(MESSAGE_KERNEL, &module, sizeof module, function->name, strlen(function->name));
    if (answer.error)
        return answer.error;
    memcpy(&function->number, answer.data, 4);
    memcpy(&function->n_parameters, answer.data + 4, 4);
    size_t bytes = function->n_parameters * sizeof *function->parameters;
    function->parameters = new(bytes + 1);
    memcpy(function->parameters, answer.data + 8, bytes);
    return SUCCESS;
}

static void load_function(struct function *function) {
    function->is_loaded = 1;
    function->error = load(function->module);
    if (!function->error)
        function->error = load_kernel(function->module->number, function);
}

int load_address(uint32_t module, const char *name, uint64_t *address, uint64_t *bytes) {
    struct answer answer = request(MESSAGE_VARIABLE, &module, sizeof module, name, strlen(name));
    if (answer.error)
        return answer.error;
    memcpy(address, answer.data, 8);
    memcpy(bytes, answer.data + 8, 8);
    if (*bytes && !allocation_of((void *)*address))
        add_allocation(*address, *bytes, DEVICE);
    return SUCCESS;
}

static void load_variable(struct variable *variable) {
    variable->is_loaded = 1;
    variable->error = load(variable->module);
    if (!variable->error)
        variable->error = load_address(variable->module->number, variable->name, &variable->address, &variable->bytes);
}

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

int find_function(const void *host, struct function **found) {
    struct function *function = functions;
    while (function && function->host != host)
        function = function->next;
    if (!function)
        return INVALID_FUNCTION;
    pthread_mutex_lock(&loading);
    if (!function->is_loaded)
        load_function(function);
    pthread_mutex_unlock(&loading);
    *found = function;
    return function->error;
}

int find_variable(const void *symbol, struct variable **found) {
    struct variable *variable = variables;
    while (variable && variable->host != symbol)
        variable = variable->next;
    if (!variable)
        return INVALID_SYMBOL;
    pthread_mutex_lock(&loading);
    if (!variable->is_loaded)
        load_variable(variable);
    pthread_mutex_unlock(&loading);
    *found = variable;
    return variable->error;
}

int find_texture(const void *reference, struct texture **found, uint32_t *module) {
    struct texture *texture = textures;
    while (texture && texture->host != reference)
        texture = texture->next;
    if (!texture)
        return INVALID_TEXTURE;
    pthread_mutex_lock(&loading);
    int error = load(texture->module);
    pthread_mutex_unlock(&loading);
    *found = texture;
    *module = texture->module->number;
    return error;
}

/* Host code calls this before it reads a managed variable for the first time. */
API char __cudaInitModule(void **handle) {
    if (ready())
        return 0;
    for (struct managed *entry = managed; entry; entry = entry->next) {
        struct variable *variable;
        if (entry->variable->module == (struct module *)handle && !find_variable(entry->host, &variable))
            *entry->host = (void *)variable->address;
    }
    return 1;
}
