/* Modules and libraries: PTX as text or in a fat binary, loaded when the call is made; their kernels and variables.
 *
 * A library is a module whose kernels and variables have names of their own in the API; here both are one structure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "driver.h"

enum { MODULE = 0x30D7, KERNEL = 0x4E41, FREED = 0xF4EE };
enum { ERROR_LOG = 5, ERROR_LOG_BYTES = 6 }; /* of CUjit_option */

struct driver_module { uint32_t magic, number; struct kernel *kernels; };

/* ---- loading */

struct jit { unsigned n; const int *names; void **values; };

/* Where the caller wants to read what is wrong with a text. */
static void keep_log(struct jit jit, const char *text) {
    char *buffer = NULL;
    size_t room = 0;
    for (unsigned k = 0; k < jit.n && jit.names && jit.values; k++) {
        if (jit.names[k] == ERROR_LOG)
            buffer = jit.values[k];
        if (jit.names[k] == ERROR_LOG_BYTES)
            room = (size_t)jit.values[k];
    }
    if (buffer && room)
        snprintf(buffer, room, "%s", text);
}

static int load(struct driver_module **module, const void *image, size_t bytes, struct jit jit) {
    struct answer answer = request(MESSAGE_MODULE, image, bytes, NULL, 0);
    if (answer.error) {
        keep_log(jit, answer.bytes ? answer.data : "");
        return answer.error;
    }
    if (!(*module = malloc(sizeof **module)))
        return OUT_OF_MEMORY;
    **module = (struct driver_module){MODULE, 0, NULL};
    memcpy(&(*module)->number, answer.data, sizeof (*module)->number);
    return SUCCESS;
}

/* An image in memory: a fat binary, in nvcc's structure or not; machine code, which the simulator refuses; or text. */
static int load_image(struct driver_module **module, const void *image, struct jit jit) {
    int error = begin();
    if (error || !module || !image)
        return error ? error : INVALID_VALUE;
    size_t bytes = strnlen(image, sizeof(uint32_t));
    const void *container = bytes < sizeof(uint32_t) ? NULL : fat_binary(image, &bytes);
    if (!container && memcmp(image, "\x7f" "ELF", bytes < 4 ? bytes : 4))
        bytes = strlen(image);
    return load(module, container ? container : image, bytes, jit);
}

int read_file(const char *path, char **data, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    size_t room = 0;
    *data = NULL;
    *bytes = 0;
    if (!file)
        return FILE_NOT_FOUND;
    do {
        char *larger = realloc(*data, room = room ? 2 * room : 1 << 16);
        if (!larger) {
            free(*data);
            fclose(file);
            return OUT_OF_MEMORY;
        }
        *data = larger;
        *bytes += fread(*data + *bytes, 1, room - *bytes, file);
    } while (*bytes == room);
    int is_whole = feof(file);
    fclose(file);
    if (!is_whole)
        free(*data);
    return is_whole ? SUCCESS : FILE_NOT_FOUND;
}

static int load_file(struct driver_module **module, const char *path, struct jit jit) {
    char *data;
    size_t bytes;
    int error = begin();
    if (error || !module || !path)
        return error ? error : INVALID_VALUE;
    if ((error = read_file(path, &data, &bytes)))
        return error;
    error = load(module, data, bytes, jit);
    free(data);
    return error;
}

API int cuModuleLoad(struct driver_module **module, const char *path) { return load_file(module, path, (struct jit){0}); }

API int cuModuleLoadData(struct driver_module **module, const void *image) {
    return load_image(module, image, (struct jit){0});
}

API int cuModuleLoadDataEx(struct driver_module **module, const void *image, unsigned n, const int *names, void **values) {
    return load_image(module, image, (struct jit){n, names, values});
}

API int cuModuleLoadFatBinary(struct driver_module **module, const void *image) {
    return load_image(module, image, (struct jit){0});
}

static int unload(struct driver_module *module) {
    int error = begin();
    if (error || !module || module->magic != MODULE)
        return error ? error : INVALID_HANDLE;
    for (struct kernel *kernel = module->kernels, *next; kernel; kernel = next) {
        next = kernel->next;
        kernel->magic = FREED;
        free((char *)kernel->function.name);
        free(kernel->function.parameters);
        free(kernel);
    }
    module->magic = FREED;
    free(module);
    return SUCCESS;
}

API int cuModuleUnload(struct driver_module *module) { return unload(module); }

/* Every module is loaded when its call is made. */
API int cuModuleGetLoadingMode(int *mode) {
    if (!mode)
        return INVALID_VALUE;
    *mode = 1; /* CU_MODULE_EAGER_LOADING */
    return initialised();
}

API int cuLibraryLoadData(struct driver_module **library, const void *image, const int *names, void **values, unsigned n) {
    return load_image(library, image, (struct jit){n, names, values});
}

API int cuLibraryLoadFromFile(struct driver_module **library, const char *path, const int *names, void **values, unsigned n) {
    return load_file(library, path, (struct jit){n, names, values});
}

API int cuLibraryUnload(struct driver_module *library) { return unload(library); }

/* ---- kernels and variables */

int is_kernel(const struct kernel *kernel) { return kernel && kernel->magic == KERNEL; }

static int find(struct kernel **kernel, struct driver_module *module, const char *name) {
    int error = begin();
    if (error || !kernel || !name)
        return error ? error : INVALID_VALUE;
    if (!module || module->magic != MODULE)
        return INVALID_HANDLE;
    for (struct kernel *known = module->kernels; known; known = known->next)
        if (!strcmp(known->function.name, name)) {
            *kernel = known;
            return SUCCESS;
        }
    struct kernel *made = calloc(1, sizeof *made);
    char *copy = strdup(name);
    if (!made || !copy)
        return OUT_OF_MEMORY;
    *made = (struct kernel){KERNEL, {.name = copy}, module, module->kernels};
    if ((error = load_kernel(module->number, &made->function))) {
        free(copy);
        free(made);
        return as_result(error);
    }
    *kernel = module->kernels = made;
    return SUCCESS;
}

API int cuModuleGetFunction(struct kernel **kernel, struct driver_module *module, const char *name) {
    return find(kernel, module, name);
}

API int cuLibraryGetKernel(struct kernel **kernel, struct driver_module *library, const char *name) {
    return find(kernel, library, name);
}

static int find_address(address *at, size_t *bytes, struct driver_module *module, const char *name) {
    uint64_t found[2];
    int error = begin();
    if (error || !name)
        return error ? error : INVALID_VALUE;
    if (!module || module->magic != MODULE)
        return INVALID_HANDLE;
    if ((error = load_address(module->number, name, found, found + 1)))
        return as_result(error);
    if (at)
        *at = found[0];
    if (bytes)
        *bytes = found[1];
    return SUCCESS;
}

API int cuModuleGetGlobal_v2(address *at, size_t *bytes, struct driver_module *module, const char *name) {
    return find_address(at, bytes, module, name);
}

API int cuLibraryGetGlobal(address *at, size_t *bytes, struct driver_module *library, const char *name) {
    return find_address(at, bytes, library, name);
}

API int cuLibraryGetManaged(address *at, size_t *bytes, struct driver_module *library, const char *name) {
    return find_address(at, bytes, library, name);
}

API int cuLibraryGetModule(struct driver_module **module, struct driver_module *library) {
    int error = begin();
    if (error || !module || !library || library->magic != MODULE)
        return error ? error : module ? INVALID_HANDLE : INVALID_VALUE;
    *module = library;
    return SUCCESS;
}

API int cuKernelGetFunction(struct kernel **function, struct kernel *kernel) {
    int error = begin();
    if (error || !function || !is_kernel(kernel))
        return error ? error : function ? INVALID_HANDLE : INVALID_VALUE;
    *function = kernel;
    return SUCCESS;
}

static int module_of(struct driver_module **module, struct kernel *kernel) {
    int error = begin();
    if (error || !module || !is_kernel(kernel))
        return error ? error : module ? INVALID_HANDLE : INVALID_VALUE;
    *module = kernel->module;
    return SUCCESS;
}

API int cuFuncGetModule(struct driver_module **module, struct kernel *kernel) { return module_of(module, kernel); }

API int cuKernelGetLibrary(struct driver_module **library, struct kernel *kernel) { return module_of(library, kernel); }

static int name_of(const char **name, struct kernel *kernel) {
    int error = begin();
    if (error || !name || !is_kernel(kernel))
        return error ? error : name ? INVALID_HANDLE : INVALID_VALUE;
    *name = kernel->function.name;
    return SUCCESS;
}

API int cuFuncGetName(const char **name, struct kernel *kernel) { return name_of(name, kernel); }

API int cuKernelGetName(const char **name, struct kernel *kernel) { return name_of(name, kernel); }

static int parameter_of(struct kernel *kernel, size_t k, size_t *offset, size_t *bytes) {
    int error = begin();
    if (error || !is_kernel(kernel) || !offset || k >= kernel->function.n_parameters)
        return error ? error : is_kernel(kernel) ? INVALID_VALUE : INVALID_HANDLE;
    *offset = kernel->function.parameters[k].offset;
    if (bytes)
        *bytes = kernel->function.parameters[k].bytes;
    return SUCCESS;
}

API int cuFuncGetParamInfo(struct kernel *kernel, size_t k, size_t *offset, size_t *bytes) {
    return parameter_of(kernel, k, offset, bytes);
}

API int cuKernelGetParamInfo(struct kernel *kernel, size_t k, size_t *offset, size_t *bytes) {
    return parameter_of(kernel, k, offset, bytes);
}
