// Speckle reducing anisotropic diffusion, the divergence and the next image (Rodinia: srad_v2, srad_cuda_2). 16 x 16 threads
// compute a tile; five tiles of floats, 5120 bytes, lie in scratchpad, and each is loaded before a barrier of its own. A tile
// at the lower or right edge of the image loads what lies outside, too: `coefficient` has a row after its last.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#define SIDE 16

extern "C" __global__ void srad_cuda_2(const float *east_d, const float *west_d, const float *north_d, const float *south_d,
                                       float *image, const float *coefficient, int columns, int rows, float lambda, float q0)
{
    __shared__ float south[SIDE][SIDE];
    __shared__ float east[SIDE][SIDE];
    __shared__ float centre[SIDE][SIDE];
    __shared__ float result[SIDE][SIDE];
    __shared__ float temp[SIDE][SIDE];
    const int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    const int corner = columns * SIDE * by + SIDE * bx;
    const int at = corner + columns * ty + tx;

    temp[ty][tx] = image[at];
    __syncthreads();
    south[ty][tx] = coefficient[corner + columns * SIDE + tx];
    if (by == gridDim.y - 1) south[ty][tx] = coefficient[corner + columns * (SIDE - 1) + tx];
    __syncthreads();
    east[ty][tx] = coefficient[corner + columns * ty + SIDE];
    if (bx == gridDim.x - 1) east[ty][tx] = coefficient[corner + columns * ty + SIDE - 1];
    __syncthreads();
    centre[ty][tx] = coefficient[at];
    __syncthreads();

    // four cases: the lower right corner of the tile, its right and its lower edge, the rest
    const float c = centre[ty][tx];
    float cs, ce;
    if (ty == SIDE - 1 && tx == SIDE - 1) {
        cs = south[ty][tx];
        ce = east[ty][tx];
    } else if (tx == SIDE - 1) {
        cs = centre[ty + 1][tx];
        ce = east[ty][tx];
    } else if (ty == SIDE - 1) {
        cs = south[ty][tx];
        ce = centre[ty][tx + 1];
    } else {
        cs = centre[ty + 1][tx];
        ce = centre[ty][tx + 1];
    }
    const float divergence = c * north_d[at] + cs * south_d[at] + c * west_d[at] + ce * east_d[at];
    result[ty][tx] = temp[ty][tx] + 0.25f * lambda * divergence;
    __syncthreads();
    image[at] = result[ty][tx];
}
