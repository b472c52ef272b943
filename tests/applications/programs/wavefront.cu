// Many launches on one matrix, each of which changes a small part of it: scores of an alignment, a diagonal of tiles at a
// time. The argument is the size of the matrix.
#include "check.h"
#include <vector>

const int TILE = 16;

__host__ __device__ inline int better(int a, int b) {
    return a > b ? a : b;
}

__global__ void diagonal(int *score, const int *likeness, int width, int first, int diagonal) {
    int row = (first + blockIdx.x) * TILE + threadIdx.x + 1, tile = (diagonal - first - blockIdx.x) * TILE;
    for (int step = 0; step < 2 * TILE - 1; step++) {
        int column = tile + step - threadIdx.x + 1, k = row * width + column;
        if (column > tile && column <= tile + TILE)
            score[k] = better(score[k - width - 1] + likeness[k], better(score[k - 1], score[k - width]) - 10);
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 64, width = n + 1, tiles = n / TILE;
    std::vector<int> likeness(width * width), score(width * width), expected;
    unsigned random = 7;
    for (int &each : likeness)
        each = int((random = random * 1664525 + 1013904223) >> 24) % 20 - 10;
    for (int i = 1; i < width; i++)
        score[i] = score[i * width] = -10 * i;
    expected = score;
    int *device_score, *device_likeness;
    const size_t bytes = score.size() * sizeof(int);
    CHECK(cudaMalloc(&device_score, bytes));
    CHECK(cudaMalloc(&device_likeness, bytes));
    CHECK(cudaMemcpy(device_score, score.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_likeness, likeness.data(), bytes, cudaMemcpyHostToDevice));
    for (int d = 0; d < 2 * tiles - 1; d++) {
        int first = d < tiles ? 0 : d - tiles + 1, last = d < tiles ? d : tiles - 1;
        diagonal<<<last - first + 1, TILE>>>(device_score, device_likeness, width, first, d);
    }
    CHECK(cudaMemcpy(score.data(), device_score, bytes, cudaMemcpyDeviceToHost));
    for (int i = 1; i < width; i++)
        for (int j = 1; j < width; j++) {
            int k = i * width + j;
            expected[k] = better(expected[k - width - 1] + likeness[k], better(expected[k - 1], expected[k - width]) - 10);
        }
    EXPECT(score == expected);
    puts("scores are right");
    return 0;
}
