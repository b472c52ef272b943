// y = a * x + y, every thread at a grid's stride.
// kernel.ptx beside this file: nvcc -ptx -arch=compute_75 -o kernel.ptx kernel.cu
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = fmaf(a, x[i], y[i]);
}
