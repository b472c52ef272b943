/* Copies and fills of the driver API. */
#include <string.h>
#include "driver.h"

static int copy_bytes(const char *call, address to, address from, size_t bytes, int direction) {
    int error = begin();
    return error ? error : as_result(copy(call, (void *)to, (void *)from, bytes, direction));
}

API int cuMemcpy(address to, address from, size_t bytes) { return copy_bytes("cuMemcpy", to, from, bytes, BY_ADDRESS); }

API int cuMemcpyAsync(address to, address from, size_t bytes) { return cuMemcpy(to, from, bytes); }

API int cuMemcpyHtoD_v2(address to, const void *from, size_t bytes) {
    return copy_bytes("cuMemcpyHtoD", to, (address)from, bytes, HOST_TO_DEVICE);
}

API int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes) { return cuMemcpyHtoD_v2(to, from, bytes); }

API int cuMemcpyDtoH_v2(void *to, address from, size_t bytes) {
    return copy_bytes("cuMemcpyDtoH", (address)to, from, bytes, DEVICE_TO_HOST);
}

API int cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes) { return cuMemcpyDtoH_v2(to, from, bytes); }

API int cuMemcpyDtoD_v2(address to, address from, size_t bytes) {
    return copy_bytes("cuMemcpyDtoD", to, from, bytes, DEVICE_TO_DEVICE);
}

API int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes) { return cuMemcpyDtoD_v2(to, from, bytes); }

API int cuMemcpyPeer(address to, struct context *there, address from, struct context *here, size_t bytes) {
    (void)there, (void)here;
    return copy_bytes("cuMemcpyPeer", to, from, bytes, DEVICE_TO_DEVICE);
}

API int cuMemcpyPeerAsync(address to, struct context *there, address from, struct context *here, size_t bytes) {
    return cuMemcpyPeer(to, there, from, here, bytes);
}

/* ---- boxes: an end is memory of the host or of the device, in rows that are `pitch` bytes apart */

enum place { ON_HOST = 1, ON_DEVICE = 2, IN_ARRAY = 3, ANYWHERE = 4 }; /* CUmemorytype */

struct end_2d { size_t x, y; uint32_t place; const void *host; address device; void *array; size_t pitch; };
struct copy_2d { struct end_2d from, to; size_t width, height; };
struct end_3d {
    size_t x, y, z, level;
    uint32_t place;
    const void *host;
    address device;
    void *array, *reserved;
    size_t pitch, height;
};
struct copy_3d { struct end_3d from, to; size_t width, height, depth; };

static int copy_box(const char *call, const struct copy_3d *box) {
    int error = begin();
    if (error)
        return error;
    const struct end_3d *ends[2] = {&box->from, &box->to};
    char *starts[2];
    for (int k = 0; k < 2; k++) {
        const struct end_3d *end = ends[k];
        if (end->place == IN_ARRAY) {
            refuse("%s: arrays of the driver API are not implemented", call);
            return NOT_SUPPORTED;
        }
        if (end->place < ON_HOST || end->place > ANYWHERE)
            return INVALID_VALUE;
        char *base = end->place == ON_HOST ? (char *)end->host : (char *)end->device;
        starts[k] = base + (end->z * end->height + end->y) * end->pitch + end->x;
    }
    int direction = BY_ADDRESS;
    if (box->from.place == ON_DEVICE && box->to.place != ANYWHERE)
        direction = box->to.place == ON_DEVICE ? DEVICE_TO_DEVICE : DEVICE_TO_HOST;
    else if (box->to.place == ON_DEVICE && box->from.place != ANYWHERE)
        direction = HOST_TO_DEVICE;
    for (size_t z = 0; !error && z < box->depth; z++)
        error = copy_rows(call, starts[1] + z * box->to.height * box->to.pitch, box->to.pitch,
                          starts[0] + z * box->from.height * box->from.pitch, box->from.pitch, box->width, box->height,
                          direction);
    return as_result(error);
}

static int copy_rectangle(const char *call, const struct copy_2d *flat) {
    if (!flat)
        return INVALID_VALUE;
    const struct end_2d *from = &flat->from, *to = &flat->to;
    /* a pitch of 0: rows without space between them */
    struct copy_3d box = {
        {from->x, from->y, 0, 0, from->place, from->host, from->device, from->array, NULL, from->pitch ? from->pitch : flat->width, 0},
        {to->x, to->y, 0, 0, to->place, to->host, to->device, to->array, NULL, to->pitch ? to->pitch : flat->width, 0},
        flat->width, flat->height, 1};
    return copy_box(call, &box);
}

API int cuMemcpy2D_v2(const struct copy_2d *flat) { return copy_rectangle("cuMemcpy2D", flat); }

API int cuMemcpy2DUnaligned_v2(const struct copy_2d *flat) { return copy_rectangle("cuMemcpy2DUnaligned", flat); }

API int cuMemcpy2DAsync_v2(const struct copy_2d *flat) { return copy_rectangle("cuMemcpy2DAsync", flat); }

API int cuMemcpy3D_v2(const struct copy_3d *box) { return box ? copy_box("cuMemcpy3D", box) : INVALID_VALUE; }

API int cuMemcpy3DAsync_v2(const struct copy_3d *box) { return box ? copy_box("cuMemcpy3DAsync", box) : INVALID_VALUE; }

/* ---- fills with elements of 1, 2 or 4 bytes */

static int fill_rows(const char *call, address at, size_t pitch, uint32_t value, size_t element_bytes, size_t width,
                     size_t height) {
    int error = begin();
    if (!error && at % element_bytes)
        error = INVALID_VALUE;
    for (size_t row = 0; !error && row < height; row++, at += pitch) {
        error = fill(call, (void *)at, (int)(value & 0xFF), width * element_bytes);
        if (!error && element_bytes > 1)
            for (size_t k = 0; k < width; k++)
                memcpy((char *)at + k * element_bytes, &value, element_bytes);
    }
    return as_result(error);
}

API int cuMemsetD8_v2(address at, unsigned char value, size_t n) { return fill_rows("cuMemsetD8", at, n, value, 1, n, 1); }

API int cuMemsetD16_v2(address at, unsigned short value, size_t n) {
    return fill_rows("cuMemsetD16", at, 2 * n, value, 2, n, 1);
}

API int cuMemsetD32_v2(address at, unsigned value, size_t n) { return fill_rows("cuMemsetD32", at, 4 * n, value, 4, n, 1); }

API int cuMemsetD8Async(address at, unsigned char value, size_t n) { return cuMemsetD8_v2(at, value, n); }

API int cuMemsetD16Async(address at, unsigned short value, size_t n) { return cuMemsetD16_v2(at, value, n); }

API int cuMemsetD32Async(address at, unsigned value, size_t n) { return cuMemsetD32_v2(at, value, n); }

API int cuMemsetD2D8_v2(address at, size_t pitch, unsigned char value, size_t width, size_t height) {
    return fill_rows("cuMemsetD2D8", at, pitch, value, 1, width, height);
}

API int cuMemsetD2D16_v2(address at, size_t pitch, unsigned short value, size_t width, size_t height) {
    return fill_rows("cuMemsetD2D16", at, pitch, value, 2, width, height);
}

API int cuMemsetD2D32_v2(address at, size_t pitch, unsigned value, size_t width, size_t height) {
    return fill_rows("cuMemsetD2D32", at, pitch, value, 4, width, height);
}

API int cuMemsetD2D8Async(address at, size_t pitch, unsigned char value, size_t width, size_t height) {
    return cuMemsetD2D8_v2(at, pitch, value, width, height);
}

API int cuMemsetD2D16Async(address at, size_t pitch, unsigned short value, size_t width, size_t height) {
    return cuMemsetD2D16_v2(at, pitch, value, width, height);
}

API int cuMemsetD2D32Async(address at, size_t pitch, unsigned value, size_t width, size_t height) {
    return cuMemsetD2D32_v2(at, pitch, value, width, height);
}
