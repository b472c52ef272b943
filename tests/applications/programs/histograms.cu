// Histograms: of warps in shared memory, merged with atomics; 64-bit sums, extremes and compare-and-swap as well.
#include <algorithm>
#include <vector>
#include "check.h"

struct Summary { unsigned long long sum; int least, greatest; float largest_product; unsigned bits; };

__device__ void atomic_max(float *place, float value) {
    int *bits = (int *)place, old = *bits;
    while (__int_as_float(old) < value) {
        int assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(value));
        if (old == assumed)
            break;
    }
}
__global__ void count(const unsigned char *data, int n, unsigned *bins, Summary *summary) {
    __shared__ unsigned own[4][256];
    for (int k = threadIdx.x; k < 4 * 256; k += blockDim.x)
        own[k / 256][k % 256] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[threadIdx.x / 32][data[i]], 1);
        atomicAdd(&summary->sum, (unsigned long long)data[i] << 30);
        atomicMin(&summary->least, data[i]);
        atomicMax(&summary->greatest, data[i]);
        atomicOr(&summary->bits, 1u << data[i] % 32);
        atomic_max(&summary->largest_product, data[i] * 0.5f);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        if (unsigned sum = own[0][k] + own[1][k] + own[2][k] + own[3][k])
            atomicAdd(&bins[k], sum);
}

int main() {
    const int n = 20000;
    std::vector<unsigned char> data(n);
    std::vector<unsigned> bins(256), expected(256);
    Summary summary = {0, 1 << 30, -1, 0, 0}, wanted = summary;
    for (int i = 0; i < n; i++) {
        data[i] = 20 + i * i % 199;
        expected[data[i]]++;
        wanted.sum += (unsigned long long)data[i] << 30;
        wanted.bits |= 1u << data[i] % 32;
        wanted.least = std::min(wanted.least, (int)data[i]);
        wanted.greatest = std::max(wanted.greatest, (int)data[i]);
    }
    unsigned char *device;
    unsigned *device_bins;
    Summary *device_summary;
    CHECK(cudaMalloc(&device, n));
    CHECK(cudaMalloc(&device_bins, 256 * sizeof(unsigned)));
    CHECK(cudaMalloc(&device_summary, sizeof summary));
    CHECK(cudaMemcpy(device, data.data(), n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_bins, 0, 256 * sizeof(unsigned)));
    CHECK(cudaMemcpy(device_summary, &summary, sizeof summary, cudaMemcpyHostToDevice));
    count<<<6, 128>>>(device, n, device_bins, device_summary);
    CHECK(cudaMemcpy(bins.data(), device_bins, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&summary, device_summary, sizeof summary, cudaMemcpyDeviceToHost));
    EXPECT(bins == expected);
    EXPECT(summary.sum == wanted.sum && summary.bits == wanted.bits);
    EXPECT(summary.least == wanted.least && summary.greatest == wanted.greatest);
    EXPECT(summary.largest_product == wanted.greatest * 0.5f);
    puts("counts are right");
    return 0;
}
