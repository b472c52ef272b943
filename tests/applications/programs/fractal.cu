// The Mandelbrot set in double precision, with rows handed out by a counter; what it computes is bit for bit the host's.
#include <cmath>
#include <vector>
#include "check.h"

const int W = 64, H = 48, MOST = 60;
__device__ int next_row;

// fma on both sides, as compilers choose differently
__device__ __host__ int escape(int px, int py) {
    double cx = fma((double)px, 3.0 / W, -2.2), cy = fma((double)py, 2.4 / H, -1.2), x = 0, y = 0;
    int n = 0;
    for (; n < MOST && fma(x, x, y * y) <= 4; n++) {
        double t = fma(x, x, fma(-y, y, cx));
        y = fma(2 * x, y, cy);
        x = t;
    }
    return n;
}
__global__ void draw(int *picture) {
    __shared__ int row;
    while (true) {
        if (threadIdx.x == 0)
            row = atomicAdd(&next_row, 1);
        __syncthreads();
        int own = row;
        __syncthreads();
        if (own >= H)
            break;
        picture[own * W + threadIdx.x] = escape(threadIdx.x, own);
    }
}
__global__ void functions(const double *in, double *out) {
    double x = in[threadIdx.x], *own = out + 6 * threadIdx.x;
    own[0] = sqrt(x), own[1] = 1 / x, own[2] = exp(-x), own[3] = sin(x), own[4] = log(x), own[5] = pow(x, 1.5);
}

int main() {
    std::vector<int> picture(W * H);
    int *device, zero = 0;
    CHECK(cudaMalloc(&device, W * H * sizeof(int)));
    for (int again = 0; again < 2; again++) {
        CHECK(cudaMemset(device, 0, W * H * sizeof(int)));
        CHECK(cudaMemcpyToSymbol(next_row, &zero, sizeof zero));
        draw<<<7, W>>>(device);
        CHECK(cudaMemcpy(picture.data(), device, W * H * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < W * H; i++)
            EXPECT(picture[i] == escape(i % W, i / W));
    }
    double in[32], out[32 * 6], *device_in, *device_out;
    for (int i = 0; i < 32; i++)
        in[i] = 0.1 + i * 0.37;
    CHECK(cudaMalloc(&device_in, sizeof in));
    CHECK(cudaMalloc(&device_out, sizeof out));
    CHECK(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));
    functions<<<1, 32>>>(device_in, device_out);
    CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        double x = in[i], expected[] = {sqrt(x), 1 / x, exp(-x), sin(x), log(x), pow(x, 1.5)};
        for (int k = 0; k < 6; k++)
            EXPECT(fabs(out[6 * i + k] - expected[k]) <= 4e-15 * fabs(expected[k]) + 1e-15);
        EXPECT(out[6 * i] == expected[0] && out[6 * i + 1] == expected[1]); // correctly rounded
    }
    puts("pictures are right");
    return 0;
}
