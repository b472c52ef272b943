// LU factors of a matrix in blocks: the diagonal block, those beside and below it, and the rest, a launch each.
#include <cmath>
#include <vector>
#include "check.h"

const int B = 16, N = 80;

__global__ void diagonal(float *a, int at) {
    __shared__ float m[B][B];
    int t = threadIdx.x;
    for (int y = 0; y < B; y++)
        m[y][t] = a[(at + y) * N + at + t];
    __syncthreads();
    for (int k = 0; k < B - 1; k++) {
        if (t > k) {
            m[t][k] /= m[k][k];
            for (int x = k + 1; x < B; x++)
                m[t][x] -= m[t][k] * m[k][x];
        }
        __syncthreads();
    }
    for (int y = 0; y < B; y++)
        a[(at + y) * N + at + t] = m[y][t];
}
// half of the threads do a column to the right, half a row below
__global__ void borders(float *a, int at) {
    __shared__ float m[B][B];
    int t = threadIdx.x % B, is_row = threadIdx.x / B, other = at + (blockIdx.x + 1) * B + t;
    if (!is_row)
        for (int y = 0; y < B; y++)
            m[y][t] = a[(at + y) * N + at + t];
    __syncthreads();
    for (int k = 0; k < B; k++) {
        float sum = is_row ? a[other * N + at + k] : a[(at + k) * N + other];
        for (int j = 0; j < k; j++)
            sum -= is_row ? a[other * N + at + j] * m[j][k] : m[k][j] * a[(at + j) * N + other];
        (is_row ? a[other * N + at + k] : a[(at + k) * N + other]) = is_row ? sum / m[k][k] : sum;
    }
}
__global__ void inner(float *a, int at) {
    __shared__ float left[B][B], top[B][B];
    int x = threadIdx.x, y = threadIdx.y, row = at + (blockIdx.y + 1) * B + y, column = at + (blockIdx.x + 1) * B + x;
    left[y][x] = a[row * N + at + x];
    top[y][x] = a[(at + y) * N + column];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < B; k++)
        sum += left[y][k] * top[k][x];
    a[row * N + column] -= sum;
}

int main() {
    std::vector<float> a(N * N), lu(N * N);
    for (int i = 0; i < N * N; i++)
        a[i] = (i * 31 % 17) / 17.0f + (i / N == i % N ? N : 0);
    float *device;
    CHECK(cudaMalloc(&device, N * N * sizeof(float)));
    CHECK(cudaMemcpy(device, a.data(), N * N * sizeof(float), cudaMemcpyHostToDevice));
    for (int at = 0; at < N; at += B) {
        unsigned left = (N - at) / B - 1;
        diagonal<<<1, B>>>(device, at);
        if (left) {
            borders<<<left, 2 * B>>>(device, at);
            inner<<<dim3(left, left), dim3(B, B)>>>(device, at);
        }
    }
    CHECK(cudaMemcpy(lu.data(), device, N * N * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            double product = 0;
            for (int k = 0; k <= std::min(x, y); k++)
                product += (k == y ? 1.0 : lu[y * N + k]) * lu[k * N + x];
            EXPECT(std::fabs(product - a[y * N + x]) < 1e-3);
        }
    puts("factors are right");
    return 0;
}
