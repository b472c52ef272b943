// Alignment of two sequences: tiles of a table, a launch for each diagonal of tiles, a wavefront within each tile.
#include <algorithm>
#include <vector>
#include "check.h"

const int TILE = 16, N = 96, GAP = 3;

__device__ __host__ int score(char a, char b) { return a == b ? 5 : -2; }

__global__ void fill_diagonal(int *table, const char *first, const char *second, int diagonal, int top) {
    __shared__ int tile[TILE + 1][TILE + 1];
    int row = top + blockIdx.x, column = diagonal - row, t = threadIdx.x;
    int *corner = table + row * TILE * (N + 1) + column * TILE;
    tile[0][t + 1] = corner[t + 1];
    tile[t + 1][0] = corner[(t + 1) * (N + 1)];
    if (t == 0)
        tile[0][0] = corner[0];
    __syncthreads();
    for (int step = 0; step < 2 * TILE - 1; step++) {
        int x = step - t;
        if (x >= 0 && x < TILE) {
            int match = tile[t][x] + score(first[row * TILE + t], second[column * TILE + x]);
            tile[t + 1][x + 1] = max(match, max(tile[t][x + 1], tile[t + 1][x]) - GAP);
        }
        __syncthreads();
    }
    for (int y = 1; y <= TILE; y++)
        corner[y * (N + 1) + t + 1] = tile[y][t + 1];
}

int main() {
    std::vector<char> first(N), second(N);
    std::vector<int> table((N + 1) * (N + 1)), expected;
    for (int i = 0; i < N; i++) {
        first[i] = "ACGT"[i * i % 7 % 4];
        second[i] = "ACGT"[(i * i * i + 1) % 11 % 4];
    }
    for (int i = 0; i <= N; i++)
        table[i] = table[i * (N + 1)] = -GAP * i;
    expected = table;
    for (int y = 1; y <= N; y++)
        for (int x = 1; x <= N; x++) {
            int *at = &expected[y * (N + 1) + x];
            at[0] = std::max(at[-N - 2] + score(first[y - 1], second[x - 1]), std::max(at[-N - 1], at[-1]) - GAP);
        }
    int *device_table;
    char *letters;
    CHECK(cudaMalloc(&device_table, table.size() * sizeof(int)));
    CHECK(cudaMalloc(&letters, 2 * N));
    CHECK(cudaMemcpy(device_table, table.data(), table.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(letters, first.data(), N, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(letters + N, second.data(), N, cudaMemcpyHostToDevice));
    const int tiles = N / TILE;
    for (int diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        int top = std::max(0, diagonal - tiles + 1), bottom = std::min(diagonal, tiles - 1);
        fill_diagonal<<<bottom - top + 1, TILE>>>(device_table, letters, letters + N, diagonal, top);
    }
    CHECK(cudaMemcpy(table.data(), device_table, table.size() * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(table == expected);
    puts("alignments are right");
    return 0;
}
