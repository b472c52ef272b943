// Moving averages over tiles that asynchronous copies bring to shared memory, two tiles ahead of their use.
#include <cuda_pipeline_primitives.h>
#define TILE 256
#define STAGES 3

extern "C" __global__ void averages(const float *in, float *out, int tiles)
{
    __shared__ __align__(16) float tile[STAGES][TILE];
    int t = threadIdx.x;                              // 64 threads, 4 elements each
    const float *mine = in + blockIdx.x * tiles * TILE;
    for (int k = 0; k < STAGES - 1; k++) {
        if (k < tiles)
            __pipeline_memcpy_async(&tile[k][4 * t], &mine[k * TILE + 4 * t], 16);
        __pipeline_commit();
    }
    for (int k = 0; k < tiles; k++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        int ahead = k + STAGES - 1;
        if (ahead < tiles)
            __pipeline_memcpy_async(&tile[ahead % STAGES][4 * t], &mine[ahead * TILE + 4 * t], 16);
        __pipeline_commit();
        const float *now = tile[k % STAGES];
        for (int i = t; i < TILE; i += 64)
            out[(blockIdx.x * tiles + k) * TILE + i] =
                (now[i] + now[(i + 1) % TILE] + now[(i + 2) % TILE] + now[(i + 3) % TILE]) * 0.25f;
    }
}

// The last part of a row is short: what is missing is filled with zeros.
extern "C" __global__ void padded(const int *in, int n, int *out)
{
    __shared__ int row[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    __pipeline_memcpy_async(&row[t], i < n ? &in[i] : in, 4, i < n ? 0 : 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = row[127 - t];
}
