// A symmetric update of rank 2k (Polybench: syr2k): C = beta C + alpha (A B^T + B A^T). A thread owns an element of C, which stays
// in global memory; a warp reads 32 rows of A and B at a time. A and B are columns of wider matrices.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
extern "C" __global__ void syr2k_kernel(int n, int k_columns, int width, float alpha, float beta, const float *A, const float *B,
                                        float *C)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    C[i * n + j] *= beta;
#pragma unroll 1
    for (int k = 0; k < k_columns; k++) {
        C[i * n + j] += alpha * A[i * width + k] * B[j * width + k];
        C[i * n + j] += alpha * B[i * width + k] * A[j * width + k];
    }
}
