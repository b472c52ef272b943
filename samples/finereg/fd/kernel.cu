// The magnetic field of an electromagnetic wave after a time step, by finite differences (Polybench: fdtd2d, step 3).
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
extern "C" __global__ void fdtd_step3_kernel(int nx, int ny, const float *ex, const float *ey, float *hz)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    const float across = ex[i * (ny + 1) + j + 1] - ex[i * (ny + 1) + j];
    const float down = ey[(i + 1) * ny + j] - ey[i * ny + j];
    hz[i * ny + j] -= 0.7f * (across + down);
}
