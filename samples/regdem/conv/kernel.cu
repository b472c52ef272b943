// Separable convolution, the columns (CUDA SDK: convolutionSeparable, convolutionColumnsKernel): every output pixel is a
// weighted sum of the 17 pixels around it in its column. 16 x 8 threads compute 16 x 32 pixels. The columns and a halo of 8
// pixels above and below lie in 3136 bytes of shared memory, each column one word longer than its pixels, so that 16 lanes
// meet 16 banks. Pixels outside the image are 0.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define RADIUS 8
#define STEPS 4

__constant__ float weights[2 * RADIUS + 1];

extern "C" __global__ void convolutionColumnsKernel(float *out, const float *in, int height, int pitch)
{
    __shared__ float column[16][(STEPS + 2) * 8 + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int y0 = ((int)blockIdx.y * STEPS - 1) * 8 + ty;
    const int x = blockIdx.x * 16 + tx;
    const int left = height - y0; // rows from the upper halo to the image's end
    in += y0 * pitch + x;
    out += y0 * pitch + x;
    column[tx][ty] = y0 >= 0 ? in[0] : 0.0f;
#pragma unroll
    for (int i = 1; i <= STEPS + 1; i++) column[tx][ty + i * 8] = i * 8 < left ? in[i * 8 * pitch] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 1; i <= STEPS; i++) {
        float sum = 0.0f;
#pragma unroll
        for (int j = -RADIUS; j <= RADIUS; j++) sum += weights[RADIUS - j] * column[tx][ty + i * 8 + j];
        if (i * 8 < left) out[i * 8 * pitch] = sum;
    }
}
