// 64-bit integers: products of 128 bits, quotients, remainders, powers modulo m, greatest common divisors.
typedef unsigned long long u64;

extern "C" __global__ void arithmetic(const long long *a, const long long *b, long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = a[i] * b[i];
    out[n + i] = __mul64hi(a[i], b[i]);
    out[2 * n + i] = __umul64hi(a[i], b[i]);
    out[3 * n + i] = b[i] ? a[i] / b[i] : 0;
    out[4 * n + i] = b[i] ? a[i] % b[i] : 0;
    out[5 * n + i] = b[i] ? (u64)a[i] / (u64)b[i] : 0;
    out[6 * n + i] = b[i] ? (u64)a[i] % (u64)b[i] : 0;
    out[7 * n + i] = a[i] >> (b[i] & 63);
}

extern "C" __global__ void powers(const u64 *base, const u64 *exponent, u64 modulus, u64 *out, u64 *divisors)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    u64 result = 1, x = base[i] % modulus;
    for (u64 e = exponent[i]; e; e >>= 1) {
        if (e & 1)
            result = (u64)((unsigned __int128)result * x % modulus);
        x = (u64)((unsigned __int128)x * x % modulus);
    }
    out[i] = result;
    u64 p = base[i], q = exponent[i];
    while (q) {
        u64 r = p % q;
        p = q;
        q = r;
    }
    divisors[i] = p;
}
