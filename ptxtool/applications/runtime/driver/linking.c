/* The linker takes one PTX text, or fat binary, and returns it: modules are loaded from PTX here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "driver.h"

enum { LINKER = 0x119C, FREED = 0xF4EE };
enum { OF_CUBIN = 0, OF_PTX = 1, OF_FAT_BINARY = 2, N_TYPES = 6 }; /* CUjitInputType */

struct linker { uint32_t magic; char *image; size_t bytes; };

static int is_linker(const struct linker *linker) { return linker && linker->magic == LINKER; }

API int cuLinkCreate_v2(unsigned n, const int *names, void **values, struct linker **linker) {
    (void)n, (void)names, (void)values; /* of code for a GPU */
    int error = begin();
    if (error || !linker)
        return error ? error : INVALID_VALUE;
    if (!(*linker = malloc(sizeof **linker)))
        return OUT_OF_MEMORY;
    **linker = (struct linker){LINKER, NULL, 0};
    return SUCCESS;
}

static int add(const char *call, struct linker *linker, int type, const void *data, size_t bytes, const char *name) {
    if (type != OF_PTX && type != OF_FAT_BINARY) {
        static const char *const types[N_TYPES] = {"machine code", "", "", "an object file", "a library", "NVVM code"};
        refuse("%s(%s): %s cannot be linked, only PTX", call, name ? name : "", types[type]);
        return NOT_SUPPORTED;
    }
    if (linker->image) {
        refuse("%s(%s): several texts cannot be linked into one", call, name ? name : "");
        return NOT_SUPPORTED;
    }
    if (!(linker->image = calloc(bytes + 1, 1)))
        return OUT_OF_MEMORY;
    memcpy(linker->image, data, bytes);
    linker->bytes = bytes;
    return SUCCESS;
}

API int cuLinkAddData_v2(struct linker *linker, int type, const void *data, size_t bytes, const char *name) {
    int error = begin();
    if (error || !is_linker(linker))
        return error ? error : INVALID_HANDLE;
    if (!data || type < 0 || type >= N_TYPES)
        return INVALID_VALUE;
    return add("cuLinkAddData", linker, type, data, bytes, name);
}

API int cuLinkAddFile_v2(struct linker *linker, int type, const char *path) {
    int error = begin();
    if (error || !is_linker(linker))
        return error ? error : INVALID_HANDLE;
    if (!path || type < 0 || type >= N_TYPES)
        return INVALID_VALUE;
    char *data;
    size_t bytes;
    if ((error = read_file(path, &data, &bytes)))
        return error;
    error = add("cuLinkAddFile", linker, type, data, bytes, path);
    free(data);
    return error;
}

API int cuLinkComplete(struct linker *linker, void **image, size_t *bytes) {
    int error = begin();
    if (error || !is_linker(linker))
        return error ? error : INVALID_HANDLE;
    if (!image || !linker->image)
        return INVALID_VALUE;
    *image = linker->image;
    if (bytes)
        *bytes = linker->bytes + 1;
    return SUCCESS;
}

API int cuLinkDestroy(struct linker *linker) {
    int error = begin();
    if (error || !is_linker(linker))
        return error ? error : INVALID_HANDLE;
    linker->magic = FREED;
    free(linker->image);
    free(linker);
    return SUCCESS;
}
