// Needleman-Wunsch: the scores of the tiles on one anti-diagonal of the score matrix, in the upper left half of the matrix.
// A score is the best of its upper left neighbour plus the similarity of two letters, and of its left and its upper neighbour
// minus the penalty of a gap. 16 threads sweep a tile of 16 x 16 scores along its anti-diagonals, in 2180 bytes of scratchpad:
// similarities, and scores with a border. blockIdx.x is the tile on the diagonal, blockIdx.y the alignment of a batch;
// a score matrix has 16 * tiles + 1 rows and columns. gridDim.x tiles are on the diagonal. Loads of a tile stand before the
// first store, where a compiler to machine code moves them.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define SIDE 16

extern "C" __global__ void nw1(const int *similarity, int *score, int tiles, int penalty)
{
    __shared__ int temp[SIDE + 1][SIDE + 1];
    __shared__ int ref[SIDE][SIDE];
    const int t = threadIdx.x;
    const int width = tiles * SIDE + 1;
    const int column = blockIdx.x, row = gridDim.x - 1 - blockIdx.x;
    const int corner = (blockIdx.y * width + row * SIDE) * width + column * SIDE; // above and left of the tile
    if (t == 0) temp[0][0] = score[corner];
    int letters[SIDE];
#pragma unroll
    for (int y = 0; y < SIDE; y++) letters[y] = similarity[corner + (y + 1) * width + t + 1];
#pragma unroll
    for (int y = 0; y < SIDE; y++) ref[y][t] = letters[y];
    __syncthreads();
    temp[t + 1][0] = score[corner + (t + 1) * width];
    __syncthreads();
    temp[0][t + 1] = score[corner + t + 1];
    __syncthreads();
#pragma unroll 1
    for (int d = 0; d < SIDE; d++) { // diagonals of the upper left half
        if (t <= d) {
            const int x = t + 1, y = d - t + 1;
            temp[y][x] = max(temp[y - 1][x - 1] + ref[y - 1][x - 1],
                             max(temp[y][x - 1] - penalty, temp[y - 1][x] - penalty));
        }
        __syncthreads();
    }
#pragma unroll 1
    for (int d = SIDE - 2; d >= 0; d--) { // of the lower right half
        if (t <= d) {
            const int x = t + SIDE - d, y = SIDE - t;
            temp[y][x] = max(temp[y - 1][x - 1] + ref[y - 1][x - 1],
                             max(temp[y][x - 1] - penalty, temp[y - 1][x] - penalty));
        }
        __syncthreads();
    }
#pragma unroll
    for (int y = 0; y < SIDE; y++) score[corner + (y + 1) * width + t + 1] = temp[y + 1][t + 1];
}
