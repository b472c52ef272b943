// Types and functions that mean the same on a GPU (compiled by nvcc) and on the host (compiled by g++).
//
// For programs that `writer.py` makes. Where CUDA has an intrinsic, the host has a twin written out here from the
// intrinsic's description. Nothing is undefined: integers wrap, division by zero and shifts have a meaning, NaNs
// have one bit pattern wherever their bits are looked at.
#pragma once
#include <cstdint>
#include <cstring>

typedef uint8_t u8;
typedef int8_t i8;
typedef uint16_t u16;
typedef int16_t i16;
typedef uint32_t u32;
typedef int32_t i32;
typedef uint64_t u64;
typedef int64_t i64;
typedef unsigned __int128 u128;
typedef __int128 i128;
typedef float f32;
typedef double f64;

#ifdef __CUDACC__
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define FN static __device__
#define FN_INLINE static __device__ __forceinline__
#define FN_CALL static __device__ __noinline__
#define CONSTANT static __constant__
#define GLOBAL static __device__
#define TWIN(device, host) device
#else
#include <cfenv>
#include <cmath>
#define FN static
#define FN_INLINE static inline
#define FN_CALL static __attribute__((noinline))
#define CONSTANT static
#define GLOBAL static
#define TWIN(device, host) host
struct uint2 { u32 x, y; };
struct uint4 { u32 x, y, z, w; };
struct float2 { f32 x, y; };
struct float4 { f32 x, y, z, w; };
struct double2 { f64 x, y; };
#endif

// ---- bits of floats

FN_INLINE u32 bits(f32 v) { u32 b; memcpy(&b, &v, 4); return v != v ? 0x7FC00000u : b; }
FN_INLINE u64 bits(f64 v) { u64 b; memcpy(&b, &v, 8); return v != v ? 0x7FF8000000000000ull : b; }
FN_INLINE f32 f32_of(u32 b) { f32 v; memcpy(&v, &b, 4); return v; }
FN_INLINE f64 f64_of(u64 b) { f64 v; memcpy(&v, &b, 8); return v; }

// ---- integers: what wraps, what divides

template <class T> FN_INLINE T divide(T a, T b) {
    if (b == 0) return (T)77;
    if ((T)(0 - 1) < 0 && b == (T)(0 - 1)) return (T)(0 - (u64)a);
    return (T)(a / b);
}
template <class T> FN_INLINE T remain(T a, T b) {
    if (b == 0) return a;
    if ((T)(0 - 1) < 0 && b == (T)(0 - 1)) return 0;
    return (T)(a % b);
}
FN_INLINE u32 mulhi_u32(u32 a, u32 b) { return TWIN(__umulhi(a, b), (u32)((u64)a * b >> 32)); }
FN_INLINE i32 mulhi_i32(i32 a, i32 b) { return TWIN(__mulhi(a, b), (i32)((i64)a * b >> 32)); }
FN_INLINE u64 mulhi_u64(u64 a, u64 b) { return TWIN(__umul64hi(a, b), (u64)((u128)a * b >> 64)); }
FN_INLINE i64 mulhi_i64(i64 a, i64 b) { return TWIN(__mul64hi(a, b), (i64)((i128)a * b >> 64)); }
FN_INLINE i32 cut24(u32 a) { return (i32)(a << 8) >> 8; }
FN_INLINE u32 umul24(u32 a, u32 b) { return TWIN(__umul24(a, b), (a & 0xFFFFFF) * (b & 0xFFFFFF)); }
// of small factors: nvcc takes for granted that the product fits into 32 bits
FN_INLINE i32 mul24(i32 a, i32 b) { a = (i16)a, b = (i16)b; return TWIN(__mul24(a, b), (i32)((u32)cut24(a) * (u32)cut24(b))); }
FN_INLINE u32 sad_i32(i32 a, i32 b, u32 c) {
    return TWIN(__sad(a, b, c), (a > b ? (u32)a - (u32)b : (u32)b - (u32)a) + c);
}
FN_INLINE u32 sad_u32(u32 a, u32 b, u32 c) { return TWIN(__usad(a, b, c), (a > b ? a - b : b - a) + c); }
FN_INLINE u32 hadd_u32(u32 a, u32 b) { return TWIN(__uhadd(a, b), (u32)(((u64)a + b) >> 1)); }
FN_INLINE i32 hadd_i32(i32 a, i32 b) { return TWIN(__hadd(a, b), (i32)(((i64)a + b) >> 1)); }
FN_INLINE u32 rhadd_u32(u32 a, u32 b) { return TWIN(__urhadd(a, b), (u32)(((u64)a + b + 1) >> 1)); }
FN_INLINE i32 rhadd_i32(i32 a, i32 b) { return TWIN(__rhadd(a, b), (i32)(((i64)a + b + 1) >> 1)); }
template <class T> FN_INLINE T least(T a, T b) { return a < b ? a : b; }
template <class T> FN_INLINE T most(T a, T b) { return a > b ? a : b; }

// ---- bits of integers

FN_INLINE u32 popc32(u32 a) { return TWIN(__popc(a), __builtin_popcount(a)); }
FN_INLINE u32 popc64(u64 a) { return TWIN(__popcll(a), __builtin_popcountll(a)); }
FN_INLINE u32 clz32(u32 a) { return TWIN(__clz(a), a ? __builtin_clz(a) : 32); }
FN_INLINE u32 clz64(u64 a) { return TWIN(__clzll(a), a ? __builtin_clzll(a) : 64); }
FN_INLINE u32 ffs32(u32 a) { return TWIN(__ffs(a), __builtin_ffs(a)); }
FN_INLINE u32 ffs64(u64 a) { return TWIN(__ffsll(a), __builtin_ffsll(a)); }
FN_INLINE u64 reverse_bits(u64 a, int n) {
    u64 r = 0;
    for (int i = 0; i < n; i++) r |= (a >> i & 1) << (n - 1 - i);
    return r;
}
FN_INLINE u32 brev32(u32 a) { return TWIN(__brev(a), (u32)reverse_bits(a, 32)); }
FN_INLINE u64 brev64(u64 a) { return TWIN(__brevll(a), reverse_bits(a, 64)); }
FN_INLINE u32 host_permute(u32 a, u32 b, u32 s) {
    u64 both = (u64)b << 32 | a;
    u32 r = 0;
    for (int i = 0; i < 4; i++) r |= (u32)(both >> 8 * (s >> 4 * i & 7) & 0xFF) << 8 * i;
    return r;
}
FN_INLINE u32 permute(u32 a, u32 b, u32 s) { return TWIN(__byte_perm(a, b, s), host_permute(a, b, s)); }
FN_INLINE u32 shf_l(u32 lo, u32 hi, u32 s) {
    return TWIN(__funnelshift_l(lo, hi, s), (u32)(((u64)hi << 32 | lo) << (s & 31) >> 32));
}
FN_INLINE u32 shf_r(u32 lo, u32 hi, u32 s) {
    return TWIN(__funnelshift_r(lo, hi, s), (u32)(((u64)hi << 32 | lo) >> (s & 31)));
}
FN_INLINE u32 shf_lc(u32 lo, u32 hi, u32 s) {
    return TWIN(__funnelshift_lc(lo, hi, s), s >= 32 ? lo : (u32)(((u64)hi << 32 | lo) << s >> 32));
}
FN_INLINE u32 shf_rc(u32 lo, u32 hi, u32 s) {
    return TWIN(__funnelshift_rc(lo, hi, s), s >= 32 ? hi : (u32)(((u64)hi << 32 | lo) >> s));
}
FN_INLINE i32 host_dot4(i32 a, i32 b, i32 c) {
    for (int i = 0; i < 4; i++) c = (i32)((u32)c + (u32)((i32)(i8)(a >> 8 * i) * (i8)(b >> 8 * i)));
    return c;
}
FN_INLINE u32 host_udot4(u32 a, u32 b, u32 c) {
    for (int i = 0; i < 4; i++) c += (u32)(u8)(a >> 8 * i) * (u8)(b >> 8 * i);
    return c;
}
FN_INLINE i32 host_dot2(i32 a, i32 b, i32 c, int from) {
    for (int i = 0; i < 2; i++) c = (i32)((u32)c + (u32)((i32)(i16)(a >> 16 * i) * (i8)(b >> 8 * (i + from))));
    return c;
}
FN_INLINE i32 dot4(i32 a, i32 b, i32 c) { return TWIN(__dp4a(a, b, c), host_dot4(a, b, c)); }
FN_INLINE u32 udot4(u32 a, u32 b, u32 c) { return TWIN(__dp4a(a, b, c), host_udot4(a, b, c)); }
FN_INLINE i32 dot2_lo(i32 a, i32 b, i32 c) { return TWIN(__dp2a_lo(a, b, c), host_dot2(a, b, c, 0)); }
FN_INLINE i32 dot2_hi(i32 a, i32 b, i32 c) { return TWIN(__dp2a_hi(a, b, c), host_dot2(a, b, c, 2)); }

// ---- four bytes or two halfwords in a word: the SIMD intrinsics

template <int W, bool SIGNED, class F> FN_INLINE u32 each(u32 a, u32 b, F f) {
    u32 r = 0;
    for (int i = 0; i < 32; i += W) {
        i32 x = SIGNED ? (i32)(a << (32 - W - i)) >> (32 - W) : (i32)(a >> i & (W == 8 ? 0xFF : 0xFFFF));
        i32 y = SIGNED ? (i32)(b << (32 - W - i)) >> (32 - W) : (i32)(b >> i & (W == 8 ? 0xFF : 0xFFFF));
        r |= ((u32)f(x, y) & (W == 8 ? 0xFF : 0xFFFF)) << i;
    }
    return r;
}
#define EACH(name, intrinsic, width, is_signed, value) \
    FN_INLINE u32 name(u32 a, u32 b) { return TWIN(intrinsic(a, b), (each<width, is_signed>(a, b, [](i32 x, i32 y) { return value; }))); }
EACH(add4, __vadd4, 8, false, x + y)
EACH(sub4, __vsub4, 8, false, x - y)
EACH(add2, __vadd2, 16, false, x + y)
EACH(sub2, __vsub2, 16, false, x - y)
EACH(absdiff4, __vabsdiffu4, 8, false, x > y ? x - y : y - x)
EACH(absdiff2, __vabsdiffs2, 16, true, x > y ? x - y : y - x)
EACH(avg4, __vavgu4, 8, false, (x + y + 1) >> 1)
EACH(havg2, __vhaddu2, 16, false, (x + y) >> 1)
EACH(min4, __vmins4, 8, true, x < y ? x : y)
EACH(max4, __vmaxu4, 8, false, x > y ? x : y)
EACH(min2, __vminu2, 16, false, x < y ? x : y)
EACH(max2, __vmaxs2, 16, true, x > y ? x : y)
EACH(addus4, __vaddus4, 8, false, x + y > 255 ? 255 : x + y)
EACH(addss4, __vaddss4, 8, true, x + y > 127 ? 127 : x + y < -128 ? -128 : x + y)
EACH(subus2, __vsubus2, 16, false, x < y ? 0 : x - y)
EACH(subss2, __vsubss2, 16, true, x - y > 32767 ? 32767 : x - y < -32768 ? -32768 : x - y)
EACH(eq4, __vcmpeq4, 8, false, x == y ? -1 : 0)
EACH(gts4, __vcmpgts4, 8, true, x > y ? -1 : 0)
EACH(leu2, __vcmpleu2, 16, false, x <= y ? -1 : 0)
EACH(setlt2, __vsetlts2, 16, true, x < y ? 1 : 0)
EACH(setne4, __vsetne4, 8, false, x != y ? 1 : 0)
FN_INLINE u32 sad4(u32 a, u32 b) {
#ifdef __CUDACC__
    return __vsadu4(a, b);
#else
    u32 r = 0;
    for (int i = 0; i < 32; i += 8) {
        i32 d = (i32)(a >> i & 255) - (i32)(b >> i & 255);
        r += d < 0 ? -d : d;
    }
    return r;
#endif
}

// ---- floats

#ifndef __CUDACC__
template <class R, class F> static __attribute__((noinline)) R rounded(int mode, F f) {
    fesetround(mode);
    volatile R r = f();
    fesetround(FE_TONEAREST);
    return r;
}
#endif
#define DIRECTED2(name, T, intrinsic, mode, value) \
    FN_INLINE T name(T a, T b) { return TWIN(intrinsic(a, b), (rounded<T>(mode, [&] { volatile T x = a, y = b; return value; }))); }
#define DIRECTED1(name, R, T, intrinsic, mode, value) \
    FN_INLINE R name(T a) { return TWIN(intrinsic(a), (rounded<R>(mode, [&] { volatile T x = a; return value; }))); }
DIRECTED2(add_rz, f32, __fadd_rz, FE_TOWARDZERO, x + y)
DIRECTED2(add_ru, f32, __fadd_ru, FE_UPWARD, x + y)
DIRECTED2(sub_rd, f32, __fsub_rd, FE_DOWNWARD, x - y)
DIRECTED2(mul_rz, f32, __fmul_rz, FE_TOWARDZERO, x * y)
DIRECTED2(mul_rd, f32, __fmul_rd, FE_DOWNWARD, x * y)
DIRECTED2(div_ru, f32, __fdiv_ru, FE_UPWARD, x / y)
DIRECTED2(div_rz, f32, __fdiv_rz, FE_TOWARDZERO, x / y)
DIRECTED1(sqrt_rd, f32, f32, __fsqrt_rd, FE_DOWNWARD, sqrtf(x))
DIRECTED1(sqrt_ru, f32, f32, __fsqrt_ru, FE_UPWARD, sqrtf(x))
DIRECTED1(rcp_rz, f32, f32, __frcp_rz, FE_TOWARDZERO, 1.0f / x)
DIRECTED2(add_ru, f64, __dadd_ru, FE_UPWARD, x + y)
DIRECTED2(sub_rz, f64, __dsub_rz, FE_TOWARDZERO, x - y)
DIRECTED2(mul_rd, f64, __dmul_rd, FE_DOWNWARD, x * y)
DIRECTED2(div_rz, f64, __ddiv_rz, FE_TOWARDZERO, x / y)
DIRECTED1(sqrt_ru, f64, f64, __dsqrt_ru, FE_UPWARD, sqrt(x))
DIRECTED1(narrow_rz, f32, f64, __double2float_rz, FE_TOWARDZERO, (f32)x)
DIRECTED1(narrow_ru, f32, f64, __double2float_ru, FE_UPWARD, (f32)x)
DIRECTED1(f32_rz, f32, i32, __int2float_rz, FE_TOWARDZERO, (f32)x)
DIRECTED1(f32_ru, f32, u64, __ull2float_ru, FE_UPWARD, (f32)x)
DIRECTED1(f64_rd, f64, i64, __ll2double_rd, FE_DOWNWARD, (f64)x)

FN_INLINE f32 fma32(f32 a, f32 b, f32 c) { return TWIN(__fmaf_rn(a, b, c), fmaf(a, b, c)); }
FN_INLINE f64 fma64(f64 a, f64 b, f64 c) { return TWIN(__fma_rn(a, b, c), fma(a, b, c)); }
FN_INLINE f32 fma32_rz(f32 a, f32 b, f32 c) {
    return TWIN(__fmaf_rz(a, b, c), (rounded<f32>(FE_TOWARDZERO, [&] { volatile f32 x = a; return fmaf(x, b, c); })));
}
template <class T> FN_INLINE T host_min(T a, T b) {
    if (a != a) return b;
    if (b != b) return a;
    return a == b ? (1 / a < 0 ? a : b) : a < b ? a : b;
}
template <class T> FN_INLINE T host_max(T a, T b) {
    if (a != a) return b;
    if (b != b) return a;
    return a == b ? (1 / a < 0 ? b : a) : a > b ? a : b;
}
FN_INLINE f32 min_f32(f32 a, f32 b) { return TWIN(fminf(a, b), host_min(a, b)); }
FN_INLINE f32 max_f32(f32 a, f32 b) { return TWIN(fmaxf(a, b), host_max(a, b)); }
FN_INLINE f64 min_f64(f64 a, f64 b) { return TWIN(fmin(a, b), host_min(a, b)); }
FN_INLINE f64 max_f64(f64 a, f64 b) { return TWIN(fmax(a, b), host_max(a, b)); }
FN_INLINE f32 saturate(f32 a) { return TWIN(__saturatef(a), a > 0 ? a < 1 ? a : 1.0f : 0.0f); }

// A conversion to an integer: round, then saturate. NaN is 0 where source and result have 32 bits, else the sign bit.
template <class T, class F> FN_INLINE T host_integer(F v) {
    const bool is_signed = (T)(0 - 1) < 0;
    const T low = is_signed ? (T)((u64)1 << (8 * sizeof(T) - 1)) : 0, high = (T)~low;
    if (v != v) return sizeof(T) == 4 && sizeof(F) == 4 ? 0 : (T)((u64)1 << (8 * sizeof(T) - 1));
    if (v <= (F)low) return low;
    if (v >= (F)high) return high;
    return (T)v;
}
FN_INLINE i32 i32_rz(f32 a) { return TWIN(__float2int_rz(a), host_integer<i32>(truncf(a))); }
FN_INLINE i32 i32_rn(f32 a) { return TWIN(__float2int_rn(a), host_integer<i32>(rintf(a))); }
FN_INLINE u32 u32_rd(f32 a) { return TWIN(__float2uint_rd(a), host_integer<u32>(floorf(a))); }
FN_INLINE u64 u64_ru(f32 a) { return TWIN(__float2ull_ru(a), host_integer<u64>(ceilf(a))); }
FN_INLINE i64 i64_rz(f32 a) { return TWIN(__float2ll_rz(a), host_integer<i64>(truncf(a))); }
FN_INLINE i32 i32_rz(f64 a) { return TWIN(__double2int_rz(a), host_integer<i32>(trunc(a))); }
FN_INLINE u32 u32_rn(f64 a) { return TWIN(__double2uint_rn(a), host_integer<u32>(rint(a))); }
FN_INLINE i64 i64_rd(f64 a) { return TWIN(__double2ll_rd(a), host_integer<i64>(floor(a))); }
FN_INLINE u64 u64_rz(f64 a) { return TWIN(__double2ull_rz(a), host_integer<u64>(trunc(a))); }

// ---- 16-bit floats, kept as their bits

// The nearest 16-bit float with `digits` bits of fraction and exponents from `least` on; ties to even.
FN u16 small_of(f64 v, int digits, int least) {
    if (v != v) return 0x7FFF;
    const u16 sign = (u16)(bits(v) >> 48 & 0x8000);
    v = fabs(v);
    int e = 0;
    frexp(v, &e);
    if (v == 0 || e - 1 < least) e = least + 1;
    f64 n = v > 1e300 ? v : rint(ldexp(v, digits + 1 - e));
    const int infinity = 0x7FFF >> digits << digits;
    f64 code = n - ldexp(1.0, digits) + ldexp((f64)(e - least), digits);
    return sign | (u16)(code >= infinity ? infinity : code);
}
FN f64 of_small(u16 b, int digits, int least) {
    int e = (b & 0x7FFF) >> digits, n = b & ((1 << digits) - 1);
    f64 v = e == 0x7FFF >> digits ? f64_of(n ? 0x7FF8000000000000ull : 0x7FF0000000000000ull) : e ? ldexp((f64)(n + (1 << digits)), e - 1 + least - digits) : ldexp((f64)n, least - digits);
    return b & 0x8000 ? -v : v;
}
// a * b + c rounded to odd, so that it can be rounded once more.
FN f64 odd_fma(f64 a, f64 b, f64 c) {
    f64 p = a * b, s = p + c;
    if (s - s != 0) return s;
    f64 t = s - p, error = (p - (s - t)) + (c - t);
    u64 n = bits(s);
    if (error != 0 && !(n & 1)) n += (error > 0) == (s > 0) ? 1 : -1;
    return f64_of(n);
}
FN u16 half_of(f64 v) { return small_of(v, 10, -14); }
FN f64 of_half(u16 b) { return of_small(b, 10, -14); }
FN u16 brain_of(f64 v) { return small_of(v, 7, -126); }
FN f64 of_brain(u16 b) { return of_small(b, 7, -126); }
#define HALF2(x, y, op) half_of(of_half(x) op of_half(y))
#define BRAIN2(x, y, op) brain_of(of_brain(x) op of_brain(y))
#define H(x) __ushort_as_half(x)
#define B(x) __ushort_as_bfloat16(x)
FN_INLINE u16 canonical_half(u16 a) { return (a & 0x7FFF) > 0x7C00 ? 0x7FFF : a; }
FN_INLINE u16 canonical_brain(u16 a) { return (a & 0x7FFF) > 0x7F80 ? 0x7FFF : a; }
#define HALF_BITS(v) canonical_half(__half_as_ushort(v))
#define BRAIN_BITS(v) canonical_brain(__bfloat16_as_ushort(v))
FN_INLINE u16 add_half(u16 a, u16 b) { return TWIN(HALF_BITS(__hadd_rn(H(a), H(b))), HALF2(a, b, +)); }
FN_INLINE u16 sub_half(u16 a, u16 b) { return TWIN(HALF_BITS(__hsub_rn(H(a), H(b))), HALF2(a, b, -)); }
FN_INLINE u16 mul_half(u16 a, u16 b) { return TWIN(HALF_BITS(__hmul_rn(H(a), H(b))), HALF2(a, b, *)); }
FN_INLINE u16 fma_half(u16 a, u16 b, u16 c) {
    return TWIN(HALF_BITS(__hfma(H(a), H(b), H(c))), half_of(odd_fma(of_half(a), of_half(b), of_half(c))));
}
FN_INLINE u16 half_rn(f32 a) { return TWIN(HALF_BITS(__float2half_rn(a)), half_of(a)); }
FN_INLINE u16 half_rn(f64 a) { return TWIN(HALF_BITS(__double2half(a)), half_of(a)); }
FN_INLINE f32 f32_of_half(u16 a) { return TWIN(__half2float(H(a)), (f32)of_half(a)); }
FN_INLINE bool less_half(u16 a, u16 b) { return TWIN(__hlt(H(a), H(b)), of_half(a) < of_half(b)); }
FN_INLINE u16 min_half(u16 a, u16 b) {
    return TWIN(HALF_BITS(__hmin(H(a), H(b))), half_of(host_min(of_half(a), of_half(b))));
}
FN_INLINE i32 i32_of_half(u16 a) { return TWIN(__half2int_rn(H(a)), host_integer<i32>(rintf((f32)of_half(a)))); }
FN_INLINE u16 half_of_i32(i32 a) { return TWIN(HALF_BITS(__int2half_rn(a)), half_of(a)); }
FN_INLINE u32 pair(u16 low, u16 high) { return low | (u32)high << 16; }
#ifdef __CUDACC__
FN_INLINE __half2 H2(u32 a) { return __halves2half2(H((u16)a), H((u16)(a >> 16))); }
FN_INLINE u32 half2_bits(__half2 v) { return pair(HALF_BITS(__low2half(v)), HALF_BITS(__high2half(v))); }
#endif
FN_INLINE u32 fma_half2(u32 a, u32 b, u32 c) {
#ifdef __CUDACC__
    return half2_bits(__hfma2(H2(a), H2(b), H2(c)));
#else
    return pair(fma_half((u16)a, (u16)b, (u16)c), fma_half(a >> 16, b >> 16, c >> 16));
#endif
}
FN_INLINE u32 add_half2(u32 a, u32 b) {
#ifdef __CUDACC__
    return half2_bits(__hadd2_rn(H2(a), H2(b)));
#else
    return pair(add_half((u16)a, (u16)b), add_half(a >> 16, b >> 16));
#endif
}
FN_INLINE u32 max_half2(u32 a, u32 b) {
#ifdef __CUDACC__
    return half2_bits(__hmax2(H2(a), H2(b)));
#else
    return pair(half_of(host_max(of_half((u16)a), of_half((u16)b))), half_of(host_max(of_half(a >> 16), of_half(b >> 16))));
#endif
}
FN_INLINE u16 add_brain(u16 a, u16 b) { return TWIN(BRAIN_BITS(__hadd_rn(B(a), B(b))), brain_of(odd_fma(of_brain(a), 1, of_brain(b)))); }
FN_INLINE u16 mul_brain(u16 a, u16 b) { return TWIN(BRAIN_BITS(__hmul_rn(B(a), B(b))), BRAIN2(a, b, *)); }
FN_INLINE u16 fma_brain(u16 a, u16 b, u16 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return BRAIN_BITS(__hfma(B(a), B(b), B(c)));
#else
    return brain_of(odd_fma(of_brain(a), of_brain(b), of_brain(c)));
#endif
}
FN_INLINE u16 brain_rn(f32 a) { return TWIN(BRAIN_BITS(__float2bfloat16_rn(a)), brain_of(a)); }
FN_INLINE f32 f32_of_brain(u16 a) { return TWIN(__bfloat162float(B(a)), (f32)of_brain(a)); }

// ---- the result

FN_INLINE u64 mix(u64 h, u64 v) { return (h ^ v) * 0x9E3779B97F4A7C15ull + (h >> 29); }
FN_INLINE u64 mix(u64 h, f32 v) { return mix(h, (u64)bits(v)); }
FN_INLINE u64 mix(u64 h, f64 v) { return mix(h, bits(v)); }
template <class T> FN_INLINE u64 mix(u64 h, T v) { return mix(h, (u64)v); }
