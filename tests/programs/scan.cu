// Inclusive prefix sums: by shuffles in a warp, through shared memory in a CTA, by a second kernel in the grid.
__device__ int warp_scan(int value, int lane)
{
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(0xffffffff, value, step);
        if (lane >= step)
            value += other;
    }
    return value;
}

extern "C" __global__ void scan_blocks(const int *in, int n, int *out, int *sums)
{
    __shared__ int of_warp[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    int value = warp_scan(i < n ? in[i] : 0, lane);
    if (lane == 31)
        of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int sum = warp_scan(lane < warps ? of_warp[lane] : 0, lane);
        of_warp[lane] = sum;
    }
    __syncthreads();
    if (warp > 0)
        value += of_warp[warp - 1];
    if (i < n)
        out[i] = value;
    if (threadIdx.x == blockDim.x - 1)
        sums[blockIdx.x] = value;
}

extern "C" __global__ void add_sums(int *out, int n, const int *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int before = 0;
    for (int k = threadIdx.x & 31; k < blockIdx.x; k += 32)
        before += sums[k];
    for (int mask = 16; mask; mask >>= 1)
        before += __shfl_xor_sync(0xffffffff, before, mask);
    if (i < n)
        out[i] += before;
}
