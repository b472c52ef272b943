// mbarriers, which are of sm_80: a producer warp fills what the consumer warps wait for by phase.
extern "C" __global__ void phases(const int *in, int *out, int rounds)
{
    __shared__ int item[32];
    __shared__ unsigned long long full, free;
    unsigned full_at = (unsigned)__cvta_generic_to_shared(&full), free_at = (unsigned)__cvta_generic_to_shared(&free);
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32, consumers = blockDim.x / 32 - 1;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(full_at) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(free_at), "r"(32 * consumers) : "memory");
    }
    __syncthreads();
    for (int k = 0; k < rounds; k++) {
        unsigned wait_at = warp ? full_at : free_at, ready = warp == 0 && k == 0;
        unsigned long long token;
        while (!ready)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(ready) : "r"(wait_at), "r"(warp ? k & 1 : (k - 1) & 1) : "memory");
        if (warp == 0) {
            item[lane] = in[32 * k + lane];
            asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(full_at) : "memory");
        } else {
            out[(32 * k + lane) * consumers + warp - 1] = item[31 - lane] * warp;
            asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(free_at) : "memory");
        }
    }
}
