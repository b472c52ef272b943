// What kernels print, in many formats; then an assertion that fails, after which every call returns its error.
#include <cassert>
#include "check.h"

__global__ void print(const char *name, double value) {
    if (threadIdx.x == 1)
        printf("%s %5.2f|%-6d|%06x|%c|%%|%lld|%g\n", name, value, 42, 0xbeef, 'x', -1234567890123ll, 1e-7);
}
__global__ void check(const int *values, int limit) {
    int own = values[threadIdx.x];
    assert(own < limit && "too large");
}

int main() {
    char *name;
    int *values, host[64];
    CHECK(cudaMalloc(&name, 16));
    CHECK(cudaMemcpy(name, "value", 6, cudaMemcpyHostToDevice));
    print<<<2, 32>>>(name, 3.14159);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        host[i] = i;
    CHECK(cudaMalloc(&values, sizeof host));
    CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    check<<<1, 64>>>(values, 64);
    CHECK(cudaDeviceSynchronize());
    check<<<1, 64>>>(values, 63);
    EXPECT(cudaDeviceSynchronize() == cudaErrorAssert);
    EXPECT(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorAssert);
    EXPECT(cudaGetLastError() == cudaErrorAssert && cudaGetLastError() == cudaErrorAssert);
    puts("messages are right");
    return 0;
}
