/* Tensor maps of the driver API: the 128 bytes that the simulator's copies read (sim/ptxsim/execute/bulk/tensor_maps.py).
 *
 * Not implemented: interleaved tensors.
 */
#include <string.h>
#include "driver.h"

enum { ADDRESS = 0, PROPERTIES = 2, SIZES = 4, BOX = 9, STEPS = 14, STRIDES = 20, CORNERS = 28, WORDS = 32 };
enum { TYPE_SHIFT = 4, SWIZZLE_SHIFT = 12, ATOMICITY_SHIFT = 16, FILL_SHIFT = 20, PROMOTION_SHIFT = 24, IM2COL_SHIFT = 28 };

/* Of CUtensorMapDataType: the number in the map, bits of an element in shared memory, whether it is a floating-point number. */
static const struct { uint32_t number; unsigned bits; int floating; } types[] = {
    {0, 8, 0}, {1, 16, 0}, {2, 32, 0}, {3, 32, 0}, {4, 64, 0}, {5, 64, 0}, {6, 16, 1}, {7, 32, 1}, {9, 64, 1}, {10, 16, 1},
    {8, 32, 1}, {11, 32, 1}, {12, 32, 1}, {13, 4, 0}, {14, 8, 0}, {15, 8, 0},
};
enum { PACKED = 13, SPREAD = 14 }; /* from here on elements have 4 or 6 bits, and are spread in shared memory */
/* Of CUtensorMapSwizzle: mode, atomicity, and the most bytes of a box's first dimension. */
static const struct { uint32_t mode, atomicity; unsigned most; } swizzles[] = {
    {0, 0, 2048}, {1, 0, 32}, {2, 0, 64}, {3, 0, 128}, {3, 1, 128}, {3, 2, 128}, {3, 3, 128},
};
enum { N_TYPES = sizeof types / sizeof *types, N_SWIZZLES = sizeof swizzles / sizeof *swizzles, FLIPPED = 5 };

struct request {
    int type;
    unsigned rank;
    address at;
    const uint64_t *sizes, *strides;
    const uint32_t *steps;
    int interleave, swizzle, promotion, fill;
};

static int put_tensor(const char *call, uint32_t *map, const struct request *r, unsigned inner) {
    if (!map || (uintptr_t)map % 64 || !r->sizes || !r->steps || (r->rank > 1 && !r->strides))
        return INVALID_VALUE;
    if (r->interleave || r->swizzle == FLIPPED) {
        refuse("%s: %s are not simulated", call, r->interleave ? "interleaved tensors" : "swizzles that exchange 8 bytes");
        return NOT_SUPPORTED;
    }
    if (r->type < 0 || r->type >= N_TYPES || r->swizzle < 0 || r->swizzle >= N_SWIZZLES || r->rank < 1 || r->rank > 5
        || r->at % 16 || r->promotion < 0 || r->promotion > 3 || r->fill < 0 || r->fill > types[r->type].floating)
        return INVALID_VALUE;
    int is_spread = r->type >= SPREAD;
    if (is_spread && (r->at % 32 || r->sizes[0] % 128 || inner != 128 || (r->swizzle && r->swizzle != 3 && r->swizzle != 4)))
        return INVALID_VALUE;
    unsigned bytes = inner * types[r->type].bits / 8;
    if ((r->type == PACKED && (r->sizes[0] % 2 || inner % 2)) || !bytes || bytes % 16 || bytes > swizzles[r->swizzle].most)
        return INVALID_VALUE;
    memset(map, 0, WORDS * sizeof *map);
    map[PROPERTIES] = (r->rank - 1) | types[r->type].number << TYPE_SHIFT | swizzles[r->swizzle].mode << SWIZZLE_SHIFT
        | swizzles[r->swizzle].atomicity << ATOMICITY_SHIFT | (uint32_t)r->fill << FILL_SHIFT
        | (uint32_t)r->promotion << PROMOTION_SHIFT;
    memcpy(map + ADDRESS, &r->at, sizeof r->at);
    for (unsigned k = 0; k < r->rank; k++) {
        if (!r->sizes[k] || r->sizes[k] > UINT32_MAX || !r->steps[k] || r->steps[k] > 8)
            return INVALID_VALUE;
        map[SIZES + k] = (uint32_t)r->sizes[k];
        map[STEPS + k] = r->steps[k];
        if (k && (r->strides[k - 1] % (is_spread ? 32 : 16) || r->strides[k - 1] >> 40))
            return INVALID_VALUE;
        if (k)
            memcpy(map + STRIDES + 2 * (k - 1), &r->strides[k - 1], sizeof *r->strides);
    }
    return SUCCESS;
}

API int cuTensorMapEncodeTiled(uint32_t *map, int type, unsigned rank, address at, const uint64_t *sizes,
    const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion,
    int fill) {
    struct request wanted = {type, rank, at, sizes, strides, steps, interleave, swizzle, promotion, fill};
    int error = !box ? INVALID_VALUE : put_tensor("cuTensorMapEncodeTiled", map, &wanted, box[0]);
    for (unsigned k = 0; !error && k < rank; k++) {
        map[BOX + k] = box[k];
        error = box[k] < 1 || box[k] > 256 ? INVALID_VALUE : SUCCESS;
    }
    return error;
}

API int cuTensorMapEncodeIm2col(uint32_t *map, int type, unsigned rank, address at, const uint64_t *sizes,
    const uint64_t *strides, const int *lower, const int *upper, uint32_t channels, uint32_t pixels,
    const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
    struct request wanted = {type, rank, at, sizes, strides, steps, interleave, swizzle, promotion, fill};
    if (!lower || !upper || rank < 3 || channels > 256 || pixels < 1 || pixels > 1024)
        return INVALID_VALUE;
    int error = put_tensor("cuTensorMapEncodeIm2col", map, &wanted, channels);
    if (error)
        return error;
    int bound = rank == 3 ? 1 << 15 : rank == 4 ? 1 << 7 : 1 << 4;
    map[PROPERTIES] |= 1u << IM2COL_SHIFT;
    map[BOX] = channels;
    map[BOX + 1] = pixels;
    for (unsigned k = 0; k + 2 < rank; k++) {
        if (lower[k] < -bound || lower[k] >= bound || upper[k] < -bound || upper[k] >= bound)
            return INVALID_VALUE;
        map[CORNERS + k] = ((uint32_t)lower[k] & 0xFFFF) | (uint32_t)upper[k] << 16;
    }
    return SUCCESS;
}

API int cuTensorMapEncodeIm2colWide(uint32_t *map, int type, unsigned rank, address at, const uint64_t *sizes,
    const uint64_t *strides, int lower, int upper, uint32_t channels, uint32_t pixels, const uint32_t *steps, int interleave,
    int mode, int swizzle, int promotion, int fill) {
    struct request wanted = {type, rank, at, sizes, strides, steps, interleave, swizzle, promotion, fill};
    const int bound = 1 << 15;
    if (rank < 3 || channels > 256 || mode < 0 || mode > 1 || (mode == 0 && (pixels < 1 || pixels > 1024)) || swizzle < 2
        || swizzle > 4 || lower < -bound || lower >= bound || upper < -bound || upper >= bound)
        return INVALID_VALUE;
    int error = put_tensor("cuTensorMapEncodeIm2colWide", map, &wanted, channels);
    if (error)
        return error;
    if (lower >= (int64_t)sizes[1] + upper)
        return INVALID_VALUE;
    map[PROPERTIES] |= (2u + (uint32_t)mode) << IM2COL_SHIFT;
    map[BOX] = channels;
    map[BOX + 1] = pixels;
    map[CORNERS] = ((uint32_t)lower & 0xFFFF) | (uint32_t)upper << 16;
    return SUCCESS;
}

API int cuTensorMapReplaceAddress(uint32_t *map, address at) {
    if (!map || at % 16)
        return INVALID_VALUE;
    memcpy(map + ADDRESS, &at, sizeof at);
    return SUCCESS;
}
