// All warps of a CTA add up the same sums in device memory, as PolyBench's mvt does with a block of 32 x 8: a race, but right
// on a GPU, where the warps load before any of them stores.
#include "check.h"

__global__ void multiply(const float *a, float *x, const float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < n; j++)
        x[i] += a[i * n + j] * y[j]; // equal-sums
}

int main() {
    const int n = 64;
    float *a, *x, *y, host[n * n], sums[n];
    for (int i = 0; i < n * n; i++)
        host[i] = i % 5;
    CHECK(cudaMalloc(&a, sizeof host));
    CHECK(cudaMalloc(&x, sizeof sums));
    CHECK(cudaMalloc(&y, sizeof sums));
    CHECK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(y, host, sizeof sums, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(x, 0, sizeof sums));
    multiply<<<2, dim3(32, 8)>>>(a, x, y, n);
    CHECK(cudaMemcpy(sums, x, sizeof sums, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < n; j++)
            sum += host[i * n + j] * host[j];
        EXPECT(sums[i] == sum);
    }
    puts("sums are right");
    return 0;
}
