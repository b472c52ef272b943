// Separable convolution, the rows: every output pixel is a weighted sum of the 17 pixels around it in its row.
// 16 x 4 threads compute 128 x 4 pixels. The rows and a halo of 16 pixels on both sides lie in 2560 bytes of scratchpad;
// pixels outside the image are 0. The loads stand before the first store, where a compiler to machine code moves them.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define RADIUS 8
#define STEPS 8

__constant__ float weights[2 * RADIUS + 1];

extern "C" __global__ void conv1(float *out, const float *in, int width)
{
    __shared__ float line[4][(STEPS + 2) * 16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x0 = ((int)blockIdx.x * STEPS - 1) * 16 + tx; // the thread's pixel in the left halo
    const int at = (blockIdx.y * 4 + ty) * width + x0;
    float pixel[STEPS];
#pragma unroll
    for (int i = 0; i < STEPS; i++) pixel[i] = in[at + (i + 1) * 16];
    const float left = x0 >= 0 ? in[at] : 0.0f;
    const float right = x0 + (STEPS + 1) * 16 < width ? in[at + (STEPS + 1) * 16] : 0.0f;
#pragma unroll
    for (int i = 0; i < STEPS; i++) line[ty][tx + (i + 1) * 16] = pixel[i];
    line[ty][tx] = left;
    line[ty][tx + (STEPS + 1) * 16] = right;
    __syncthreads();
#pragma unroll
    for (int i = 1; i <= STEPS; i++) {
        float sum = 0.0f;
#pragma unroll
        for (int j = -RADIUS; j <= RADIUS; j++) sum += weights[RADIUS - j] * line[ty][tx + i * 16 + j];
        out[at + i * 16] = sum;
    }
}
