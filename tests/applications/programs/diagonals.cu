// A matrix swept by anti-diagonals of tiles, one launch each, as dynamic programming does; then steps that are all alike.
#include "check.h"

const int TILE = 16;

__global__ void sweep(int *score, const int *cost, int n, int diagonal, int first) {
    __shared__ int tile[TILE + 1][TILE + 1];
    int by = first + blockIdx.x, bx = diagonal - by, t = threadIdx.x;
    int *corner = score + by * TILE * n + bx * TILE;
    for (int row = 0; row < TILE; row++)
        tile[row + 1][t + 1] = cost[(by * TILE + row) * n + bx * TILE + t];
    tile[t + 1][0] = bx ? corner[t * n - 1] : 0;
    tile[0][t + 1] = by ? corner[t - n] : 0;
    if (t == 0)
        tile[0][0] = bx && by ? corner[-n - 1] : 0;
    __syncthreads();
    for (int step = 0; step < 2 * TILE - 1; step++) {
        int x = t, y = step - t;
        if (y >= 0 && y < TILE)
            tile[y + 1][x + 1] += max(tile[y][x], max(tile[y + 1][x], tile[y][x + 1]));
        __syncthreads();
    }
    for (int row = 0; row < TILE; row++)
        corner[row * n + t] = tile[row + 1][t + 1];
}

__global__ void relax(const int *in, int *out, int n, int step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0 && step == 1)
        printf("the second step\n");
    if (i > 0 && i < n - 1)
        out[i] = (in[i - 1] + in[i] + in[i + 1]) & 0xffff;
}

int main(int argc, char **argv) {
    int tiles = argc > 1 ? atoi(argv[1]) : 4, n = tiles * TILE, steps = argc > 2 ? atoi(argv[2]) : 20;
    int *cost = (int *)malloc(n * n * sizeof(int)), *expected = (int *)calloc((n + 1) * (n + 1), sizeof(int));
    for (int i = 0; i < n * n; i++)
        cost[i] = i * 7 % 10;
    int *score, *device_cost, *other;
    CHECK(cudaMalloc(&score, n * n * sizeof(int)));
    CHECK(cudaMalloc(&other, n * n * sizeof(int)));
    CHECK(cudaMalloc(&device_cost, n * n * sizeof(int)));
    CHECK(cudaMemset(other, 0, n * n * sizeof(int)));
    CHECK(cudaMemcpy(device_cost, cost, n * n * sizeof(int), cudaMemcpyHostToDevice));
    for (int diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        int first = diagonal < tiles ? 0 : diagonal - tiles + 1;
        int last = diagonal < tiles ? diagonal : tiles - 1;
        sweep<<<last - first + 1, TILE>>>(score, device_cost, n, diagonal, first);
    }
    for (int y = 1; y <= n; y++)
        for (int x = 1; x <= n; x++) {
            int *at = expected + y * (n + 1) + x;
            *at = cost[(y - 1) * n + x - 1] + max(at[-n - 2], max(at[-1], at[-n - 1]));
        }
    int *found = (int *)malloc(n * n * sizeof(int));
    CHECK(cudaMemcpy(found, score, n * n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            EXPECT(found[y * n + x] == expected[(y + 1) * (n + 1) + x + 1]);
    for (int step = 0; step < steps; step++)
        relax<<<n * n / 256, 256>>>(step % 2 ? other : score, step % 2 ? score : other, n * n, step);
    for (int step = 0; step < steps; step++)
        for (int i = 1, left = step % 2 ? 0 : found[0], old; i < n * n - 1; i++, left = old) {
            old = found[i];
            found[i] = (left + old + (i + 1 < n * n - 1 ? found[i + 1] : step % 2 ? 0 : found[n * n - 1])) & 0xffff;
        }
    int *relaxed = (int *)malloc(n * n * sizeof(int));
    CHECK(cudaMemcpy(relaxed, steps % 2 ? other : score, n * n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 1; i < n * n - 1; i++)
        EXPECT(relaxed[i] == found[i]);
    puts("scores are right");
    return 0;
}
