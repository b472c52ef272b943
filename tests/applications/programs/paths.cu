// The cheapest way down a grid: several rows a launch in dynamic shared memory, whose size the program asks for.
#include <algorithm>
#include <vector>
#include "check.h"

__global__ void descend(const int *costs, const int *from, int *to, int columns, int rows, int halo) {
    extern __shared__ int shared[];
    int *now = shared, *next = shared + blockDim.x, t = threadIdx.x;
    int column = blockIdx.x * ((int)blockDim.x - 2 * halo) + t - halo;
    bool inside = column >= 0 && column < columns;
    now[t] = inside ? from[column] : 1 << 29;
    __syncthreads();
    for (int row = 0; row < rows; row++) {
        int least = now[t];
        if (t > 0)
            least = min(least, now[t - 1]);
        if (t + 1 < (int)blockDim.x)
            least = min(least, now[t + 1]);
        next[t] = inside ? least + costs[row * columns + column] : 1 << 29;
        __syncthreads();
        int *swapped = now;
        now = next;
        next = swapped;
    }
    if (inside && t >= halo && t < (int)blockDim.x - halo)
        to[column] = now[t];
}

int main() {
    const int columns = 1000, rows = 41, step = 10, threads = 256;
    std::vector<int> costs(columns * rows), best(costs.begin(), costs.begin() + columns), result(columns);
    for (int i = 0; i < columns * rows; i++)
        costs[i] = i * 7919 % 1009 % 10;
    best.assign(costs.begin(), costs.begin() + columns);
    for (int y = 1; y < rows; y++) {
        std::vector<int> above = best;
        for (int x = 0; x < columns; x++)
            best[x] = costs[y * columns + x] +
                      std::min({above[x], above[std::max(x - 1, 0)], above[std::min(x + 1, columns - 1)]});
    }
    int *device_costs, *lines[2];
    size_t available;
    CHECK(cudaMalloc(&device_costs, costs.size() * sizeof(int)));
    for (int *&line : lines)
        CHECK(cudaMalloc(&line, columns * sizeof(int)));
    CHECK(cudaMemcpy(device_costs, costs.data(), costs.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(lines[0], costs.data(), columns * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&available, descend, 1, threads));
    size_t bytes = 2 * threads * sizeof(int);
    EXPECT(available >= bytes);
    CHECK(cudaFuncSetAttribute(descend, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    const int width = threads - 2 * step;
    for (int y = 1, k = 0; y < rows; y += step, k ^= 1)
        descend<<<(columns + width - 1) / width, threads, bytes>>>(device_costs + y * columns, lines[k], lines[k ^ 1], columns,
                                                                   std::min(step, rows - y), step);
    CHECK(cudaMemcpy(result.data(), lines[(rows - 1 + step - 1) / step % 2], columns * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(result == best);
    const char *name;
    cudaFunction_t function;
    size_t offset, size;
    CHECK(cudaFuncGetName(&name, (void *)descend));
    EXPECT(name[0] == '_' && name[1] == 'Z');
    CHECK(cudaGetFuncBySymbol(&function, (void *)descend));
    CHECK(cudaFuncGetParamInfo((void *)descend, 4, &offset, &size));
    EXPECT(offset == 28 && size == 4);
    EXPECT(cudaFuncGetParamInfo((void *)descend, 6, &offset, &size) == cudaErrorInvalidValue);
    puts("paths are right");
    return 0;
}
