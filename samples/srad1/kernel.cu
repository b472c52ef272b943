// Speckle reducing anisotropic diffusion, first kernel: the four derivatives of the image and the diffusion coefficient.
// 16 x 16 threads compute a tile; six tiles of floats, 6144 bytes, lie in scratchpad. Pixels at the edges of the image repeat.
// The neighbours beyond the tile come first, a barrier after each pair; loads of a pair stand before its stores, where a compiler
// to machine code moves them.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define SIDE 16

extern "C" __global__ void srad1(float *east_d, float *west_d, float *south_d, float *north_d, const float *image,
                                 float *coefficient, int columns, int rows, float q0)
{
    __shared__ float temp[SIDE][SIDE];
    __shared__ float result[SIDE][SIDE];
    __shared__ float north[SIDE][SIDE];
    __shared__ float south[SIDE][SIDE];
    __shared__ float east[SIDE][SIDE];
    __shared__ float west[SIDE][SIDE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x0 = blockIdx.x * SIDE, y0 = blockIdx.y * SIDE;
    const int at = (y0 + ty) * columns + x0 + tx;
    const int above = max(y0 - 1, 0), below = min(y0 + SIDE, rows - 1);
    const int before = max(x0 - 1, 0), behind = min(x0 + SIDE, columns - 1);
    const float in_north = image[above * columns + x0 + tx];
    const float in_south = image[below * columns + x0 + tx];
    north[ty][tx] = in_north;
    south[ty][tx] = in_south;
    __syncthreads();
    const float in_west = image[(y0 + ty) * columns + before];
    const float in_east = image[(y0 + ty) * columns + behind];
    west[ty][tx] = in_west;
    east[ty][tx] = in_east;
    __syncthreads();
    temp[ty][tx] = image[at];
    __syncthreads();
    const float centre = temp[ty][tx];
    const float n = (ty == 0 ? north[ty][tx] : temp[ty - 1][tx]) - centre;
    const float s = (ty == SIDE - 1 ? south[ty][tx] : temp[ty + 1][tx]) - centre;
    const float w = (tx == 0 ? west[ty][tx] : temp[ty][tx - 1]) - centre;
    const float e = (tx == SIDE - 1 ? east[ty][tx] : temp[ty][tx + 1]) - centre;
    const float g2 = (n * n + s * s + w * w + e * e) / (centre * centre);
    const float l = (n + s + w + e) / centre;
    const float num = 0.5f * g2 - 1.0f / 16.0f * (l * l);
    const float den = 1.0f + 0.25f * l;
    const float q = num / (den * den);
    const float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    result[ty][tx] = fminf(fmaxf(c, 0.0f), 1.0f);
    __syncthreads();
    coefficient[at] = result[ty][tx];
    east_d[at] = e;
    west_d[at] = w;
    south_d[at] = s;
    north_d[at] = n;
}
