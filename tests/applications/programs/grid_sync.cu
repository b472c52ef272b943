// Jacobi's method in one cooperative launch: CTAs wait for each other in every round; tiles, votes and shuffles of groups.
#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <vector>
#include "check.h"

namespace cg = cooperative_groups;
const int N = 200;

__device__ __host__ float coefficient(int row, int column) { return row == column ? 8.0f : (row + column) % 5 == 0 ? 1.0f / 64 : 0; }

__global__ void solve(const float *b, float *x, float *next, float *residual, int *rounds) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    __shared__ float largest[4];
    for (int round = 1; round <= 40; round++) {
        int row = grid.thread_rank();
        float change = 0;
        if (row < N) {
            float sum = b[row];
            for (int column = 0; column < N; column++)
                if (column != row)
                    sum -= coefficient(row, column) * x[column];
            next[row] = sum / coefficient(row, row);
            change = fabsf(next[row] - x[row]);
        }
        change = cg::reduce(warp, change, cg::greater<float>());
        if (warp.thread_rank() == 0)
            largest[warp.meta_group_rank()] = change;
        block.sync();
        if (block.thread_rank() == 0)
            residual[blockIdx.x] = fmaxf(fmaxf(largest[0], largest[1]), fmaxf(largest[2], largest[3]));
        grid.sync();
        float all = 0;
        for (unsigned k = 0; k < gridDim.x; k++)
            all = fmaxf(all, residual[k]);
        float *swapped = x;
        x = next;
        next = swapped;
        if (row == 0)
            *rounds = round;
        if (all < 1e-5f)
            break;
        grid.sync();
    }
}

int main() {
    std::vector<float> b(N), x(N);
    for (int i = 0; i < N; i++)
        b[i] = 1 + i % 3;
    float *device_b, *device_x, *next, *residual;
    int *rounds, n_rounds, ctas, can;
    const int threads = 128, grid = (N + threads - 1) / threads;
    CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, solve, threads, 0));
    EXPECT(can && ctas >= 1);
    CHECK(cudaMalloc(&device_b, N * sizeof(float)));
    CHECK(cudaMalloc(&device_x, N * sizeof(float)));
    CHECK(cudaMalloc(&next, N * sizeof(float)));
    CHECK(cudaMalloc(&residual, grid * sizeof(float)));
    CHECK(cudaMalloc(&rounds, sizeof(int)));
    CHECK(cudaMemcpy(device_b, b.data(), N * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_x, 0, N * sizeof(float)));
    void *arguments[] = {&device_b, &device_x, &next, &residual, &rounds};
    CHECK(cudaLaunchCooperativeKernel((void *)solve, grid, threads, arguments, 0, 0));
    CHECK(cudaMemcpy(&n_rounds, rounds, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(n_rounds > 2 && n_rounds < 40);
    CHECK(cudaMemcpy(x.data(), n_rounds % 2 ? next : device_x, N * sizeof(float), cudaMemcpyDeviceToHost));
    for (int row = 0; row < N; row++) {
        double sum = 0;
        for (int column = 0; column < N; column++)
            sum += coefficient(row, column) * x[column];
        EXPECT(std::fabs(sum - b[row]) < 1e-4);
    }
    puts("solutions are right");
    return 0;
}
