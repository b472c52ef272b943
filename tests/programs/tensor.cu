// Matrix product of bfloat16 with ldmatrix and mma.sync, which take sm_80: a warp has 16 x 8 elements of C = A B.
#include <cuda_bf16.h>

extern "C" __global__ void product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n, int k)
{
    __shared__ __align__(16) __nv_bfloat16 of_a[16][24], of_b[16][8];  // rows of 48 bytes: no bank conflicts
    int lane = threadIdx.x, row = 16 * blockIdx.y, column = 8 * blockIdx.x;
    float sum[4] = {0, 0, 0, 0};
    for (int i = 0; i < k; i += 16) {
        for (int e = lane; e < 256; e += 32)
            of_a[e / 16][e % 16] = a[(row + e / 16) * k + i + e % 16];
        for (int e = lane; e < 128; e += 32)
            of_b[e / 8][e % 8] = b[(i + e / 8) * n + column + e % 8];
        __syncwarp();
        unsigned ra[4], rb[2];
        unsigned from_a = (unsigned)__cvta_generic_to_shared(&of_a[lane % 16][8 * (lane / 16)]);
        unsigned from_b = (unsigned)__cvta_generic_to_shared(&of_b[lane % 16][0]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(from_a) : "memory");
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(rb[0]), "=r"(rb[1]) : "r"(from_b) : "memory");
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9},"
                     " {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
        __syncwarp();
    }
    for (int e = 0; e < 4; e++)
        c[(row + lane / 4 + 8 * (e / 2)) * n + column + 2 * (lane % 4) + e % 2] = sum[e];
}
