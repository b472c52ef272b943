// C = alpha * A * B^T + beta * C, matrices in columns (Parboil: sgemm, mysgemmNT). A CTA of 16 x 8 threads computes 128 x 16
// elements of C, a thread 16 of them, in registers. blockIdx.x runs along m, so that the CTAs of one wave read the same
// columns of B. Tiles of B, 8 x 16, go through scratchpad; each element of A is loaded where it is used.
// m must be a multiple of 128, n of 16, k of 8.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#define WIDE 16
#define DEEP 8

extern "C" __global__ void mysgemmNT(const float *A, int lda, const float *B, int ldb, float *C, int ldc, int k,
                                     float alpha, float beta)
{
    __shared__ float tile[DEEP][WIDE];
    float sum[WIDE];
    for (int j = 0; j < WIDE; j++) sum[j] = 0.0f;
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    const int row = blockIdx.x * (WIDE * DEEP) + thread;
    const int column = blockIdx.y * WIDE + threadIdx.x; // of B^T, the one this thread copies
    for (int step = 0; step < k; step += DEEP) {
        tile[threadIdx.y][threadIdx.x] = B[column + (step + threadIdx.y) * ldb];
        __syncthreads();
        for (int i = 0; i < DEEP; i++) {
            const float a = A[row + (step + i) * lda];
            for (int j = 0; j < WIDE; j++) sum[j] += a * tile[i][j];
        }
        __syncthreads();
    }
    const int first = ldc * blockIdx.y * WIDE + row;
    for (int j = 0; j < WIDE; j++) C[first + j * ldc] = C[first + j * ldc] * beta + alpha * sum[j];
}
