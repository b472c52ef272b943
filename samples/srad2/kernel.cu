// Speckle reducing anisotropic diffusion, second kernel: the divergence, and the next image.
// 16 x 16 threads compute a tile; five tiles of floats, 5120 bytes, lie in scratchpad. Coefficients at the lower and the right
// edge of the image repeat. Every tile is loaded behind a barrier of its own.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define SIDE 16

extern "C" __global__ void srad2(const float *east_d, const float *west_d, const float *south_d, const float *north_d,
                                 float *image, const float *coefficient, int columns, int rows, float lambda)
{
    __shared__ float south[SIDE][SIDE];
    __shared__ float east[SIDE][SIDE];
    __shared__ float centre[SIDE][SIDE];
    __shared__ float result[SIDE][SIDE];
    __shared__ float temp[SIDE][SIDE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x0 = blockIdx.x * SIDE, y0 = blockIdx.y * SIDE;
    const int at = (y0 + ty) * columns + x0 + tx;
    temp[ty][tx] = image[at];
    __syncthreads();
    south[ty][tx] = coefficient[min(y0 + SIDE, rows - 1) * columns + x0 + tx];
    __syncthreads();
    east[ty][tx] = coefficient[(y0 + ty) * columns + min(x0 + SIDE, columns - 1)];
    __syncthreads();
    centre[ty][tx] = coefficient[at];
    __syncthreads();
    const float cn = centre[ty][tx];
    const float cs = ty == SIDE - 1 ? south[ty][tx] : centre[ty + 1][tx];
    const float ce = tx == SIDE - 1 ? east[ty][tx] : centre[ty][tx + 1];
    const float dn = north_d[at], ds = south_d[at], dw = west_d[at], de = east_d[at];
    const float divergence = cn * dn + cs * ds + cn * dw + ce * de;
    result[ty][tx] = temp[ty][tx] + 0.25f * lambda * divergence;
    __syncthreads();
    image[at] = result[ty][tx];
}
