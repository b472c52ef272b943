/* Copies and fills: device memory is mapped in this process, so that both are those of the C library.
 *
 * A range that is not part of one allocation is refused: a GPU would answer cudaErrorInvalidValue, or overwrite its neighbour.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* from Linux 5.14 on; before, each page is mapped when it is written */
#endif

/* Whether a range of device memory is a part of one allocation. */
static int is_allocated(const void *pointer, size_t bytes) {
    const struct allocation *found = allocation_of(pointer);
    return found && (uint64_t)pointer - found->address + bytes <= found->bytes;
}

/* Refuse a call, because it has a range that is not. */
static int refuse_range(const char *text, const void *pointer, size_t bytes) {
    uint64_t range[2] = {(uint64_t)pointer, bytes};
    request(MESSAGE_RANGE, range, sizeof range, text, strlen(text));
    return INVALID_VALUE;
}

void note_written(void *to, const void *from, size_t bytes) {
    if (!written || !is_device_address(to))
        return;
    char *marks = written + ((uint64_t)to - DEVICE_BASE);
    if (from && is_device_address(from))
        memmove(marks, written + ((uint64_t)from - DEVICE_BASE), bytes);
    else
        memset(marks, 1, bytes);
}

/* Pages that nothing has touched are written through their file, a piece at a time: the kernel need not fill them with
 * zeros before, nor answer a fault for each. The last page of a piece stands for all. Such a piece is mapped as a whole
 * when it is written again. */
enum { PAGE = 4096, PIECE = 1 << 20, MOST_PIECES = 4096 };

static void move(char *to, const char *from, size_t bytes) {
    static char is_unmapped[MOST_PIECES];
    size_t ahead = -(uint64_t)to % PIECE;
    int file = bytes >= ahead + PIECE && is_device_address(to) ? memory_file() : -1;
    if (file >= 0) {
        memmove(to, from, ahead);
        to += ahead, from += ahead, bytes -= ahead;
    }
    for (; file >= 0 && bytes >= PIECE; to += PIECE, from += PIECE, bytes -= PIECE) {
        uint64_t offset = (uint64_t)to - DEVICE_BASE;
        char *unmapped = is_unmapped + offset / PIECE;
        unsigned char is_there = 1;
        if (!*unmapped && !mincore(to + PIECE - PAGE, PAGE, &is_there) && !(is_there & 1)) {
            if (pwrite(file, from, PIECE, (off_t)offset) != PIECE)
                break; /* memmove does it, or ends the process as it should */
            *unmapped = 1;
        } else {
            if (*unmapped)
                madvise(to, PIECE, MADV_POPULATE_WRITE);
            *unmapped = 0;
            memmove(to, from, PIECE);
        }
    }
    memmove(to, from, bytes);
}

int copy(const char *call, void *to, const void *from, size_t bytes, int direction) {
    if (!bytes)
        return SUCCESS;
    if (direction < HOST_TO_HOST || direction > BY_ADDRESS)
        return INVALID_DIRECTION;
    int to_device = is_device_address(to), from_device = is_device_address(from);
    int wants_to = direction == HOST_TO_DEVICE || direction == DEVICE_TO_DEVICE;
    int wants_from = direction == DEVICE_TO_HOST || direction == DEVICE_TO_DEVICE;
    int is_wrong = !to || !from || (wants_to && !to_device) || (wants_from && !from_device);
    int is_outside = to_device && !is_allocated(to, bytes);
    if (!is_wrong && !is_outside && !(from_device && !is_allocated(from, bytes))) {
        if (from_device)
            memmove(to, from, bytes); /* they may overlap */
        else
            move(to, from, bytes);
        note_written(to, from, bytes);
        return SUCCESS;
    }
    char text[160];
    snprintf(text, sizeof text, "%s(to %p, from %p, %zu bytes)", call, to, from, bytes);
    if (!is_wrong)
        return refuse_range(text, is_outside ? to : from, bytes);
    if (!to || !from)
        refuse("%s: a null pointer", text);
    else
        refuse("%s: %s is not device memory", text, wants_to && !to_device ? "the destination" : "the source");
    return INVALID_VALUE;
}

API int cudaMemcpy(void *to, const void *from, size_t bytes, int direction) {
    int error = ready();
    return done(error ? error : copy("cudaMemcpy", to, from, bytes, direction));
}

API int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int direction, void *stream) {
    int error = ready();
    if (!error && is_capturing(stream))
        return done(capture_rows(stream, to, bytes, from, bytes, bytes, 1, direction));
    return done(error ? error : copy("cudaMemcpyAsync", to, from, bytes, direction));
}

API int cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    int error = ready();
    if (error || to_device || from_device)
        return done(error ? error : INVALID_DEVICE);
    return done(copy("cudaMemcpyPeer", to, from, bytes, DEVICE_TO_DEVICE));
}

API int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream) {
    if (is_capturing(stream) && !to_device && !from_device)
        return done(capture_rows(stream, to, bytes, from, bytes, bytes, 1, DEVICE_TO_DEVICE));
    return cudaMemcpyPeer(to, to_device, from, from_device, bytes);
}

/* ---- rectangles and boxes: rows of `width` bytes, `pitch` bytes apart */

int copy_rows(const char *call, char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width,
              size_t height, int direction) {
    if ((to_pitch < width || from_pitch < width) && height > 1)
        return INVALID_PITCH;
    for (size_t row = 0; width && row < height; row++) {
        int error = copy(call, to + row * to_pitch, from + row * from_pitch, width, direction);
        if (error)
            return error;
    }
    return SUCCESS;
}

API int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                     int direction) {
    int error = ready();
    return done(error ? error : copy_rows("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, direction));
}

API int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                          int direction, void *stream) {
    if (is_capturing(stream))
        return done(capture_rows(stream, to, to_pitch, from, from_pitch, width, height, direction));
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, direction);
}

/* ---- fills */

int fill(const char *call, void *pointer, int value, size_t bytes) {
    if (!bytes)
        return SUCCESS;
    if (is_device_address(pointer) && is_allocated(pointer, bytes)) {
        memset(pointer, value, bytes);
        note_written(pointer, NULL, bytes);
        return SUCCESS;
    }
    char text[128];
    snprintf(text, sizeof text, "%s(%p, %d, %zu bytes)", call, pointer, value, bytes);
    if (is_device_address(pointer))
        return refuse_range(text, pointer, bytes);
    refuse("%s: this is not device memory", text);
    return INVALID_VALUE;
}

API int cudaMemset(void *pointer, int value, size_t bytes) {
    int error = ready();
    return done(error ? error : fill("cudaMemset", pointer, value, bytes));
}

API int cudaMemsetAsync(void *pointer, int value, size_t bytes, void *stream) {
    int error = ready();
    if (!error && is_capturing(stream))
        return done(capture_fill(stream, pointer, bytes, value, bytes, 1));
    return done(error ? error : fill("cudaMemsetAsync", pointer, value, bytes));
}

API int cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height) {
    int error = ready();
    for (size_t row = 0; !error && row < height; row++)
        error = fill("cudaMemset2D", (char *)pointer + row * pitch, value, width);
    return done(error);
}

API int cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height, void *stream) {
    if (is_capturing(stream))
        return done(capture_fill(stream, pointer, pitch, value, width, height));
    return cudaMemset2D(pointer, pitch, value, width, height);
}

API int cudaMemset3D(struct pitched pitched, int value, struct extent extent) {
    int error = ready();
    for (size_t z = 0; !error && z < extent.depth; z++)
        for (size_t y = 0; !error && y < extent.height; y++)
            error = fill("cudaMemset3D", (char *)pitched.ptr + (z * pitched.ysize + y) * pitched.pitch, value, extent.width);
    return done(error);
}

API int cudaMemset3DAsync(struct pitched pitched, int value, struct extent extent, void *stream) {
    int error = refuse_capture("cudaMemset3DAsync", stream);
    return error ? done(error) : cudaMemset3D(pitched, value, extent);
}

/* ---- variables of a module, by the address of what stands for them in the host's code */

static int copy_variable(const char *call, const void *symbol, size_t offset, void *data, size_t bytes, int is_write,
                         const void *stream) {
    struct variable *variable;
    int error = ready();
    if (error || (error = find_variable(symbol, &variable)))
        return error;
    if (offset > variable->bytes || bytes > variable->bytes - offset) {
        refuse("%s(%s, %zu bytes at offset %zu): the variable has %llu bytes", call, variable->name, bytes, offset,
               (unsigned long long)variable->bytes);
        return INVALID_VALUE;
    }
    if (!data && bytes)
        return INVALID_VALUE;
    char *at = (char *)variable->address + offset;
    char *to = is_write ? at : data, *from = is_write ? data : at;
    if (is_capturing(stream))
        return capture_rows(stream, to, bytes, from, bytes, bytes, 1, BY_ADDRESS);
    return copy(call, to, from, bytes, BY_ADDRESS);
}

API int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int direction) {
    (void)direction;
    return done(copy_variable("cudaMemcpyToSymbol", symbol, offset, (void *)from, bytes, 1, NULL));
}

API int cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, int direction,
                                  void *stream) {
    (void)direction;
    return done(copy_variable("cudaMemcpyToSymbolAsync", symbol, offset, (void *)from, bytes, 1, stream));
}

API int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int direction) {
    (void)direction;
    return done(copy_variable("cudaMemcpyFromSymbol", symbol, offset, to, bytes, 0, NULL));
}

API int cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, int direction,
                                    void *stream) {
    (void)direction;
    return done(copy_variable("cudaMemcpyFromSymbolAsync", symbol, offset, to, bytes, 0, stream));
}

API int cudaGetSymbolAddress(void **address, const void *symbol) {
    struct variable *variable;
    int error = ready();
    if (error || !address || (error = find_variable(symbol, &variable)))
        return done(error ? error : INVALID_VALUE);
    *address = (void *)variable->address;
    return SUCCESS;
}

API int cudaGetSymbolSize(size_t *bytes, const void *symbol) {
    struct variable *variable;
    int error = ready();
    if (error || !bytes || (error = find_variable(symbol, &variable)))
        return done(error ? error : INVALID_VALUE);
    *bytes = variable->bytes;
    return SUCCESS;
}
