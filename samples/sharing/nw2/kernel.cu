// Needleman-Wunsch: the scores of the tiles on one anti-diagonal of the score matrix, in its lower right half (Rodinia: nw,
// needle_cuda_shared_2). As samples/sharing/nw1, but the similarities are loaded before the corner of the border.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#define SIDE 16

__device__ int largest(int a, int b, int c)
{
    const int two = a <= b ? b : a;
    return two <= c ? c : two;
}

extern "C" __global__ void needle_cuda_shared_2(int *similarity, int *score, int columns, int penalty, int diagonal, int tiles)
{
    __shared__ int temp[SIDE + 1][SIDE + 1];
    __shared__ int ref[SIDE][SIDE];
    const int t = threadIdx.x;
    const int tile_x = blockIdx.x + tiles - diagonal, tile_y = tiles - blockIdx.x - 1;
    const int corner = columns * SIDE * tile_y + SIDE * tile_x; // above and left of the tile
    const int at = corner + t + columns + 1;

    for (int y = 0; y < SIDE; y++) ref[y][t] = similarity[at + columns * y];
    __syncthreads();
    if (t == 0) temp[t][0] = score[corner];
    temp[t + 1][0] = score[corner + columns + columns * t];
    __syncthreads();
    temp[0][t + 1] = score[corner + t + 1];
    __syncthreads();

#pragma unroll 1
    for (int m = 0; m < SIDE; m++) { // diagonals of the upper left half of the tile
        if (t <= m) {
            const int x = t + 1, y = m - t + 1;
            temp[y][x] = largest(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }
#pragma unroll 1
    for (int m = SIDE - 2; m >= 0; m--) { // of the lower right half
        if (t <= m) {
            const int x = t + SIDE - m, y = SIDE - t;
            temp[y][x] = largest(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int y = 0; y < SIDE; y++) score[at + y * columns] = temp[y + 1][t + 1];
}
