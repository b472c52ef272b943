/* CUDA arrays, and the texture and surface objects that read them. An array is device memory in rows. */
#include <stdlib.h>
#include <string.h>
#include "runtime.h"

enum { ARRAY = 0xA44A, FREED = 0xF4EE, LAYERED = 1, SURFACE_ACCESS = 2 };
struct array {
    uint32_t magic, flags;
    struct channels format;
    struct extent extent; /* in texels; 0: there is no such axis */
    size_t texel_bytes, pitch, rows;
    char *data;
};

static size_t channels_of(const struct channels *format) {
    return (format->x > 0) + (format->y > 0) + (format->z > 0) + (format->w > 0);
}

static int is_format(const struct channels *format) {
    size_t n = channels_of(format);
    return (format->x == 8 || format->x == 16 || format->x == 32) && (n == 1 || n == 2 || n == 4) &&
           format->kind >= 0 && format->kind <= 2 && (n < 2 || format->y == format->x) &&
           (n < 4 || (format->z == format->x && format->w == format->x));
}

static int is_array(const struct array *array) { return array && array->magic == ARRAY; }

API struct channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (struct channels){x, y, z, w, kind};
}

API int cudaMalloc3DArray(struct array **array, const struct channels *format, struct extent extent, unsigned flags) {
    int error = ready();
    if (error || !array || !format || !extent.width || flags & ~(unsigned)(LAYERED | SURFACE_ACCESS)) {
        if (!error && flags & ~(unsigned)(LAYERED | SURFACE_ACCESS))
            refuse("cudaMalloc3DArray: flags %u: cubes, gather and sparse arrays are not implemented", flags);
        return done(error ? error : INVALID_VALUE);
    }
    if (!is_format(format))
        return done(INVALID_CHANNEL);
    struct array *made = calloc(1, sizeof *made);
    if (!made)
        return done(OUT_OF_MEMORY);
    *made = (struct array){ARRAY, flags, *format, extent, channels_of(format) * (size_t)format->x / 8, 0, 0, NULL};
    made->pitch = (extent.width * made->texel_bytes + 31) / 32 * 32;
    made->rows = (extent.height ? extent.height : 1) * (extent.depth ? extent.depth : 1);
    if ((error = allocate((void **)&made->data, made->pitch * made->rows, 512, DEVICE))) {
        free(made);
        return done(error);
    }
    *array = made;
    return SUCCESS;
}

API int cudaMallocArray(struct array **array, const struct channels *format, size_t width, size_t height, unsigned flags) {
    return cudaMalloc3DArray(array, format, (struct extent){width, height, 0}, flags);
}

API int cudaFreeArray(struct array *array) {
    int error = ready();
    if (error || !array)
        return done(error);
    if (!is_array(array))
        return done(INVALID_HANDLE);
    error = release("cudaFreeArray", array->data);
    array->magic = FREED;
    free(array);
    return done(error);
}

API int cudaArrayGetInfo(struct channels *format, struct extent *extent, unsigned *flags, struct array *array) {
    if (!is_array(array))
        return done(INVALID_HANDLE);
    if (format)
        *format = array->format;
    if (extent)
        *extent = array->extent;
    if (flags)
        *flags = array->flags;
    return SUCCESS;
}

API int cudaGetChannelDesc(struct channels *format, const struct array *array) {
    return cudaArrayGetInfo(format, NULL, NULL, (struct array *)array);
}

/* ---- copies: offsets and widths are in bytes, but for boxes with an array, whose are in texels */

static int check_part(const struct array *array, size_t left, size_t top, size_t width, size_t height) {
    if (!is_array(array))
        return INVALID_HANDLE;
    return left + width <= array->extent.width * array->texel_bytes && top + height <= array->rows ? SUCCESS : INVALID_VALUE;
}

API int cudaMemcpy2DToArray(struct array *to, size_t left, size_t top, const void *from, size_t pitch, size_t width,
                            size_t height, int direction) {
    int error = ready();
    if (error || (error = check_part(to, left, top, width, height)))
        return done(error);
    char *at = to->data + top * to->pitch + left;
    return done(copy_rows("cudaMemcpy2DToArray", at, to->pitch, from, pitch, width, height, direction));
}

API int cudaMemcpy2DFromArray(void *to, size_t pitch, const struct array *from, size_t left, size_t top, size_t width,
                              size_t height, int direction) {
    int error = ready();
    if (error || (error = check_part(from, left, top, width, height)))
        return done(error);
    char *at = from->data + top * from->pitch + left;
    return done(copy_rows("cudaMemcpy2DFromArray", to, pitch, at, from->pitch, width, height, direction));
}

API int cudaMemcpy2DToArrayAsync(struct array *to, size_t left, size_t top, const void *from, size_t pitch, size_t width,
                                 size_t height, int direction, void *stream) {
    int error = refuse_capture("cudaMemcpy2DToArrayAsync", stream);
    return error ? done(error) : cudaMemcpy2DToArray(to, left, top, from, pitch, width, height, direction);
}

API int cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const struct array *from, size_t left, size_t top,
                                   size_t width, size_t height, int direction, void *stream) {
    int error = refuse_capture("cudaMemcpy2DFromArrayAsync", stream);
    return error ? done(error) : cudaMemcpy2DFromArray(to, pitch, from, left, top, width, height, direction);
}

/* Bytes from a place on, row after row. */
static int copy_bytes(const struct array *array, size_t left, size_t top, char *data, size_t bytes, int direction, int is_to) {
    int error = ready();
    while (!error && bytes) {
        size_t row = is_array(array) ? array->extent.width * array->texel_bytes : left + 1;
        size_t part = bytes < row - left ? bytes : row - left;
        if ((error = check_part(array, left, top, part, 1)))
            break;
        char *at = array->data + top++ * array->pitch + left;
        error = is_to ? copy("cudaMemcpyToArray", at, data, part, direction)
                      : copy("cudaMemcpyFromArray", data, at, part, direction);
        data += part;
        bytes -= part;
        left = 0;
    }
    return error;
}

API int cudaMemcpyToArray(struct array *to, size_t left, size_t top, const void *from, size_t bytes, int direction) {
    return done(copy_bytes(to, left, top, (char *)from, bytes, direction, 1));
}

API int cudaMemcpyFromArray(void *to, const struct array *from, size_t left, size_t top, size_t bytes, int direction) {
    return done(copy_bytes(from, left, top, to, bytes, direction, 0));
}

API int cudaMemcpyToArrayAsync(struct array *to, size_t left, size_t top, const void *from, size_t bytes, int direction,
                               void *stream) {
    int error = refuse_capture("cudaMemcpyToArrayAsync", stream);
    return error ? done(error) : cudaMemcpyToArray(to, left, top, from, bytes, direction);
}

API int cudaMemcpyFromArrayAsync(void *to, const struct array *from, size_t left, size_t top, size_t bytes, int direction,
                                 void *stream) {
    int error = refuse_capture("cudaMemcpyFromArrayAsync", stream);
    return error ? done(error) : cudaMemcpyFromArray(to, from, left, top, bytes, direction);
}

/* Where a box begins at one of its ends, and the distances of its rows and planes. */
static char *place(const struct array *array, struct position at, struct pitched memory, size_t *pitch, size_t *plane) {
    *pitch = array ? array->pitch : memory.pitch;
    *plane = *pitch * (array ? (array->extent.height ? array->extent.height : 1) : memory.ysize);
    char *start = array ? array->data : memory.ptr;
    return start + at.z * *plane + at.y * *pitch + at.x * (array ? array->texel_bytes : 1);
}

API int cudaMemcpy3D(const struct box *box) {
    int error = ready();
    if (error || !box || (box->from_array && !is_array(box->from_array)) || (box->to_array && !is_array(box->to_array)))
        return done(error ? error : INVALID_VALUE);
    const struct array *array = box->to_array ? box->to_array : box->from_array;
    size_t width = box->extent.width * (array ? array->texel_bytes : 1), to_pitch, to_plane, from_pitch, from_plane;
    char *to = place(box->to_array, box->to_position, box->to, &to_pitch, &to_plane);
    char *from = place(box->from_array, box->from_position, box->from, &from_pitch, &from_plane);
    for (size_t z = 0; !error && z < box->extent.depth; z++)
        error = copy_rows("cudaMemcpy3D", to + z * to_plane, to_pitch, from + z * from_plane, from_pitch, width,
                          box->extent.height, box->direction);
    return done(error);
}

API int cudaMemcpy3DAsync(const struct box *box, void *stream) {
    return is_capturing(stream) ? done(capture_box(stream, box)) : cudaMemcpy3D(box);
}

/* The same box, with a device at each end. */
struct peer_box {
    struct array *from_array;
    struct position from_position;
    struct pitched from;
    int from_device;
    struct array *to_array;
    struct position to_position;
    struct pitched to;
    int to_device;
    struct extent extent;
};

API int cudaMemcpy3DPeerAsync(const struct peer_box *box, void *stream) {
    if (!box || box->from_device || box->to_device)
        return done(box ? INVALID_DEVICE : INVALID_VALUE);
    struct box same = {box->from_array, box->from_position, box->from, box->to_array, box->to_position, box->to,
                       box->extent, DEVICE_TO_DEVICE};
    return cudaMemcpy3DAsync(&same, stream);
}

API int cudaMemcpy3DPeer(const struct peer_box *box) { return cudaMemcpy3DPeerAsync(box, NULL); }

API int cudaMemcpy2DArrayToArray(struct array *to, size_t to_left, size_t to_top, const struct array *from,
                                 size_t from_left, size_t from_top, size_t width, size_t height) {
    int error = ready();
    if (error || (error = check_part(to, to_left, to_top, width, height)) ||
        (error = check_part(from, from_left, from_top, width, height)))
        return done(error);
    return done(copy_rows("cudaMemcpy2DArrayToArray", to->data + to_top * to->pitch + to_left, to->pitch,
                          from->data + from_top * from->pitch + from_left, from->pitch, width, height, DEVICE_TO_DEVICE));
}

/* Bytes after bytes, in both arrays from one row to the next. */
API int cudaMemcpyArrayToArray(struct array *to, size_t to_left, size_t to_top, const struct array *from,
                               size_t from_left, size_t from_top, size_t bytes) {
    char *all = malloc(bytes + 1);
    int error = all ? copy_bytes(from, from_left, from_top, all, bytes, DEVICE_TO_HOST, 0) : OUT_OF_MEMORY;
    if (!error)
        error = copy_bytes(to, to_left, to_top, all, bytes, HOST_TO_DEVICE, 1);
    free(all);
    return done(error);
}

/* ---- texture and surface objects */

enum { BORDER_MODE = 3 };

int describe_texels(const char *call, struct texture_record *made, const struct resource *resource,
                    const struct sampling *sampling) {
    struct texture_record record = {.is_surface = !sampling};
    const struct channels *format = &resource->format;
    const struct array *array = resource->memory;
    if (resource->type == OF_ARRAY) {
        if (!is_array(array))
            return INVALID_HANDLE;
        format = &array->format;
        record.address = (uint64_t)array->data;
        record.pitch = array->pitch;
        record.width = array->extent.width;
        record.height = array->extent.height;
        record.depth = array->extent.depth;
        record.is_layered = array->flags & LAYERED;
    } else if (sampling && (resource->type == OF_LINEAR || resource->type == OF_PITCHED)) {
        if (!is_format(format))
            return INVALID_CHANNEL;
        size_t texel = channels_of(format) * (size_t)format->x / 8;
        record.address = (uint64_t)resource->memory;
        record.width = resource->type == OF_LINEAR ? resource->width / texel : resource->width;
        record.height = resource->type == OF_LINEAR ? 0 : resource->height;
        record.pitch = resource->type == OF_LINEAR ? resource->width : resource->pitch;
    } else {
        refuse("%s: a resource of type %d is not implemented", call, resource->type);
        return NOT_SUPPORTED;
    }
    record.bits = (uint32_t)format->x;
    record.channels = (uint32_t)channels_of(format);
    record.sort = (uint32_t)format->kind;
    if (sampling) {
        const float *border = sampling->border;
        int uses_border = sampling->address_modes[0] == BORDER_MODE || sampling->address_modes[1] == BORDER_MODE;
        if (sampling->srgb || (uses_border && (border[0] != 0 || border[1] != 0 || border[2] != 0 || border[3] != 0))) {
            refuse("%s: sRGB and a border colour are not implemented", call);
            return NOT_SUPPORTED;
        }
        for (int k = 0; k < 3; k++)
            record.address_modes[k] = (uint32_t)sampling->address_modes[k];
        record.is_linear = (uint32_t)sampling->filter;
        record.reads_fraction = (uint32_t)sampling->reads_fraction;
        record.is_normalized = (uint32_t)sampling->is_normalized;
    }
    *made = record;
    return SUCCESS;
}

static int create(const char *call, uint64_t *handle, const struct resource *resource, const struct sampling *sampling) {
    struct texture_record record;
    int error = ready();
    if (error || !handle || !resource || (error = describe_texels(call, &record, resource, sampling)))
        return error ? error : INVALID_VALUE;
    struct answer answer = request(MESSAGE_TEXTURE, &record, sizeof record, NULL, 0);
    if (!answer.error)
        memcpy(handle, answer.data, sizeof *handle);
    return answer.error;
}

static int destroy(uint64_t handle) {
    int error = ready();
    return error ? error : request(MESSAGE_UNTEXTURE, &handle, sizeof handle, NULL, 0).error;
}

API int cudaCreateTextureObject(uint64_t *handle, const struct resource *resource, const struct sampling *sampling,
                                const int *view) {
    if (view && *view) {
        refuse("cudaCreateTextureObject: a resource view is not implemented");
        return done(NOT_SUPPORTED);
    }
    return done(sampling ? create("cudaCreateTextureObject", handle, resource, sampling) : INVALID_VALUE);
}

API int cudaCreateTextureObject_v2(uint64_t *handle, const struct resource *resource, const struct sampling *sampling,
                                   const int *view) {
    return cudaCreateTextureObject(handle, resource, sampling, view);
}

API int cudaCreateSurfaceObject(uint64_t *handle, const struct resource *resource) {
    return done(create("cudaCreateSurfaceObject", handle, resource, NULL));
}

API int cudaDestroyTextureObject(uint64_t handle) { return done(destroy(handle)); }

API int cudaDestroySurfaceObject(uint64_t handle) { return done(destroy(handle)); }
