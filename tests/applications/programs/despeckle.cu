// Anisotropic diffusion of a picture: a reduction for its variance, then two kernels, for some rounds.
#include <cmath>
#include <vector>
#include "check.h"

const int W = 48, H = 40, N = W * H;

__global__ void sums(const float *picture, float *out) {
    __shared__ float part[2][128];
    int t = threadIdx.x;
    part[0][t] = part[1][t] = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < N; i += gridDim.x * blockDim.x) {
        part[0][t] += picture[i];
        part[1][t] += picture[i] * picture[i];
    }
    for (int half = 64; half; half /= 2) {
        __syncthreads();
        if (t < half)
            for (int k = 0; k < 2; k++)
                part[k][t] += part[k][t + half];
    }
    if (t < 2)
        atomicAdd(&out[t], part[t][0]);
}
__device__ __host__ float spread(float centre, float left, float right, float up, float down, float q) {
    float dl = left - centre, dr = right - centre, du = up - centre, dd = down - centre;
    float gradient = (dl * dl + dr * dr + du * du + dd * dd) / (centre * centre), laplace = (dl + dr + du + dd) / centre;
    float own = (0.5f * gradient - laplace * laplace / 16) / ((1 + 0.25f * laplace) * (1 + 0.25f * laplace));
    float c = 1 / (1 + (own - q) / (q * (1 + q)));
    return c < 0 ? 0 : c > 1 ? 1 : c;
}
__device__ __host__ int index(int x, int y) {
    return (y < 0 ? 0 : y >= H ? H - 1 : y) * W + (x < 0 ? 0 : x >= W ? W - 1 : x);
}
__device__ __host__ void find(const float *p, float *c, int x, int y, float q) {
    c[index(x, y)] = spread(p[index(x, y)], p[index(x - 1, y)], p[index(x + 1, y)], p[index(x, y - 1)], p[index(x, y + 1)], q);
}
__device__ __host__ void flow(const float *p, const float *c, float *out, int x, int y) {
    float centre = p[index(x, y)], own = c[index(x, y)], east = c[index(x + 1, y)], south = c[index(x, y + 1)];
    out[index(x, y)] = centre + 0.125f * (own * (p[index(x - 1, y)] - centre) + east * (p[index(x + 1, y)] - centre) +
                                         own * (p[index(x, y - 1)] - centre) + south * (p[index(x, y + 1)] - centre));
}
__global__ void find_all(const float *p, float *c, float q) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H)
        find(p, c, x, y, q);
}
__global__ void flow_all(const float *p, const float *c, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H)
        flow(p, c, out, x, y);
}

int main() {
    std::vector<float> picture(N), c(N), next(N), result(N);
    for (int i = 0; i < N; i++)
        picture[i] = 1 + (i * 37 % 101) / 100.0f + (i % W > W / 2);
    float *device, *coefficients, *other, *both, found[2];
    CHECK(cudaMalloc(&device, N * sizeof(float)));
    CHECK(cudaMalloc(&coefficients, N * sizeof(float)));
    CHECK(cudaMalloc(&other, N * sizeof(float)));
    CHECK(cudaMalloc(&both, sizeof found));
    CHECK(cudaMemcpy(device, picture.data(), N * sizeof(float), cudaMemcpyHostToDevice));
    dim3 block(16, 8), grid((W + 15) / 16, (H + 7) / 8);
    for (int round = 0; round < 3; round++) {
        CHECK(cudaMemset(both, 0, sizeof found));
        sums<<<4, 128>>>(device, both);
        CHECK(cudaMemcpy(found, both, sizeof found, cudaMemcpyDeviceToHost));
        double sum = 0, squares = 0;
        for (float each : picture) {
            sum += each;
            squares += each * each;
        }
        EXPECT(std::fabs(found[0] / sum - 1) < 1e-4 && std::fabs(found[1] / squares - 1) < 1e-4);
        float mean = found[0] / N, q = (found[1] / N - mean * mean) / (mean * mean);
        find_all<<<grid, block>>>(device, coefficients, q);
        flow_all<<<grid, block>>>(device, coefficients, other);
        std::swap(device, other);
        for (int i = 0; i < N; i++)
            find(picture.data(), c.data(), i % W, i / W, q);
        for (int i = 0; i < N; i++)
            flow(picture.data(), c.data(), next.data(), i % W, i / W);
        picture = next;
    }
    CHECK(cudaMemcpy(result.data(), device, N * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        EXPECT(std::fabs(result[i] - picture[i]) < 1e-4f);
    puts("pictures are right");
    return 0;
}
