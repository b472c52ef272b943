// Game of life on a torus: 16 x 16 cells per CTA and their halo in shared memory.
extern "C" __global__ void life(const unsigned char *in, unsigned char *out, int width, int height)
{
    __shared__ unsigned char cell[18][18];
    int x0 = 16 * blockIdx.x - 1, y0 = 16 * blockIdx.y - 1;
    for (int k = threadIdx.y * 16 + threadIdx.x; k < 18 * 18; k += 256) {
        int x = (x0 + k % 18 + width) % width, y = (y0 + k / 18 + height) % height;
        cell[k / 18][k % 18] = in[y * width + x];
    }
    __syncthreads();
    int x = threadIdx.x + 1, y = threadIdx.y + 1, around = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            around += cell[y + dy][x + dx];
    bool alive = around == 3 || (around == 4 && cell[y][x]);
    if (x0 + x < width && y0 + y < height)
        out[(y0 + y) * width + x0 + x] = alive;
}

// Heat in a plate, several steps in shared memory with a border of fixed values; f32, no contraction of the sums.
extern "C" __global__ void heat(float *plate, int steps)
{
    __shared__ float now[2][32][33];
    int x = threadIdx.x, from = 0;
    for (int y = threadIdx.y; y < 32; y += blockDim.y)
        now[0][y][x] = now[1][y][x] = plate[32 * y + x];
    for (int step = 0; step < steps; step++, from ^= 1) {
        __syncthreads();
        for (int y = threadIdx.y; y < 32; y += blockDim.y)
            if (x > 0 && x < 31 && y > 0 && y < 31)
                now[from ^ 1][y][x] = __fmul_rn(
                    0.25f, __fadd_rn(__fadd_rn(now[from][y][x - 1], now[from][y][x + 1]),
                                     __fadd_rn(now[from][y - 1][x], now[from][y + 1][x])));
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += blockDim.y)
        plate[32 * y + x] = now[from][y][x];
}
