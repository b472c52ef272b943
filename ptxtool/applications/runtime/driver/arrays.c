/* Arrays, texture objects and surface objects of the driver API: those of the runtime API. */
#include "driver.h"

struct flat { size_t width, height; int format; unsigned n_channels; };
struct solid { size_t width, height, depth; int format; unsigned n_channels, flags; };

/* ---- CUarray_format: bits of a channel, and cudaChannelFormatKind */

static const struct { int format, bits, kind; } formats[] = {
    {0x01, 8, 1}, {0x02, 16, 1}, {0x03, 32, 1}, {0x08, 8, 0}, {0x09, 16, 0}, {0x0A, 32, 0}, {0x10, 16, 2}, {0x20, 32, 2},
};
enum { N_FORMATS = sizeof formats / sizeof *formats, FLOATING = 2 };

static int channels_of(const char *call, struct channels *channels, int format, unsigned n) {
    for (int k = 0; k < N_FORMATS; k++)
        if (formats[k].format == format) {
            int bits = formats[k].bits;
            *channels = (struct channels){bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0, formats[k].kind};
            return n == 1 || n == 2 || n == 4 ? SUCCESS : INVALID_VALUE;
        }
    refuse("%s: texels of format 0x%X are not implemented", call, format);
    return NOT_SUPPORTED;
}

static int format_of(const struct channels *channels) {
    for (int k = 0; k < N_FORMATS; k++)
        if (formats[k].bits == channels->x && formats[k].kind == channels->kind)
            return formats[k].format;
    return 0;
}

/* ---- arrays */

static int make(const char *call, struct array **array, const struct solid *wanted) {
    struct channels channels;
    int error = begin();
    if (error || (error = channels_of(call, &channels, wanted->format, wanted->n_channels)))
        return error;
    struct extent extent = {wanted->width, wanted->height, wanted->depth};
    return RESULT(cudaMalloc3DArray(array, &channels, extent, wanted->flags));
}

API int cuArray3DCreate_v2(struct array **array, const struct solid *wanted) {
    return wanted ? make("cuArray3DCreate", array, wanted) : INVALID_VALUE;
}

API int cuArrayCreate_v2(struct array **array, const struct flat *wanted) {
    if (!wanted)
        return INVALID_VALUE;
    struct solid same = {wanted->width, wanted->height, 0, wanted->format, wanted->n_channels, 0};
    return make("cuArrayCreate", array, &same);
}

API int cuArrayDestroy(struct array *array) {
    int error = begin();
    return error ? error : is_array(array) ? RESULT(cudaFreeArray(array)) : INVALID_HANDLE;
}

API int cuArray3DGetDescriptor_v2(struct solid *found, const struct array *array) {
    int error = begin();
    if (error || !found || !is_array(array))
        return error ? error : found ? INVALID_HANDLE : INVALID_VALUE;
    const struct channels *format = &array->format;
    unsigned n = (format->x > 0) + (format->y > 0) + (format->z > 0) + (format->w > 0);
    *found = (struct solid){array->extent.width, array->extent.height, array->extent.depth, format_of(format), n, array->flags};
    return SUCCESS;
}

API int cuArrayGetDescriptor_v2(struct flat *found, const struct array *array) {
    struct solid solid;
    int error = cuArray3DGetDescriptor_v2(&solid, array);
    if (error || !found)
        return error ? error : INVALID_VALUE;
    *found = (struct flat){solid.width, solid.height, solid.format, solid.n_channels};
    return SUCCESS;
}

/* ---- objects */

struct described { /* CUDA_RESOURCE_DESC */
    int type;
    union {
        struct array *array;
        struct { address at; int format; unsigned n_channels; size_t bytes; } linear;
        struct { address at; int format; unsigned n_channels; size_t width, height, pitch; } pitched;
        int room[32];
    };
    unsigned flags;
};
struct sampler { /* CUDA_TEXTURE_DESC */
    int address_modes[3], filter;
    unsigned flags, anisotropy;
    int mipmap_filter;
    float mipmap[3], border[4];
    int reserved[12];
};
enum { READ_AS_INTEGER = 1, NORMALIZED = 2, SRGB = 0x10 };

static int resource_of(const char *call, struct resource *resource, const struct described *given) {
    *resource = (struct resource){.type = given->type};
    switch (given->type) {
    case OF_ARRAY:
        resource->memory = given->array;
        return SUCCESS;
    case OF_LINEAR:
        resource->memory = (void *)given->linear.at;
        resource->width = given->linear.bytes;
        return channels_of(call, &resource->format, given->linear.format, given->linear.n_channels);
    case OF_PITCHED:
        resource->memory = (void *)given->pitched.at;
        resource->width = given->pitched.width;
        resource->height = given->pitched.height;
        resource->pitch = given->pitched.pitch;
        return channels_of(call, &resource->format, given->pitched.format, given->pitched.n_channels);
    default:
        return SUCCESS; /* describe_texels refuses it */
    }
}

static int create(const char *call, uint64_t *handle, const struct described *given, const struct sampler *sampler) {
    struct resource resource;
    int error = begin();
    if (error || !handle || !given || given->flags)
        return error ? error : INVALID_VALUE;
    if ((error = resource_of(call, &resource, given)))
        return error;
    if (!sampler)
        return as_result(create_texels(call, handle, &resource, NULL));
    const struct channels *format = &resource.format;
    if (resource.type == OF_ARRAY && is_array(resource.memory))
        format = &((const struct array *)resource.memory)->format;
    struct sampling sampling = {
        {sampler->address_modes[0], sampler->address_modes[1], sampler->address_modes[2]},
        sampler->filter,
        format->kind != FLOATING && format->x < 32 && !(sampler->flags & READ_AS_INTEGER), /* as a number from 0 to 1 */
        !!(sampler->flags & SRGB),
        {sampler->border[0], sampler->border[1], sampler->border[2], sampler->border[3]},
        !!(sampler->flags & NORMALIZED)};
    return as_result(create_texels(call, handle, &resource, &sampling));
}

API int cuTexObjectCreate(uint64_t *handle, const struct described *given, const struct sampler *sampler, const int *view) {
    if (view && *view) {
        refuse("cuTexObjectCreate: a resource view is not implemented");
        return NOT_SUPPORTED;
    }
    return sampler ? create("cuTexObjectCreate", handle, given, sampler) : INVALID_VALUE;
}

API int cuTexObjectDestroy(uint64_t handle) { return IN_CONTEXT(destroy_texels(handle)); }

API int cuSurfObjectCreate(uint64_t *handle, const struct described *given) {
    return create("cuSurfObjectCreate", handle, given, NULL);
}

API int cuSurfObjectDestroy(uint64_t handle) { return IN_CONTEXT(destroy_texels(handle)); }
