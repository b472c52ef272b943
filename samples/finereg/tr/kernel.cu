// The transpose of a matrix (CUDA SDK: transpose). A block has four tiles side by side: all are loaded into registers, then one
// after the other goes through shared memory, which has a spare column against bank conflicts.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define TILE 32
#define ROWS 4 // rows of threads
#define TILES 4
#define OWN (TILE / ROWS) // elements of a tile that a thread moves

extern "C" __global__ void transpose(int width, int height, const float *matrix, float *out)
{
    __shared__ float tile[TILE][TILE + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * TILE * TILES, row = blockIdx.y * TILE;
    float held[TILES][OWN];
#pragma unroll
    for (int t = 0; t < TILES; t++)
#pragma unroll
        for (int k = 0; k < OWN; k++) held[t][k] = matrix[(row + y + k * ROWS) * width + column + t * TILE + x];
#pragma unroll
    for (int t = 0; t < TILES; t++) {
        if (t > 0) __syncthreads();
#pragma unroll
        for (int k = 0; k < OWN; k++) tile[y + k * ROWS][x] = held[t][k];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < OWN; k++)
            out[(column + t * TILE + y + k * ROWS) * height + row + x] = tile[x][y + k * ROWS];
    }
}
