// Separable convolution, the columns (CUDA SDK: convolutionSeparable, convolutionColumnsKernel): a pixel of the result is a
// weighted sum of the 17 pixels around it in its column. 16 x 8 threads compute 16 x 64 pixels; the columns with a halo of 8
// pixels above and below lie in 5184 bytes of scratchpad, each one word longer than its pixels, so that 16 lanes meet 16
// banks. Pixels outside the image are 0. Each load is followed by its store to scratchpad.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#define WIDE 16
#define HIGH 8
#define STEPS 8
#define RADIUS 8

__constant__ float weights[2 * RADIUS + 1];

extern "C" __global__ void convolutionColumnsKernel(float *out, float *in, int width, int height, int pitch)
{
    __shared__ float column[WIDE][(STEPS + 2) * HIGH + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * WIDE + tx;
    const int y = ((int)blockIdx.y * STEPS - 1) * HIGH + ty; // of the thread's pixel in the upper halo
    in += y * pitch + x;
    out += y * pitch + x;
#pragma unroll
    for (int i = 1; i <= STEPS; i++) column[tx][ty + i * HIGH] = in[i * HIGH * pitch];
    column[tx][ty] = y >= 0 ? in[0] : 0.0f;
    column[tx][ty + (STEPS + 1) * HIGH] = height - y > (STEPS + 1) * HIGH ? in[(STEPS + 1) * HIGH * pitch] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 1; i <= STEPS; i++) {
        float sum = 0.0f;
#pragma unroll
        for (int j = -RADIUS; j <= RADIUS; j++) sum += weights[RADIUS - j] * column[tx][ty + i * HIGH + j];
        out[i * HIGH * pitch] = sum;
    }
}
