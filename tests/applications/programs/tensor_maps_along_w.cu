// A tensor map of cuTensorMapEncodeIm2colWide: pixels along W with a halo (sm_100a).
#include <cstdint>
#include "check.h"

struct alignas(64) tensor_map { char bytes[128]; };
typedef int (*encode_wide)(tensor_map *, int, unsigned, void *, const uint64_t *, const uint64_t *, int, int, uint32_t,
                           uint32_t, const uint32_t *, int, int, int, int, int);

const int IMAGES = 4, WIDTH = 3, CHANNELS = 4, PIXELS = 5, HALO = 2;

__global__ void load(const __grid_constant__ tensor_map from, int *out) {
    __shared__ alignas(1024) int tile[(PIXELS + HALO) * CHANNELS];
    __shared__ uint64_t bar;
    uint32_t at = (uint32_t)__cvta_generic_to_shared(tile), waits = (uint32_t)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(waits));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(waits), "n"(sizeof tile));
        asm volatile("cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3, %2}], [%4], {%5, %6};"
                     ::"r"(at), "l"(&from), "r"(0), "r"(1), "r"(waits), "h"((short)HALO), "h"((short)0) : "memory");
    }
    __syncthreads();
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra AGAIN;\n}" ::"r"(waits) : "memory");
    out[threadIdx.x] = tile[threadIdx.x]; // rows of 16 bytes: the first eight lie where they would without the swizzle
}

int main() {
    void *found = nullptr;
    cudaDriverEntryPointQueryResult status;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2colWide", &found, 12080, cudaEnableDefault, &status));
    EXPECT(status == cudaDriverEntryPointSuccess);
    encode_wide encode = (encode_wide)found;
    int in[IMAGES][WIDTH][CHANNELS], out[PIXELS + HALO][CHANNELS], *device_in, *device_out;
    for (int i = 0; i < IMAGES * WIDTH * CHANNELS; i++)
        in[0][0][i] = i + 1;
    CHECK(cudaMalloc(&device_in, sizeof in));
    CHECK(cudaMalloc(&device_out, sizeof out));
    CHECK(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));
    const uint64_t sizes[] = {CHANNELS, WIDTH, IMAGES}, strides[] = {sizeof in[0][0], sizeof in[0]};
    const uint32_t steps[] = {1, 1, 1};
    const int S32 = 3, NONE = 0, B64 = 2, W = 0, W128 = 1, INVALID = 1;
    tensor_map map;
    EXPECT(encode(&map, S32, 3, device_in, sizes, strides, -1, 0, CHANNELS, PIXELS, steps, 0, W, NONE, 0, 0) == INVALID);
    EXPECT(encode(&map, S32, 3, device_in, sizes, strides, 2, -1, CHANNELS, PIXELS, steps, 0, W, B64, 0, 0) == INVALID);
    EXPECT(encode(&map, S32, 3, device_in, sizes, strides, -1, 0, CHANNELS, 0, steps, 0, W, B64, 0, 0) == INVALID);
    EXPECT(encode(&map, S32, 3, device_in, sizes, strides, -1, 0, CHANNELS, 0, steps, 0, W128, B64, 0, 0) == 0);
    EXPECT(encode(&map, S32, 3, device_in, sizes, strides, -1, 0, CHANNELS, PIXELS, steps, 0, W, B64, 0, 0) == 0);
    load<<<1, (PIXELS + HALO) * CHANNELS>>>(map, device_out);
    CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    const int image[] = {0, 0, 1, 1, 1, 1, 2}, w[] = {1, 2, -1, 0, 1, 2, -1};
    for (int pixel = 0; pixel < PIXELS + HALO; pixel++)
        for (int c = 0; c < CHANNELS; c++)
            EXPECT(out[pixel][c] == (w[pixel] < 0 ? 0 : in[image[pixel]][w[pixel]][c]));
    printf("pixels along W are right\n");
}
