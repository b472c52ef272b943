// The key with a given MD5 digest (SHOC: md5hash, FindKeyWithDigest_Kernel). Keys are numbers in base `values`, a digit a
// byte. A thread hashes `values` keys that differ in their first byte and leaves the key that has the digest, with the bit
// that MD5 puts after it.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
__device__ __forceinline__ unsigned rotated(unsigned x, int n) { return x << n | x >> (32 - n); }

#define STEP(f, a, b, c, d, word, constant, n) a = b + rotated(a + (f) + (word) + constant##u, n)
#define F(b, c, d) (((c ^ d) & b) ^ d)
#define G(b, c, d) (((b ^ c) & d) ^ c)
#define H(b, c, d) (b ^ c ^ d)
#define I(b, c, d) ((~d | b) ^ c)

// The digest of at most 8 bytes: words 0 and 1 of the block hold them and the bit after them, word 14 their number of bits.
__device__ __forceinline__ void md5_of_two_words(unsigned w0, unsigned w1, unsigned w14, unsigned digest[4])
{
    unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
#define FOUR(f, ka, na, wa, kb, nb, wb, kc, nc, wc, kd, nd, wd)                                                             \
    STEP(f(b, c, d), a, b, c, d, wa, ka, na);                                                                               \
    STEP(f(a, b, c), d, a, b, c, wb, kb, nb);                                                                               \
    STEP(f(d, a, b), c, d, a, b, wc, kc, nc);                                                                               \
    STEP(f(c, d, a), b, c, d, a, wd, kd, nd);
    FOUR(F, 0xd76aa478, 7, w0, 0xe8c7b756, 12, w1, 0x242070db, 17, 0, 0xc1bdceee, 22, 0)
    FOUR(F, 0xf57c0faf, 7, 0, 0x4787c62a, 12, 0, 0xa8304613, 17, 0, 0xfd469501, 22, 0)
    FOUR(F, 0x698098d8, 7, 0, 0x8b44f7af, 12, 0, 0xffff5bb1, 17, 0, 0x895cd7be, 22, 0)
    FOUR(F, 0x6b901122, 7, 0, 0xfd987193, 12, 0, 0xa679438e, 17, w14, 0x49b40821, 22, 0)
    FOUR(G, 0xf61e2562, 5, w1, 0xc040b340, 9, 0, 0x265e5a51, 14, 0, 0xe9b6c7aa, 20, w0)
    FOUR(G, 0xd62f105d, 5, 0, 0x02441453, 9, 0, 0xd8a1e681, 14, 0, 0xe7d3fbc8, 20, 0)
    FOUR(G, 0x21e1cde6, 5, 0, 0xc33707d6, 9, w14, 0xf4d50d87, 14, 0, 0x455a14ed, 20, 0)
    FOUR(G, 0xa9e3e905, 5, 0, 0xfcefa3f8, 9, 0, 0x676f02d9, 14, 0, 0x8d2a4c8a, 20, 0)
    FOUR(H, 0xfffa3942, 4, 0, 0x8771f681, 11, 0, 0x6d9d6122, 16, 0, 0xfde5380c, 23, w14)
    FOUR(H, 0xa4beea44, 4, w1, 0x4bdecfa9, 11, 0, 0xf6bb4b60, 16, 0, 0xbebfbc70, 23, 0)
    FOUR(H, 0x289b7ec6, 4, 0, 0xeaa127fa, 11, w0, 0xd4ef3085, 16, 0, 0x04881d05, 23, 0)
    FOUR(H, 0xd9d4d039, 4, 0, 0xe6db99e5, 11, 0, 0x1fa27cf8, 16, 0, 0xc4ac5665, 23, 0)
    FOUR(I, 0xf4292244, 6, w0, 0x432aff97, 10, 0, 0xab9423a7, 15, w14, 0xfc93a039, 21, 0)
    FOUR(I, 0x655b59c3, 6, 0, 0x8f0ccc92, 10, 0, 0xffeff47d, 15, 0, 0x85845dd1, 21, w1)
    FOUR(I, 0x6fa87e4f, 6, 0, 0xfe2ce6e0, 10, 0, 0xa3014314, 15, 0, 0x4e0811a1, 21, 0)
    FOUR(I, 0xf7537e82, 6, 0, 0xbd3af235, 10, 0, 0x2ad7d2bb, 15, 0, 0xeb86d391, 21, 0)
    digest[0] = a + 0x67452301;
    digest[1] = b + 0xefcdab89;
    digest[2] = c + 0x98badcfe;
    digest[3] = d + 0x10325476;
}

extern "C" __global__ void FindKeyWithDigest_Kernel(unsigned wanted0, unsigned wanted1, unsigned wanted2, unsigned wanted3,
                                                    int keys, int bytes, int values, int *found_index,
                                                    unsigned *found_key, unsigned *found_digest)
{
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * values;
    unsigned char key[8];
    int rest = first;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        key[i] = i < bytes ? rest % values : i == bytes ? 0x80 : 0;
        rest /= values;
    }
#pragma unroll 1
    for (int j = 0; j < values && first + j < keys; j++) {
        const unsigned w0 = key[0] | key[1] << 8 | key[2] << 16 | key[3] << 24;
        const unsigned w1 = key[4] | key[5] << 8 | key[6] << 16 | key[7] << 24;
        unsigned digest[4];
        md5_of_two_words(w0, w1, bytes * 8, digest);
        if (digest[0] == wanted0 && digest[1] == wanted1 && digest[2] == wanted2 && digest[3] == wanted3) {
            *found_index = first + j;
            found_key[0] = w0;
            found_key[1] = w1;
            for (int i = 0; i < 4; i++) found_digest[i] = digest[i];
        }
        key[0]++;
    }
}
