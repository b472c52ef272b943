// Sums through shared memory whose size the launch gives: a double and an int for every thread, one after the other.
extern "C" __global__ void reduce(const double *x, const int *k, int n, double *sum, long long *count)
{
    extern __shared__ double doubles[];
    int *ints = (int *)(doubles + blockDim.x);
    int t = threadIdx.x;
    double d = 0;
    int c = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
        d += x[i];
        c += k[i];
    }
    doubles[t] = d;
    ints[t] = c;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            doubles[t] += doubles[t + half];
            ints[t] += ints[t + half];
        }
    }
    if (t == 0) {
        sum[blockIdx.x] = doubles[0];
        atomicAdd((unsigned long long *)count, (unsigned long long)(long long)ints[0]);
    }
}

// The last CTA to finish adds up what all wrote: a ticket, and fences around it.
__device__ unsigned finished = 0;

extern "C" __global__ void reduce_once(const float *x, int n, volatile float *partial, float *result)
{
    __shared__ float item[128];
    __shared__ bool last;
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128)
        sum += x[i];
    for (int round = 0;; round++) {
        item[t] = sum;
        for (int half = 64; half > 0; half /= 2) {
            __syncthreads();
            if (t < half)
                item[t] += item[t + half];
        }
        if (t == 0 && round == 0) {
            partial[blockIdx.x] = item[0];
            __threadfence();
            last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (!last || round == 1)
            break;
        sum = t < gridDim.x ? partial[t] : 0;
    }
    if (last && t == 0)
        *result = item[0];
}
