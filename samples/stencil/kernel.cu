// One step of a 7-point stencil in three dimensions (Parboil: stencil, block2D_hybrid_coarsen_x). A block of 32 x 16
// threads walks through the planes with a tile of 64 x 16 cells: a thread owns two cells, 32 apart. The plane it is in
// lies in shared memory, the cells before and behind in registers; neighbours outside the tile come from global memory.
#define TX 32
#define TY 16

extern "C" __global__ void __launch_bounds__(TX * TY)
block2D_hybrid_coarsen_x(float c0, float c1, const float *in, float *out, int nx, int ny, int nz)
{
    __shared__ float plane[TY][2 * TX];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = blockIdx.x * 2 * TX + tx;
    int i2 = i + TX;
    int j = blockIdx.y * TY + ty;
    bool is_inside = i > 0 && j > 0 && i < nx - 1 && j < ny - 1;
    bool is_inside2 = j > 0 && i2 < nx - 1 && j < ny - 1;

    int step = nx * ny;
    in += i + nx * j;
    out += i + nx * j;
    float before = in[0], before2 = in[TX];
    in += step;
    plane[ty][tx] = in[0];
    plane[ty][tx + TX] = in[TX];
    __syncthreads();

#pragma unroll 1
    for (int planes = nz - 2; planes > 0; planes--) {
        out += step;
        float behind = in[step];
        if (is_inside) {
            float down = ty == TY - 1 ? in[nx] : plane[ty + 1][tx];
            float up = ty == 0 ? in[-nx] : plane[ty - 1][tx];
            float left = tx == 0 ? in[-1] : plane[ty][tx - 1];
            out[0] = (behind + before + down + up + plane[ty][tx + 1] + left) * c1 - plane[ty][tx] * c0;
        }
        float behind2 = in[step + TX];
        if (is_inside2) {
            float down = ty == TY - 1 ? in[TX + nx] : plane[ty + 1][tx + TX];
            float up = ty == 0 ? in[TX - nx] : plane[ty - 1][tx + TX];
            float right = tx == TX - 1 ? in[TX + 1] : plane[ty][tx + TX + 1];
            out[TX] = (behind2 + before2 + down + up + plane[ty][tx + TX - 1] + right) * c1 - plane[ty][tx + TX] * c0;
        }
        __syncthreads();
        before = plane[ty][tx];
        plane[ty][tx] = behind;
        before2 = plane[ty][tx + TX];
        plane[ty][tx + TX] = behind2;
        __syncthreads();
        in += step;
    }
}
