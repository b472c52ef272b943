// Sorting: bitonic, a launch for each step, and by digits, with a scan of the counts of every digit and CTA.
#include <algorithm>
#include <vector>
#include "check.h"

__global__ void bitonic(unsigned *keys, int distance, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ distance;
    if (other > i && (keys[i] > keys[other]) == ((i & length) == 0)) {
        unsigned swapped = keys[i];
        keys[i] = keys[other];
        keys[other] = swapped;
    }
}

const int DIGITS = 16, THREADS = 128;

__global__ void count(const unsigned *keys, int shift, int *counts) {
    __shared__ int own[DIGITS];
    if (threadIdx.x < DIGITS)
        own[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&own[keys[blockIdx.x * THREADS + threadIdx.x] >> shift & DIGITS - 1], 1);
    __syncthreads();
    if (threadIdx.x < DIGITS)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = own[threadIdx.x];
}
__global__ void scan(int *counts, int n) { // one CTA, exclusive
    __shared__ int sums[2][256];
    int t = threadIdx.x, now = 0;
    sums[0][t] = t < n ? counts[t] : 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2, now ^= 1) {
        sums[now ^ 1][t] = sums[now][t] + (t >= d ? sums[now][t - d] : 0);
        __syncthreads();
    }
    if (t < n)
        counts[t] = t ? sums[now][t - 1] : 0;
}
__global__ void scatter(const unsigned *keys, int shift, const int *starts, unsigned *out) {
    __shared__ unsigned char digits[THREADS];
    unsigned key = keys[blockIdx.x * THREADS + threadIdx.x], digit = key >> shift & DIGITS - 1;
    digits[threadIdx.x] = digit;
    __syncthreads();
    int rank = 0;
    for (unsigned k = 0; k < threadIdx.x; k++)
        rank += digits[k] == digit;
    out[starts[digit * gridDim.x + blockIdx.x] + rank] = key;
}

int main() {
    const int n = 1024, ctas = n / THREADS;
    std::vector<unsigned> keys(n), expected, result(n);
    for (int i = 0; i < n; i++)
        keys[i] = i * 2654435761u ^ 0x5bd1e995u;
    expected = keys;
    std::sort(expected.begin(), expected.end());
    unsigned *device, *other;
    int *counts;
    CHECK(cudaMalloc(&device, n * sizeof(unsigned)));
    CHECK(cudaMalloc(&other, n * sizeof(unsigned)));
    CHECK(cudaMalloc(&counts, DIGITS * ctas * sizeof(int)));
    CHECK(cudaMemcpy(device, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    for (int length = 2; length <= n; length *= 2)
        for (int distance = length / 2; distance; distance /= 2)
            bitonic<<<n / 256, 256>>>(device, distance, length);
    CHECK(cudaMemcpy(result.data(), device, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    EXPECT(result == expected);
    CHECK(cudaMemcpy(device, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    for (int shift = 0; shift < 32; shift += 4) {
        count<<<ctas, THREADS>>>(device, shift, counts);
        scan<<<1, 256>>>(counts, DIGITS * ctas);
        scatter<<<ctas, THREADS>>>(device, shift, counts, other);
        std::swap(device, other);
    }
    CHECK(cudaMemcpy(result.data(), device, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    EXPECT(result == expected);
    puts("orders are right");
    return 0;
}
