// Tensor maps: made by the driver's function, tiles of a matrix go through shared memory with a swizzle (sm_90).
#include <cstdint>
#include <cstring>
#include "check.h"

struct alignas(64) tensor_map { char bytes[128]; };
typedef int (*encode_tiled)(tensor_map *, int, unsigned, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                            const uint32_t *, int, int, int, int);

const int ROWS = 20, COLUMNS = 48; // floats, tiles of 16 x 32

__global__ void copy(const __grid_constant__ tensor_map from, const __grid_constant__ tensor_map to, float factor) {
    __shared__ alignas(1024) float tile[16 * 32];
    __shared__ uint64_t bar;
    uint32_t at = (uint32_t)__cvta_generic_to_shared(tile), waits = (uint32_t)__cvta_generic_to_shared(&bar);
    int x = blockIdx.x * 32, y = blockIdx.y * 16;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(waits));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(waits));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(at), "l"(&from), "r"(x), "r"(y), "r"(waits) : "memory");
    }
    __syncthreads();
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra AGAIN;\n}" ::"r"(waits) : "memory");
    for (int row = 0; row < 16; row++) // chunk j of a row of 128 bytes lies at j ^ (row % 8)
        tile[row * 32 + ((threadIdx.x / 4 ^ row % 8) * 4 + threadIdx.x % 4)] *= factor + threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\n"
                     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"
                     ::"l"(&to), "r"(x), "r"(y), "r"(at) : "memory");
}

int main() {
    void *found = nullptr;
    cudaDriverEntryPointQueryResult status;
    CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &status));
    EXPECT(status == cudaDriverEntryPointSuccess);
    encode_tiled encode = (encode_tiled)found;
    float in[ROWS][COLUMNS], out[ROWS][COLUMNS], *device_in, *device_out;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        in[0][i] = i;
    CHECK(cudaMalloc(&device_in, sizeof in));
    CHECK(cudaMalloc(&device_out, sizeof out));
    CHECK(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));
    const uint64_t sizes[] = {COLUMNS, ROWS}, strides[] = {COLUMNS * sizeof(float)};
    const uint32_t box[] = {32, 16}, steps[] = {1, 1}, wide[] = {64, 16};
    tensor_map from, to;
    const int F32 = 7, B128 = 3;
    EXPECT(encode(&from, F32, 2, device_in, sizes, strides, wide, steps, 0, B128, 0, 0) == 1); // 256 bytes are too many
    const uint64_t packed_sizes[] = {512, 4}, packed_strides[] = {256}; // elements of 4 bits that are spread in shared memory
    const uint32_t packed_box[] = {128, 2}, packed_half[] = {64, 2};
    const int B4X16_P64 = 14;
    EXPECT(encode(&from, B4X16_P64, 2, device_in, packed_sizes, packed_strides, packed_box, steps, 0, B128, 0, 0) == 0);
    EXPECT(encode(&from, B4X16_P64, 2, device_in, packed_sizes, packed_strides, packed_half, steps, 0, B128, 0, 0) == 1);
    const uint64_t planes[] = {COLUMNS, ROWS, 1}, one_plane[] = {COLUMNS * sizeof(float), 0}; // as CUTLASS has one
    const uint32_t of_a_plane[] = {32, 16, 1}, steps3[] = {1, 1, 1};
    EXPECT(encode(&from, F32, 3, device_in, planes, one_plane, of_a_plane, steps3, 0, B128, 0, 0) == 0);
    EXPECT(encode(&from, F32, 2, device_in, sizes, strides, box, steps, 0, B128, 0, 0) == 0);
    ((uint64_t *)&from)[1] &= ~(1ull << 21); // as CUTLASS does with maps of small tensors
    EXPECT(encode(&to, F32, 2, device_out, sizes, strides, box, steps, 0, B128, 2, 0) == 0);
    copy<<<dim3(2, 2), 32>>>(from, to, 2.0f);
    CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            EXPECT(out[row][column] == in[row][column] * (2.0f + column % 32));
    printf("tensor maps are right\n");
}
