// A product of matrices by `wgmma`: a warp group has 64 rows and 128 columns, A and B are copied into shared memory with
// the swizzle of 128 bytes, k in steps of 64; `transposed` takes B by rows (MN-major).
#include <cuda_fp16.h>
#include <stdint.h>

__device__ uint64_t describe(const void *tile, int leading, int stride) {
    uint64_t address = __cvta_generic_to_shared(tile);
    return (address & 0x3ffff) >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | 1ull << 62;
}

template <bool B_BY_ROWS> __device__ void step(float (&d)[64], uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, %66;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b), "n"(B_BY_ROWS));
}

// lines of 64 elements: 16 bytes at a time, chunk c of line r at c ^ r % 8
__device__ void copy(half *tile, const half *of, int lines, int pitch) {
    for (int i = threadIdx.x; i < lines * 8; i += blockDim.x) {
        int line = i / 8, chunk = i % 8;
        ((uint4 *)tile)[8 * line + (chunk ^ line % 8)] = *(const uint4 *)(of + line * pitch + 8 * chunk);
    }
}

template <bool B_BY_ROWS> __device__ void gemm(const half *a, const half *b, float *d, int n, int k) {
    __shared__ __align__(1024) half left[64 * 64];
    __shared__ __align__(1024) half right[2][64 * 64];
    int row = 64 * blockIdx.y, column = 128 * blockIdx.x;
    float sums[64] = {};
    for (int begin = 0; begin < k; begin += 64) {
        __syncthreads();
        copy(left, a + row * k + begin, 64, k);
        for (int half_ = 0; half_ < 2; half_++)
            if (B_BY_ROWS)
                copy(right[half_], b + begin * n + column + 64 * half_, 64, n);
            else
                copy(right[half_], b + (column + 64 * half_) * k + begin, 64, k);
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int j = 0; j < 4; j++) {
            // by rows, two matrices of 64 columns lie one after the other, and 16 rows are two atoms of 1024 bytes
            uint64_t of_b = B_BY_ROWS ? describe(right[0] + 16 * 64 * j, 8192, 1024) : describe(right[0] + 16 * j, 16, 1024);
            step<B_BY_ROWS>(sums, describe(left + 16 * j, 16, 1024), of_b);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    int thread = threadIdx.x, r = row + 16 * (thread / 32) + thread % 32 / 4, c = column + thread % 4 * 2;
    for (int i = 0; i < 64; i++) d[(r + i / 2 % 2 * 8) * n + c + i / 4 * 8 + i % 2] = sums[i];
}

extern "C" __global__ void columns(const half *a, const half *b, float *d, int n, int k) { gemm<false>(a, b, d, n, k); }
extern "C" __global__ void rows(const half *a, const half *b, float *d, int n, int k) { gemm<true>(a, b, d, n, k); }
