// What was written to device memory and what was not, over several launches. Launches 6 and 8 read what was not.
#include "check.h"

__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; }
__global__ void add(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

int main() {
    int *a, *b, *c, *pinned, *managed;
    CHECK(cudaMalloc(&a, 256));
    CHECK(cudaMalloc(&b, 256));
    CHECK(cudaMalloc(&c, 256));
    CHECK(cudaMallocHost(&pinned, 256));
    CHECK(cudaMallocManaged(&managed, 256));
    fill<<<1, 64>>>(a);
    add<<<1, 64>>>(a, b);
    for (int i = 0; i < 64; i++)
        pinned[i] = managed[i] = i;
    add<<<1, 64>>>(pinned, b);
    add<<<1, 64>>>(managed, b);
    fill<<<1, 32>>>(c);
    CHECK(cudaMemcpy(b, c, 256, cudaMemcpyDeviceToDevice));
    add<<<1, 64>>>(b, a); // the second half of `c` came along
    CHECK(cudaMemset(c, 0, 256));
    add<<<1, 64>>>(c, b);
    CHECK(cudaFree(c));
    CHECK(cudaMalloc(&c, 256)); // the same place, with contents that are undefined again
    add<<<1, 64>>>(c, b);
    CHECK(cudaDeviceSynchronize());
    puts("all launches");
    return 0;
}
