// Matrix products on tensor cores, three ways. Compiled: nvcc -ptx -arch=sm_80 tensor_cores.cu (and the first kernel, with
// -DWMMA_ONLY, -arch=sm_75).
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// C = A B, row-major halves, float sums; a warp per 16 by 16 tile of C
extern "C" __global__ void wmma_gemm(const half *a, const half *b, float *c, int n, int k) {
  int row = blockIdx.y * 16, column = blockIdx.x * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + column, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= 0.5f;  // element by element, wherever they lie
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

// bytes, in shared memory first; C in columns
extern "C" __global__ void wmma_bytes(const signed char *a, const signed char *b, int *c, int n, int k) {
  __shared__ signed char tile[16 * 16];
  int row = blockIdx.y * 16, column = blockIdx.x * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
  wmma::fill_fragment(sum, 7);
  for (int i = 0; i < k; i += 16) {
    __syncwarp();
    for (int j = threadIdx.x; j < 256; j += 32) tile[j] = a[(row + j / 16) * k + i + j % 16];
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right;
    wmma::load_matrix_sync(left, tile, 16);
    wmma::load_matrix_sync(right, b + column * k + i, k);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + column * n + row, sum, n, wmma::mem_col_major);
}

#ifndef WMMA_ONLY
#include <cuda_pipeline.h>

// 64 by 64 tiles of C, four warps; A and B come by cp.async into two buffers, fragments by ldmatrix
extern "C" __global__ void mma_gemm(const half *a, const half *b, float *c, int m, int n, int k) {
  __shared__ __align__(16) half left[2][64][40];
  __shared__ __align__(16) half right[2][32][72];
  int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[8][4] = {};
  auto fetch = [&](int buffer, int i) {
    for (int j = thread; j < 256; j += 128) {
      int r = j / 4, s = j % 4 * 8;
      bool inside = row + r < m;
      __pipeline_memcpy_async(&left[buffer][r][s], &a[(inside ? row + r : 0) * k + i + s], 16, inside ? 0 : 16);
      int u = j / 8, v = j % 8 * 8;
      __pipeline_memcpy_async(&right[buffer][u][v], &b[(i + u) * n + column + v], 16);
    }
    __pipeline_commit();
  };
  fetch(0, 0);
  for (int i = 0, buffer = 0; i < k; i += 32, buffer ^= 1) {
    if (i + 32 < k) {
      fetch(buffer ^ 1, i + 32);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    for (int s = 0; s < 32; s += 16) {
      unsigned x[4], y[4];
      unsigned from = __cvta_generic_to_shared(&left[buffer][warp * 16 + lane % 16][s + lane / 16 * 8]);
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(from));
      for (int t = 0; t < 8; t += 2) {
        from = __cvta_generic_to_shared(&right[buffer][s + lane % 16][t * 8 + lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]) : "r"(from));
        for (int h = 0; h < 2; h++)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                       "{%8, %9}, {%0, %1, %2, %3};"
                       : "+f"(sum[t + h][0]), "+f"(sum[t + h][1]), "+f"(sum[t + h][2]), "+f"(sum[t + h][3])
                       : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * h]), "r"(y[2 * h + 1]));
      }
    }
    __syncthreads();
  }
  for (int t = 0; t < 8; t++)
    for (int h = 0; h < 4; h++) {
      int r = row + warp * 16 + lane / 4 + 8 * (h / 2);
      if (r < m) c[r * n + column + 8 * t + lane % 4 * 2 + h % 2] = sum[t][h];
    }
}

// doubles: 8 by 8 tiles, a warp each
extern "C" __global__ void mma_doubles(const double *a, const double *b, double *c, int n, int k) {
  int lane = threadIdx.x, group = lane / 4, member = lane % 4;
  int row = blockIdx.y * 8, column = blockIdx.x * 8;
  double x = 0, y = 0;
  for (int i = 0; i < k; i += 4)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(x), "+d"(y)
                 : "d"(a[(row + group) * k + i + member]), "d"(b[(i + member) * n + column + group]));
  c[(row + group) * n + column + 2 * member] = x;
  c[(row + group) * n + column + 2 * member + 1] = y;
}
#endif
