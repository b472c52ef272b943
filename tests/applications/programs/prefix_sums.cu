// Prefix sums of any length: shuffles in warps, warps in CTAs, and as many levels of CTAs as it takes, by recursion on the host.
#include <vector>
#include "check.h"

const int THREADS = 64;

__global__ void scan(const int *in, int *out, int *totals, int n) {
    __shared__ int warps[THREADS / 32];
    int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int own = i < n ? in[i] : 0, sum = own;
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(~0u, sum, d);
        sum += lane >= d ? other : 0;
    }
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    for (int k = 0; k < warp; k++)
        sum += warps[k];
    if (i < n)
        out[i] = sum - own;
    if (threadIdx.x == THREADS - 1)
        totals[blockIdx.x] = sum;
}
__global__ void add(int *out, const int *starts, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        out[i] += starts[blockIdx.x];
}

int levels;

void prefix_sums(const int *in, int *out, int n) {
    int ctas = (n + THREADS - 1) / THREADS, *totals, *starts;
    levels++;
    CHECK(cudaMalloc(&totals, ctas * sizeof(int)));
    scan<<<ctas, THREADS>>>(in, out, totals, n);
    if (ctas > 1) {
        CHECK(cudaMalloc(&starts, ctas * sizeof(int)));
        prefix_sums(totals, starts, ctas);
        add<<<ctas, THREADS>>>(out, starts, n);
        CHECK(cudaFree(starts));
    }
    CHECK(cudaFree(totals));
}

int main() {
    for (int n : {1, 64, 65, 4097, 9999}) {
        std::vector<int> values(n), result(n);
        for (int i = 0; i < n; i++)
            values[i] = i % 7 - 2;
        int *in, *out, sum = 0;
        CHECK(cudaMalloc(&in, n * sizeof(int)));
        CHECK(cudaMalloc(&out, n * sizeof(int)));
        CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
        levels = 0;
        prefix_sums(in, out, n);
        CHECK(cudaMemcpy(result.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; sum += values[i++])
            EXPECT(result[i] == sum);
        EXPECT(levels == (n > 4096 ? 3 : n > 64 ? 2 : 1));
        CHECK(cudaFree(in));
        CHECK(cudaFree(out));
    }
    puts("sums are right");
    return 0;
}
