// Matrix products on tensor units: C = A B + C for f16 with f32 sums, and for signed bytes with int sums.
#include <mma.h>
using namespace nvcuda;

// A warp has 16 x 16 elements of C.
extern "C" __global__ void product(const half *a, const half *b, float *c, int n, int k)
{
    int row = 16 * blockIdx.y, column = 16 * (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> of_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(sum, c + row * n + column, n, wmma::mem_row_major);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(of_a, a + row * k + i, k);
        wmma::load_matrix_sync(of_b, b + column * k + i, k);
        wmma::mma_sync(sum, of_a, of_b, sum);
    }
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] = fmaxf(sum.x[i], 0.0f);
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

extern "C" __global__ void bytes(const signed char *a, const signed char *b, int *c)
{
    __shared__ signed char tile[2][16 * 16];
    for (int i = threadIdx.x; i < 256; i += 32) {
        tile[0][i] = a[i];
        tile[1][i] = b[i];
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> of_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    wmma::load_matrix_sync(of_a, tile[0], 16);
    wmma::load_matrix_sync(of_b, tile[1], 16);
    wmma::mma_sync(sum, of_a, of_b, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
