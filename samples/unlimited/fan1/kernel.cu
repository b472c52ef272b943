// Gaussian elimination, one step: the multipliers of the rows below the pivot. A thread has one row; the matrices lie in rows, so
// that neighbouring threads read words a whole row apart.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
extern "C" __global__ void fan1(float *m, const float *a, int size, int step)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size - 1 - step) return;
    const int row = step + 1 + i;
    m[size * row + step] = a[size * row + step] / a[size * step + step];
}
