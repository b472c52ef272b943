// Speckle reducing anisotropic diffusion, the derivatives of the image and the diffusion coefficient (Rodinia: srad_v2,
// srad_cuda_1). 16 x 16 threads compute a tile; six tiles of floats, 6144 bytes, lie in scratchpad. The rows above and below
// the tile come first, then the columns beside it, then the tile, a barrier after each. A tile at the edge of the image loads
// what lies outside, too, before it loads the pixels that stand for it: `image` has a row before and a row after its pixels.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#define SIDE 16

extern "C" __global__ void srad_cuda_1(float *east_d, float *west_d, float *north_d, float *south_d, const float *image,
                                       float *coefficient, int columns, int rows, float q0)
{
    __shared__ float temp[SIDE][SIDE];
    __shared__ float result[SIDE][SIDE];
    __shared__ float north[SIDE][SIDE];
    __shared__ float south[SIDE][SIDE];
    __shared__ float east[SIDE][SIDE];
    __shared__ float west[SIDE][SIDE];
    const int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    const int corner = columns * SIDE * by + SIDE * bx;
    const int at = corner + columns * ty + tx;
    const float *pixel = image + columns;

    north[ty][tx] = pixel[corner + tx - columns];
    south[ty][tx] = pixel[corner + columns * SIDE + tx];
    if (by == 0) {
        north[ty][tx] = pixel[SIDE * bx + tx];
    } else if (by == gridDim.y - 1) {
        south[ty][tx] = pixel[corner + columns * (SIDE - 1) + tx];
    }
    __syncthreads();
    west[ty][tx] = pixel[corner + columns * ty - 1];
    east[ty][tx] = pixel[corner + columns * ty + SIDE];
    if (bx == 0) {
        west[ty][tx] = pixel[columns * SIDE * by + columns * ty];
    } else if (bx == gridDim.x - 1) {
        east[ty][tx] = pixel[corner + columns * ty + SIDE - 1];
    }
    __syncthreads();
    temp[ty][tx] = pixel[at];
    __syncthreads();

    // nine cases: the corners of the tile, its edges, its middle
    const float centre = temp[ty][tx];
    float n, s, w, e;
    if (ty == 0 && tx == 0) {
        n = north[ty][tx] - centre;
        s = temp[ty + 1][tx] - centre;
        w = west[ty][tx] - centre;
        e = temp[ty][tx + 1] - centre;
    } else if (ty == 0 && tx == SIDE - 1) {
        n = north[ty][tx] - centre;
        s = temp[ty + 1][tx] - centre;
        w = temp[ty][tx - 1] - centre;
        e = east[ty][tx] - centre;
    } else if (ty == SIDE - 1 && tx == SIDE - 1) {
        n = temp[ty - 1][tx] - centre;
        s = south[ty][tx] - centre;
        w = temp[ty][tx - 1] - centre;
        e = east[ty][tx] - centre;
    } else if (ty == SIDE - 1 && tx == 0) {
        n = temp[ty - 1][tx] - centre;
        s = south[ty][tx] - centre;
        w = west[ty][tx] - centre;
        e = temp[ty][tx + 1] - centre;
    } else if (ty == 0) {
        n = north[ty][tx] - centre;
        s = temp[ty + 1][tx] - centre;
        w = temp[ty][tx - 1] - centre;
        e = temp[ty][tx + 1] - centre;
    } else if (tx == SIDE - 1) {
        n = temp[ty - 1][tx] - centre;
        s = temp[ty + 1][tx] - centre;
        w = temp[ty][tx - 1] - centre;
        e = east[ty][tx] - centre;
    } else if (ty == SIDE - 1) {
        n = temp[ty - 1][tx] - centre;
        s = south[ty][tx] - centre;
        w = temp[ty][tx - 1] - centre;
        e = temp[ty][tx + 1] - centre;
    } else if (tx == 0) {
        n = temp[ty - 1][tx] - centre;
        s = temp[ty + 1][tx] - centre;
        w = west[ty][tx] - centre;
        e = temp[ty][tx + 1] - centre;
    } else {
        n = temp[ty - 1][tx] - centre;
        s = temp[ty + 1][tx] - centre;
        w = temp[ty][tx - 1] - centre;
        e = temp[ty][tx + 1] - centre;
    }

    const float g2 = (n * n + s * s + w * w + e * e) / (centre * centre);
    const float l = (n + s + w + e) / centre;
    const float numerator = 0.5f * g2 - 1.0f / 16.0f * (l * l);
    const float root = 1.0f + 0.25f * l;
    const float q = numerator / (root * root);
    const float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    if (c < 0.0f) {
        result[ty][tx] = 0.0f;
    } else if (c > 1.0f) {
        result[ty][tx] = 1.0f;
    } else {
        result[ty][tx] = c;
    }
    __syncthreads();
    coefficient[at] = result[ty][tx];
    east_d[at] = e;
    west_d[at] = w;
    south_d[at] = s;
    north_d[at] = n;
}
