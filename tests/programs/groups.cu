// Lanes that work together: those with the same key find each other and act as one.
// Adds values to their keys' sums with one atomic per warp and key.
extern "C" __global__ void sums_by_key(const int *keys, const int *values, int *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    unsigned peers = __match_any_sync(0xffffffff, keys[i]);
    int sum = 0;
    for (unsigned rest = peers; rest; rest &= rest - 1)
        sum += __shfl_sync(peers, values[i], __ffs(rest) - 1);
    if (lane == __ffs(peers) - 1)
        atomicAdd(&sums[keys[i]], sum);
}

// Keeps the positive values, in any order: one atomic per warp.
extern "C" __global__ void keep_positive(const int *in, int n, int *out, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) {
        unsigned together = __activemask();
        int lane = threadIdx.x & 31, leader = __ffs(together) - 1, base;
        if (lane == leader)
            base = atomicAdd(count, __popc(together));
        base = __shfl_sync(together, base, leader);
        out[base + __popc(together & ((1u << lane) - 1))] = in[i];
    }
}

// Reductions over the lanes of each half warp, and whether all agree.
extern "C" __global__ void halves(const int *in, int4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned half = threadIdx.x & 16 ? 0xffff0000u : 0xffffu;
    int x = in[i], all, sum, most, any;
    __match_all_sync(half, x, &all);
#if __CUDA_ARCH__ >= 800
    sum = __reduce_add_sync(half, x);
    most = __reduce_max_sync(half, x);
    any = __reduce_or_sync(half, x);
#else
    sum = most = any = x;
    for (int step = 8; step; step /= 2) {
        sum += __shfl_xor_sync(half, sum, step, 16);
        most = max(most, __shfl_xor_sync(half, most, step, 16));
        any |= __shfl_xor_sync(half, any, step, 16);
    }
#endif
    out[i] = make_int4(sum, most, any, all);
}
