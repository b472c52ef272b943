// Products of bytes four at a time, and what SIMD-in-a-word does to pixels.
extern "C" __global__ void dot(const int *a, const int *b, int *out, int words)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int k = 0; k < words; k++)
        sum = __dp4a(a[row * words + k], b[k], sum);
    out[row] = sum;
}

extern "C" __global__ void pixels(const unsigned *a, const unsigned *b, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __vaddus4(a[i], b[i]);
    out[n + i] = __vabsdiffu4(a[i], b[i]);
    out[2 * n + i] = __vavgu4(a[i], b[i]);
    out[3 * n + i] = __vmaxs2(a[i], b[i]);
    out[4 * n + i] = __vcmpgtu4(a[i], b[i]);
    out[5 * n + i] = __byte_perm(a[i], b[i], 0x2715);
    out[6 * n + i] = __funnelshift_l(a[i], b[i], b[i]);
    out[7 * n + i] = __usad(a[i], b[i], 7);
}
