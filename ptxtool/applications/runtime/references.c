/* Texture and surface references, which programs before CUDA 12 declare as variables: binding them to memory or arrays.
 *
 * The attributes of a reference are read when it is bound. Textures begin at any address: an offset is always 0.
 */
#include <string.h>
#include "runtime.h"

struct texture_reference { /* textureReference, as far as it is read */
    int is_normalized, filter, address_modes[3];
    struct channels format;
    int srgb;
};

static int bind(const char *call, const void *reference, const struct resource *resource, const struct sampling *sampling) {
    struct texture *texture;
    struct __attribute__((packed)) { uint32_t module; struct texture_record record; } asked;
    struct texture_record record;
    uint32_t module;
    int error = ready();
    if (error || (error = find_texture(reference, &texture, &module)))
        return error;
    struct sampling own;
    if (sampling) {
        own = *sampling;
        own.reads_fraction = texture->reads_fraction;
    }
    if ((error = describe_texels(call, &record, resource, sampling ? &own : NULL)))
        return error;
    asked.module = module;
    asked.record = record;
    return request(MESSAGE_BIND, &asked, sizeof asked, texture->name, strlen(texture->name)).error;
}

static int bind_texture(const char *call, const struct texture_reference *reference, const struct resource *resource) {
    if (!reference)
        return INVALID_TEXTURE;
    struct sampling sampling = {.filter = reference->filter, .srgb = reference->srgb, .is_normalized = reference->is_normalized};
    memcpy(sampling.address_modes, reference->address_modes, sizeof sampling.address_modes);
    return bind(call, reference, resource, &sampling);
}

API int cudaBindTexture(size_t *offset, const struct texture_reference *reference, void *memory,
                        const struct channels *format, size_t bytes) {
    const struct allocation *found = allocation_of(memory);
    if (!format || !found)
        return done(INVALID_VALUE);
    uint64_t left = found->address + found->bytes - (uint64_t)memory; /* the size is by default as large as it can be */
    struct resource resource = {OF_LINEAR, memory, *format, bytes < left ? bytes : left, 0, 0};
    if (offset)
        *offset = 0;
    return done(bind_texture("cudaBindTexture", reference, &resource));
}

API int cudaBindTexture2D(size_t *offset, const struct texture_reference *reference, void *memory,
                          const struct channels *format, size_t width, size_t height, size_t pitch) {
    if (!format || !allocation_of(memory))
        return done(INVALID_VALUE);
    struct resource resource = {OF_PITCHED, memory, *format, width, height, pitch};
    if (offset)
        *offset = 0;
    return done(bind_texture("cudaBindTexture2D", reference, &resource));
}

API int cudaBindTextureToArray(const struct texture_reference *reference, void *array) {
    struct resource resource = {.type = OF_ARRAY, .memory = array};
    return done(bind_texture("cudaBindTextureToArray", reference, &resource));
}

API int cudaBindSurfaceToArray(const void *reference, void *array) {
    struct resource resource = {.type = OF_ARRAY, .memory = array};
    int error = bind("cudaBindSurfaceToArray", reference, &resource, NULL);
    return done(error == INVALID_TEXTURE ? INVALID_SURFACE : error);
}

API int cudaUnbindTexture(const void *reference) {
    struct texture *texture;
    uint32_t module;
    int error = ready();
    if (error || (error = find_texture(reference, &texture, &module)))
        return done(error);
    return done(request(MESSAGE_UNBIND, &module, sizeof module, texture->name, strlen(texture->name)).error);
}

API int cudaGetTextureAlignmentOffset(size_t *offset, const void *reference) {
    struct texture *texture;
    uint32_t module;
    int error = ready();
    if (error || !offset || (error = find_texture(reference, &texture, &module)))
        return done(error ? error : INVALID_VALUE);
    *offset = 0;
    return SUCCESS;
}

/* A reference is the variable itself. */
static int reference_of(const void **reference, const void *symbol) {
    struct texture *texture;
    uint32_t module;
    int error = ready();
    if (error || !reference || (error = find_texture(symbol, &texture, &module)))
        return error ? error : INVALID_VALUE;
    *reference = symbol;
    return SUCCESS;
}

API int cudaGetTextureReference(const void **reference, const void *symbol) { return done(reference_of(reference, symbol)); }

API int cudaGetSurfaceReference(const void **reference, const void *symbol) {
    int error = reference_of(reference, symbol);
    return done(error == INVALID_TEXTURE ? INVALID_SURFACE : error);
}
