// The product of a transposed matrix and a vector, from the biconjugate gradient method (Polybench: bicg, s = A^T r). A thread
// owns a column, goes down its rows, and keeps its sum in global memory.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
extern "C" __global__ void bicg_kernel1(int nx, int ny, const float *A, const float *r, float *s)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= ny) return;
    s[j] = 0.0f;
    for (int i = 0; i < nx; i++) s[j] += A[i * ny + j] * r[i];
}
