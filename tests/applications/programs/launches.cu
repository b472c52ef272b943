// Every way to launch, arguments of many sizes, structures by value, what a kernel prints, a cooperative grid.
#include <cooperative_groups.h>
#include "check.h"

struct Point {
    char tag;
    double x, y;
    short weight;
};

__global__ void arguments(char c, Point p, short s, float *out, double d, Point q) {
    out[0] = c + p.tag + float(p.x + p.y) + p.weight + s + float(d) + float(q.x * q.weight);
    out[1] = blockIdx.z * 100 + threadIdx.y;
}

__global__ void greet(int number) {
    if (threadIdx.x == 0)
        printf("block %d of %d: %s\n", blockIdx.x, gridDim.x, number % 2 ? "odd" : "even");
}

__global__ void phases(int *data, int n) {
    auto grid = cooperative_groups::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = i;
    grid.sync();
    if (i < n)
        data[n + i] = data[n - 1 - i];
}

int main() {
    float *out, host[2];
    CHECK(cudaMalloc(&out, sizeof host));
    Point p = {1, 2.5, 3.5, 4}, q = {0, 10, 0, 3};
    char c = 5;
    short s = 6;
    double d = 7;
    const float expected = 5 + 1 + 6 + 4 + 6 + 7 + 30;
    arguments<<<1, 1>>>(c, p, s, out, d, q);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == expected && host[1] == 0);
    void *list[] = {&c, &p, &s, &out, &d, &q};
    CHECK(cudaMemset(out, 0, sizeof host));
    CHECK(cudaLaunchKernel((void *)arguments, dim3(1, 1, 3), dim3(1, 2), list, 0, 0));
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == expected && host[1] >= 0 && host[1] <= 201);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(1);
    CHECK(cudaMemset(out, 0, sizeof host));
    CHECK(cudaLaunchKernelEx(&config, arguments, c, p, s, out, d, q));
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == expected);
    printf("before\n");
    greet<<<2, 32>>>(1);
    CHECK(cudaDeviceSynchronize());
    printf("between\n");
    greet<<<1, 32>>>(2);
    CHECK(cudaDeviceSynchronize());
    int *data, n = 200, result[400];
    CHECK(cudaMalloc(&data, sizeof result));
    void *both[] = {&data, &n};
    CHECK(cudaLaunchCooperativeKernel((void *)phases, 4, 64, both, 0, 0));
    CHECK(cudaMemcpy(result, data, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(result[n + i] == n - 1 - i);
    puts("launches are right");
    return 0;
}
