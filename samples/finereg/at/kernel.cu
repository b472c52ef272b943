// The first product of A^T (A x) (Polybench: atax, tmp = A x). A thread owns a row, so that a warp reads from many lines at a time,
// and loads sixteen columns before it multiplies.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define AT_A_TIME 16

extern "C" __global__ void atax_kernel1(int nx, int ny, const float *A, const float *x, float *tmp)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nx) return;
    float sum = 0.0f;
#pragma unroll 1
    for (int first = 0; first < ny; first += AT_A_TIME) {
        float a[AT_A_TIME], factor[AT_A_TIME];
#pragma unroll
        for (int j = 0; j < AT_A_TIME; j++) {
            a[j] = A[i * ny + first + j];
            factor[j] = x[first + j];
        }
        asm volatile("" ::: "memory"); // the loads stay before the products
#pragma unroll
        for (int j = 0; j < AT_A_TIME; j++) sum += a[j] * factor[j];
    }
    tmp[i] = sum;
}
