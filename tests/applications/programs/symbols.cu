// Variables of a module: constants, device variables and managed ones, by name and by address, both ways.
#include "check.h"

struct Weights {
    double scale;
    int shift[3];
};

__constant__ Weights weights;
__constant__ int table[4] = {1, 10, 100, 1000};
__device__ int counter = 7;
__device__ float field[64];
__managed__ int shared_by_both = 5;

__global__ void apply(int *out) {
    int i = threadIdx.x;
    field[i] = float(weights.scale * i) + weights.shift[i % 3];
    out[i] = table[i % 4];
    if (i == 0) {
        counter += 1;
        shared_by_both *= 2;
    }
}

int main() {
    Weights host = {0.5, {1, 2, 3}};
    CHECK(cudaMemcpyToSymbol(weights, &host, sizeof host));
    int third = 300, *out;
    CHECK(cudaMemcpyToSymbol(table, &third, sizeof third, 2 * sizeof third));
    CHECK(cudaMallocManaged(&out, 64 * sizeof *out));
    shared_by_both += 1;
    apply<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    float result[64];
    int count;
    CHECK(cudaMemcpyFromSymbol(result, field, sizeof result));
    CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    for (int i = 0; i < 64; i++) {
        EXPECT(result[i] == 0.5f * i + (i % 3 + 1));
        EXPECT(out[i] == (i % 4 == 0 ? 1 : i % 4 == 1 ? 10 : i % 4 == 2 ? 300 : 1000));
    }
    EXPECT(count == 8 && shared_by_both == 12);
    void *address;
    size_t bytes;
    CHECK(cudaGetSymbolAddress(&address, field));
    CHECK(cudaGetSymbolSize(&bytes, field));
    EXPECT(bytes == sizeof result);
    CHECK(cudaMemset(address, 0, bytes));
    CHECK(cudaMemcpyFromSymbol(result, field, sizeof(float), 63 * sizeof(float)));
    EXPECT(result[0] == 0);
    CHECK(cudaGetSymbolAddress(&address, table));
    int fourth = 0;
    CHECK(cudaMemcpy(&fourth, (int *)address + 3, sizeof fourth, cudaMemcpyDeviceToHost));
    EXPECT(fourth == 1000);
    EXPECT(cudaMemcpyToSymbol(counter, result, 2 * sizeof count) == cudaErrorInvalidValue);
    CHECK(cudaFree(out));
    puts("variables are right");
    return 0;
}
