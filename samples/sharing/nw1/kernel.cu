// Needleman-Wunsch: the scores of the tiles on one anti-diagonal of the score matrix, in its upper left half (Rodinia: nw,
// needle_cuda_shared_1). A score is the best of its upper left neighbour plus the similarity of two letters, and of its left
// and its upper neighbour minus the penalty of a gap. 16 threads, half a warp, sweep a tile of 16 x 16 scores along its
// anti-diagonals, in 2180 bytes of scratchpad: scores with a border, and similarities. A launch is one diagonal of `diagonal`
// tiles; the matrix has `columns` columns, `tiles` tiles in a row. Loops with barriers are not unrolled: unrolled, they would need
// 15 predicates, of which the papers' machine code has four.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#define SIDE 16

__device__ int largest(int a, int b, int c)
{
    const int two = a <= b ? b : a;
    return two <= c ? c : two;
}

extern "C" __global__ void needle_cuda_shared_1(int *similarity, int *score, int columns, int penalty, int diagonal, int tiles)
{
    __shared__ int temp[SIDE + 1][SIDE + 1];
    __shared__ int ref[SIDE][SIDE];
    const int t = threadIdx.x;
    const int tile_x = blockIdx.x, tile_y = diagonal - 1 - blockIdx.x;
    const int corner = columns * SIDE * tile_y + SIDE * tile_x; // above and left of the tile
    const int at = corner + t + columns + 1;

    if (t == 0) temp[t][0] = score[corner];
    for (int y = 0; y < SIDE; y++) ref[y][t] = similarity[at + columns * y];
    __syncthreads();
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
