// SHA-1 of overlapping pieces of a file, 52 bytes every 4: each thread hashes one and keeps the first word of its digest. The 16 words
// of a block of the hash lie in scratchpad, those of a warp's lanes beside each other.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#include <stdint.h>

#define PIECE 13 // words

static __device__ uint32_t rotated(uint32_t word, int bits) { return word << bits | word >> (32 - bits); }

extern "C" __global__ void sha1(const uint32_t *file, uint32_t *digests, int n)
{
    __shared__ uint32_t scratch[4096 - 32];
    const uint32_t H0 = 0x67452301, H1 = 0xEFCDAB89, H2 = 0x98BADCFE, H3 = 0x10325476, H4 = 0xC3D2E1F0;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= n) return;
    uint32_t *words = scratch + threadIdx.x / 32 * 512 + threadIdx.x % 32;

#pragma unroll
    for (int i = 0; i < PIECE; i++) words[32 * i] = __byte_perm(file[thread + i], 0, 0x0123);
    words[32 * PIECE] = 0x80000000;
    words[32 * 14] = 0;
    words[32 * 15] = 32 * PIECE;

    uint32_t a = H0, b = H1, c = H2, d = H3, e = H4;
#pragma unroll
    for (int t = 0; t < 80; t++) {
        uint32_t word;
        if (t < 16) {
            word = words[32 * t];
        } else {
            word = words[32 * ((t - 3) & 15)] ^ words[32 * ((t - 8) & 15)] ^ words[32 * ((t - 14) & 15)] ^ words[32 * (t & 15)];
            word = rotated(word, 1);
            words[32 * (t & 15)] = word;
        }
        uint32_t f, k;
        if (t < 20) {
            f = d ^ (b & (c ^ d));
            k = 0x5A827999;
        } else if (t < 40) {
            f = b ^ c ^ d;
            k = 0x6ED9EBA1;
        } else if (t < 60) {
            f = (b & c) | (d & (b | c));
            k = 0x8F1BBCDC;
        } else {
            f = b ^ c ^ d;
            k = 0xCA62C1D6;
        }
        const uint32_t next = rotated(a, 5) + f + e + k + word;
        e = d;
        d = c;
        c = rotated(b, 30);
        b = a;
        a = next;
    }
    digests[thread] = __byte_perm(a + H0, 0, 0x0123);
}
