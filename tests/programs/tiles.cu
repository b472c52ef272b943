// Bulk copies: tiles of a matrix by tensor maps, a pipeline of chunks, halves that blocks of a cluster send to each other.
#include <cstdint>

struct alignas(64) tensor_map { char bytes[128]; };

__device__ uint32_t shared_address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void init(uint64_t *bar, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(arrivals));
}

__device__ void expect(uint64_t *bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory");
}

__device__ void arrive(uint64_t *bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}

__device__ void await(uint64_t *bar, int parity) {
    asm volatile("{\n.reg .pred done;\nAGAIN:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra AGAIN;\n}" ::"r"(shared_address(bar)), "r"(parity) : "memory");
}

// 32 x 32 floats of a matrix, exchanged: what is outside of it comes as zeros, and does not go.
extern "C" __global__ void transpose(const __grid_constant__ tensor_map from, const __grid_constant__ tensor_map to) {
    __shared__ alignas(128) float in[32][32], out[32][32];
    __shared__ uint64_t bar;
    int x = blockIdx.x * 32, y = blockIdx.y * 32;
    if (threadIdx.x == 0) {
        init(&bar, 1);
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&bar, sizeof in);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(shared_address(in)), "l"(&from), "r"(x), "r"(y), "r"(shared_address(&bar)) : "memory");
    }
    await(&bar, 0);
    for (int row = threadIdx.x / 32; row < 32; row += blockDim.x / 32)
        out[row][threadIdx.x % 32] = in[threadIdx.x % 32][row];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\n"
                     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;"
                     ::"l"(&to), "r"(y), "r"(x), "r"(shared_address(out)) : "memory");
}

const int STAGES = 2, CHUNK = 128;

// The last warp fetches chunks, the others add them up: thread i elements i, i + 128, ...
extern "C" __global__ void sums(const float *in, float *out, int chunks) {
    __shared__ alignas(128) float ring[STAGES][CHUNK];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++) {
            init(&full[s], 1);
            init(&empty[s], CHUNK);
        }
    __syncthreads();
    if (threadIdx.x >= CHUNK) {
        if (threadIdx.x == CHUNK)
            for (int k = 0; k < chunks; k++) {
                int s = k % STAGES;
                await(&empty[s], k / STAGES % 2 ^ 1);
                expect(&full[s], sizeof ring[s]);
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                             ::"r"(shared_address(ring[s])), "l"(in + k * CHUNK), "r"((int)sizeof ring[s]),
                             "r"(shared_address(&full[s])) : "memory");
            }
        return;
    }
    float sum = 0;
    for (int k = 0; k < chunks; k++) {
        int s = k % STAGES;
        await(&full[s], k / STAGES % 2);
        sum += ring[s][threadIdx.x];
        arrive(&empty[s]);
    }
    out[threadIdx.x] = sum;
}

// Of 256 numbers each of two blocks fetches a half, for both.
extern "C" __global__ void __cluster_dims__(2, 1, 1) halves(const int *in, int *out) {
    __shared__ alignas(128) int all[256];
    __shared__ uint64_t bar;
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        init(&bar, 1);
        asm volatile("fence.mbarrier_init.release.cluster;");
        expect(&bar, sizeof all);
    }
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                     ::"r"(shared_address(all + rank * 128)), "l"(in + rank * 128), "r"(512),
                     "r"(shared_address(&bar)), "h"((short)3) : "memory");
    await(&bar, 0);
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        out[blockIdx.x * 256 + i] = all[i] * (int)(rank + 1);
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}
