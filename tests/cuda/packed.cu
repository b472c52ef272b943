// Halves, bfloats, 8-bit floats, bytes and bits, two or four at once. Compiled: nvcc -ptx -arch=sm_90 packed.cu, and the
// kernels of bytes and bits with -DBITS_ONLY -arch=sm_75.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#ifndef BITS_ONLY
// y = relu(a x + y), the sum of all y, and the largest
extern "C" __global__ void axpy_halves(const __half2 *x, __half2 *y, float a, int n, __half2 *sum, float *largest) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half2 value = __hfma2_relu(__float2half2_rn(a), x[i], y[i]);
  y[i] = value;
  atomicAdd(sum, __hmul2(value, __float2half2_rn(0.125f)));
  float both = fmaxf(__low2float(value), __high2float(value));
  atomicMax(reinterpret_cast<int *>(largest), __float_as_int(both));
}

extern "C" __global__ void bfloats(const __nv_bfloat162 *x, const __nv_bfloat162 *y, __nv_bfloat162 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_bfloat162 a = x[i], b = y[i];
  out[4 * i] = __hadd2(a, b);
  out[4 * i + 1] = __hfma2(a, b, __habs2(a));
  out[4 * i + 2] = __hmin2(a, __hneg2(b));
  out[4 * i + 3] = __hlt2(a, b);
}

extern "C" __global__ void bytes_of_floats(const float2 *x, unsigned short *codes, __half2 *back, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_fp8x2_storage_t e4m3 = __nv_cvt_float2_to_fp8x2(x[i], __NV_SATFINITE, __NV_E4M3);
  __nv_fp8x2_storage_t e5m2 = __nv_cvt_float2_to_fp8x2(x[i], __NV_SATFINITE, __NV_E5M2);
  codes[2 * i] = e4m3;
  codes[2 * i + 1] = e5m2;
  back[2 * i] = __half2(__nv_cvt_fp8x2_to_halfraw2(e4m3, __NV_E4M3));
  back[2 * i + 1] = __half2(__nv_cvt_fp8x2_to_halfraw2(e5m2, __NV_E5M2));
}

// how often each of 16 bits occurs: an atomic of 16 bits by compare and swap
extern "C" __global__ void count(const unsigned short *x, unsigned short *counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned short *place = counts + x[i] % 7, old = *place, seen;
  do {
    seen = old;
    old = atomicCAS(place, seen, static_cast<unsigned short>(seen + 1));
  } while (old != seen);
}
#endif

extern "C" __global__ void video(const unsigned *x, const unsigned *y, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned a = x[i], b = y[i], *to = out + 8 * i, sum = a;
  to[0] = __vaddus4(a, b);
  to[1] = __vabsdiffs4(a, b);
  to[2] = __vmaxs2(a, b);
  to[3] = __vavgu4(a, b);
  to[4] = __vcmpgtu2(a, b);
  asm("vadd.s32.s32.u32.sat.add %0, %1.h1, %2.b2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  to[5] = sum;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(to[6]) : "r"(a), "r"(b), "r"(1000));
  asm("vset2.s32.s32.ge %0.h1, %1.h10, %2.h32, %3;" : "=r"(to[7]) : "r"(a), "r"(b), "r"(a));
}

extern "C" __global__ void bits(const unsigned *x, const unsigned *y, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned a = x[i], b = y[i], *to = out + 8 * i;
  to[0] = __dp4a(static_cast<int>(a), static_cast<int>(b), 100);
  to[1] = __byte_perm(a, b, 0x2614);
  to[2] = __funnelshift_lc(a, b, b & 63);
  to[3] = __brev(a) ^ __popc(b);
  to[4] = __ffs(a) + 100 * __clz(b);
  to[5] = __umulhi(a, b);
  to[6] = static_cast<unsigned>((static_cast<unsigned long long>(a) << 32 | b) / (a | 1));
  to[7] = __sad(static_cast<int>(a), static_cast<int>(b), 7u);
}
