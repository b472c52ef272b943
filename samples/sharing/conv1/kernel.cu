// Separable convolution, the rows (CUDA SDK: convolutionSeparable, convolutionRowsKernel): a pixel of the result is a weighted
// sum of the 17 pixels around it in its row. 16 x 4 threads compute 128 x 4 pixels; the rows with a halo of 16 pixels on
// both sides lie in 2560 bytes of scratchpad. Pixels outside the image are 0. Each load is followed by its store to scratchpad.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#define WIDE 16
#define HIGH 4
#define STEPS 8
#define RADIUS 8

__constant__ float weights[2 * RADIUS + 1];

extern "C" __global__ void convolutionRowsKernel(float *out, float *in, int width, int height, int pitch)
{
    __shared__ float line[HIGH][(STEPS + 2) * WIDE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = ((int)blockIdx.x * STEPS - 1) * WIDE + tx; // of the thread's pixel in the left halo
    const int y = blockIdx.y * HIGH + ty;
    in += y * pitch + x;
    out += y * pitch + x;
#pragma unroll
    for (int i = 1; i <= STEPS; i++) line[ty][tx + i * WIDE] = in[i * WIDE];
    line[ty][tx] = x >= 0 ? in[0] : 0.0f;
    line[ty][tx + (STEPS + 1) * WIDE] = width - x > (STEPS + 1) * WIDE ? in[(STEPS + 1) * WIDE] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 1; i <= STEPS; i++) {
        float sum = 0.0f;
#pragma unroll
        for (int j = -RADIUS; j <= RADIUS; j++) sum += weights[RADIUS - j] * line[ty][tx + i * WIDE + j];
        out[i * WIDE] = sum;
    }
}
