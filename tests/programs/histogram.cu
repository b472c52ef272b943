// Counts of byte values: every CTA counts in shared memory, then adds its counts to those of the grid.
extern "C" __global__ void histogram(const unsigned char *data, int n, unsigned *bins)
{
    __shared__ unsigned mine[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        mine[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[data[i]], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        if (mine[k])
            atomicAdd(&bins[k], mine[k]);
}

// Smallest and largest value, sum, bits that are set in any and in all, parity.
extern "C" __global__ void extremes(const int *data, int n, int *least, int *most, unsigned long long *sum,
                                    unsigned *any, unsigned *all, unsigned *parity)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int value = data[i];
    atomicMin(least, value);
    atomicMax(most, value);
    atomicAdd(sum, (unsigned long long)(long long)value);
    atomicOr(any, (unsigned)value);
    atomicAnd(all, (unsigned)value);
    atomicXor(parity, (unsigned)value);
}
