// Texture and surface references, as nvcc compiled them before CUDA 12: PTX with .texref and .surfref, and the calls of
// registration that it wrote. A C++ compiler and libcudart.so.11.0 are enough.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Dim3 { unsigned x, y, z; };
struct Channels { int x, y, z, w, kind; };
struct TextureReference {
    int normalized, filter, modes[3];
    Channels format;
    int srgb;
    unsigned anisotropy;
    int mipmaps[4], trilinear, reserved[14];
};
struct SurfaceReference { Channels format; };

extern "C" {
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterTexture(void **, const TextureReference *, const void **, const char *, int, int, int);
void __cudaRegisterSurface(void **, const SurfaceReference *, const void **, const char *, int, int);
int cudaMalloc(void **, size_t);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMallocArray(void **, const Channels *, size_t, size_t, unsigned);
int cudaMemcpyToArray(void *, size_t, size_t, const void *, size_t, int);
int cudaMemcpyFromArray(void *, const void *, size_t, size_t, size_t, int);
int cudaBindTexture(size_t *, const TextureReference *, const void *, const Channels *, size_t);
int cudaBindTexture2D(size_t *, const TextureReference *, const void *, const Channels *, size_t, size_t, size_t);
int cudaBindTextureToArray(const TextureReference *, const void *, const Channels *);
int cudaBindSurfaceToArray(const SurfaceReference *, const void *, const Channels *);
int cudaUnbindTexture(const TextureReference *);
int cudaGetTextureAlignmentOffset(size_t *, const TextureReference *);
int cudaGetTextureReference(const TextureReference **, const void *);
int cudaLaunchKernel(const void *, Dim3, Dim3, void **, size_t, void *);
int cudaThreadSynchronize();
}

#define TEXT                                                                                       \
    ".version 6.0\n.target sm_30\n.address_size 64\n"                                              \
    ".global .texref numbers;\n.global .texref picture;\n.global .texref bytes;\n.global .surfref board;\n" \
    ".visible .entry fetch(.param .u64 out)\n{\n"                                                  \
    ".reg .u32 %r<8>; .reg .f32 %f<12>; .reg .u64 %rd<4>;\n"                                       \
    "ld.param.u64 %rd1, [out];\n"                                                                  \
    "mov.u32 %r1, %tid.x;\n"                                                                       \
    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [numbers, {%r1}];\n"                                  \
    "cvt.rn.f32.u32 %f5, %r1;\nadd.f32 %f5, %f5, 0f3F000000;\nmul.f32 %f6, %f5, 0f3E000000;\n"     \
    "mov.f32 %f7, 0f3F400000;\n" /* x = (tid + 0.5) / 8, y = 0.75: the second of two rows */       \
    "tex.2d.v4.f32.f32 {%f6, %f8, %f9, %f10}, [picture, {%f6, %f7}];\n"                            \
    "tex.1d.v4.f32.s32 {%f8, %f9, %f10, %f11}, [bytes, {%r1}];\n"                                  \
    "add.f32 %f1, %f1, %f6;\nadd.f32 %f1, %f1, %f8;\n"                                             \
    "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.f32 [%rd3], %f1;\n"          \
    "shl.b32 %r2, %r1, 2;\nmov.u32 %r3, 1;\nadd.u32 %r4, %r1, 100;\n"                              \
    "sust.b.2d.b32.trap [board, {%r2, %r3}], {%r4};\nret;\n}\n"

static struct {
    uint32_t magic = 0xBA55ED50;
    uint16_t version = 1, head_bytes = 16;
    uint64_t bytes = 64 + sizeof TEXT;
    uint16_t kind = 1, entry_version = 0x101;
    uint32_t entry_head_bytes = 64;
    uint64_t text_bytes = sizeof TEXT;
    uint32_t compressed = 0, unknown = 64;
    uint16_t minor = 0, major = 6;
    uint32_t target = 30, name_offset = 0, name_bytes = 0;
    uint64_t flags = 0x11, reserved = 0, uncompressed = 0;
    char text[sizeof TEXT] = TEXT;
} image;
static struct { uint32_t magic = 0x466243b1, version = 1; void *data = &image, *names = nullptr; } wrapper;

static TextureReference numbers, picture, bytes;
static SurfaceReference board;
static void fetch() {}

static void check(int error, const char *what) {
    if (error) {
        printf("%s: error %d\n", what, error);
        exit(2);
    }
}
#define CHECK(call) check(call, #call)

int main() {
    void **module = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(module, (const char *)fetch, (char *)"fetch", "fetch", -1, 0, 0, 0, 0, 0);
    __cudaRegisterTexture(module, &numbers, 0, "numbers", 1, 0, 0);
    __cudaRegisterTexture(module, &picture, 0, "picture", 2, 0, 0);
    __cudaRegisterTexture(module, &bytes, 0, "bytes", 1, 1 /* as fractions of 255 */, 0);
    __cudaRegisterSurface(module, &board, 0, "board", 2, 0);

    float values[8], rows[16], result[8];
    unsigned char levels[8];
    for (int k = 0; k < 16; k++) {
        values[k % 8] = 10 * (k % 8);
        rows[k] = k;
        levels[k % 8] = 51 * (k % 5);
    }
    Channels one_float = {32, 0, 0, 0, 2}, one_byte = {8, 0, 0, 0, 1}, one_word = {32, 0, 0, 0, 1};
    void *linear, *small, *array, *words, *out;
    size_t offset = 9;
    CHECK(cudaMalloc(&linear, sizeof values));
    CHECK(cudaMalloc(&small, sizeof levels));
    CHECK(cudaMalloc(&out, sizeof result));
    CHECK(cudaMemcpy(linear, values, sizeof values, 1));
    CHECK(cudaMemcpy(small, levels, sizeof levels, 1));
    CHECK(cudaMallocArray(&array, &one_float, 8, 2, 0));
    CHECK(cudaMallocArray(&words, &one_word, 8, 2, 2));
    CHECK(cudaMemcpyToArray(array, 0, 0, rows, sizeof rows, 1));
    picture.normalized = 1;
    picture.modes[0] = picture.modes[1] = 1; // clamp
    CHECK(cudaBindTexture(&offset, &numbers, linear, &one_float, 0xffffffff));
    if (offset)
        return 3;
    CHECK(cudaBindTextureToArray(&picture, array, &one_float));
    CHECK(cudaBindTexture(nullptr, &bytes, small, &one_byte, sizeof levels));
    CHECK(cudaBindSurfaceToArray(&board, words, &one_word));
    void *arguments[] = {&out};
    CHECK(cudaLaunchKernel((void *)fetch, {1, 1, 1}, {8, 1, 1}, arguments, 0, 0));
    CHECK(cudaMemcpy(result, out, sizeof result, 2));
    for (int k = 0; k < 8; k++) {
        float expected = 10 * k + (8 + k) + levels[k] / 255.0f;
        if (result[k] != expected) {
            printf("texel %d: %g instead of %g\n", k, result[k], expected);
            return 4;
        }
    }
    unsigned written[16];
    CHECK(cudaMemcpyFromArray(written, words, 0, 0, sizeof written, 2));
    if (written[8] != 100 || written[15] != 107 || written[0])
        return 5;

    // the same reference on other memory: two rows, the first of which is of no interest
    float pitched[64];
    for (int k = 0; k < 64; k++)
        pitched[k] = k;
    void *memory;
    CHECK(cudaMalloc(&memory, sizeof pitched));
    CHECK(cudaMemcpy(memory, pitched, sizeof pitched, 1));
    CHECK(cudaUnbindTexture(&picture));
    CHECK(cudaBindTexture2D(&offset, &picture, memory, &one_float, 8, 2, 128));
    CHECK(cudaLaunchKernel((void *)fetch, {1, 1, 1}, {8, 1, 1}, arguments, 0, 0));
    CHECK(cudaMemcpy(result, out, sizeof result, 2));
    if (result[3] != 30 + (32 + 3) + levels[3] / 255.0f)
        return 6;
    const TextureReference *found;
    CHECK(cudaGetTextureReference(&found, &picture));
    CHECK(cudaGetTextureAlignmentOffset(&offset, found));
    if (found != &picture || offset || cudaBindTexture(&offset, (TextureReference *)&board + 9, linear, &one_float, 4) != 18)
        return 7;
    CHECK(cudaUnbindTexture(&numbers));
    if (!cudaLaunchKernel((void *)fetch, {1, 1, 1}, {8, 1, 1}, arguments, 0, 0))
        return 8; // nothing is bound
    puts("references are right");
    return 0;
}
