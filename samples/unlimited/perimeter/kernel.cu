// LU decomposition by tiles of 16 x 16, the tiles beside and below a diagonal tile that is decomposed already: half of a warp solves
// the tile of the row, each thread a column of it, the other half that of the column, each thread a row.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#define SIDE 16

extern "C" __global__ void perimeter(float *m, int n, int offset)
{
    __shared__ float diagonal[SIDE][SIDE], of_row[SIDE][SIDE], of_column[SIDE][SIDE];
    const bool is_row = threadIdx.x < SIDE;
    const int lane = is_row ? threadIdx.x : threadIdx.x - SIDE;
    const int far = offset + (blockIdx.x + 1) * SIDE;

    if (is_row) {
#pragma unroll 1
        for (int i = 0; i < SIDE / 2; i++) diagonal[i][lane] = m[(offset + i) * n + offset + lane];
#pragma unroll 1
        for (int i = 0; i < SIDE; i++) of_row[i][lane] = m[(offset + i) * n + far + lane];
    } else {
#pragma unroll 1
        for (int i = SIDE / 2; i < SIDE; i++) diagonal[i][lane] = m[(offset + i) * n + offset + lane];
#pragma unroll 1
        for (int i = 0; i < SIDE; i++) of_column[i][lane] = m[(far + i) * n + offset + lane];
    }
    __syncthreads();
    if (is_row) {
#pragma unroll 1
        for (int i = 1; i < SIDE; i++)
#pragma unroll 1
            for (int j = 0; j < i; j++) of_row[i][lane] -= diagonal[i][j] * of_row[j][lane];
    } else {
#pragma unroll 1
        for (int i = 0; i < SIDE; i++) {
#pragma unroll 1
            for (int j = 0; j < i; j++) of_column[lane][i] -= of_column[lane][j] * diagonal[j][i];
            of_column[lane][i] /= diagonal[i][i];
        }
    }
    __syncthreads();
    if (is_row) {
#pragma unroll 1
        for (int i = 1; i < SIDE; i++) m[(offset + i) * n + far + lane] = of_row[i][lane];
    } else {
#pragma unroll 1
        for (int i = 0; i < SIDE; i++) m[(far + i) * n + offset + lane] = of_column[i][lane];
    }
}
