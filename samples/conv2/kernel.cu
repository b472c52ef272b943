// Separable convolution, the columns: every output pixel is a weighted sum of the 17 pixels around it in its column.
// 16 x 8 threads compute 16 x 64 pixels. The columns and a halo of 8 pixels above and below lie in 5184 bytes of scratchpad,
// each column one word longer than its pixels, so that 16 lanes meet 16 banks. Pixels outside the image are 0. The loads
// stand before the first store, where a compiler to machine code moves them.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define RADIUS 8
#define STEPS 8

__constant__ float weights[2 * RADIUS + 1];

extern "C" __global__ void conv2(float *out, const float *in, int width, int height)
{
    __shared__ float column[16][(STEPS + 2) * 8 + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int y0 = ((int)blockIdx.y * STEPS - 1) * 8 + ty; // the thread's pixel in the upper halo
    const int at = y0 * width + blockIdx.x * 16 + tx;
    float pixel[STEPS];
#pragma unroll
    for (int i = 0; i < STEPS; i++) pixel[i] = in[at + (i + 1) * 8 * width];
    const float upper = y0 >= 0 ? in[at] : 0.0f;
    const float lower = y0 + (STEPS + 1) * 8 < height ? in[at + (STEPS + 1) * 8 * width] : 0.0f;
#pragma unroll
    for (int i = 0; i < STEPS; i++) column[tx][ty + (i + 1) * 8] = pixel[i];
    column[tx][ty] = upper;
    column[tx][ty + (STEPS + 1) * 8] = lower;
    __syncthreads();
#pragma unroll
    for (int i = 1; i <= STEPS; i++) {
        float sum = 0.0f;
#pragma unroll
        for (int j = -RADIUS; j <= RADIUS; j++) sum += weights[RADIUS - j] * column[tx][ty + i * 8 + j];
        out[at + i * 8 * width] = sum;
    }
}
