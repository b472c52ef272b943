// Recursive Gaussian filter, the columns of a color image (CUDA SDK: recursiveGaussian, d_recursiveGaussian_rgba). A thread
// goes down a column and up again, and adds what both ways give; an output depends on two inputs and the two outputs before
// it. Two rows a turn (the image has an even number of rows), so that no value is moved from a register to another.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
__device__ __forceinline__ float4 unpacked(unsigned c)
{
    const float scale = 1.0f / 255.0f;
    return make_float4((c & 0xff) * scale, (c >> 8 & 0xff) * scale, (c >> 16 & 0xff) * scale, (c >> 24) * scale);
}

__device__ __forceinline__ unsigned packed(float4 c)
{
    const unsigned r = __saturatef(c.x) * 255.0f, g = __saturatef(c.y) * 255.0f;
    const unsigned b = __saturatef(c.z) * 255.0f, a = __saturatef(c.w) * 255.0f;
    return a << 24 | b << 16 | g << 8 | r;
}

__device__ __forceinline__ float4 operator*(float a, float4 v) { return make_float4(a * v.x, a * v.y, a * v.z, a * v.w); }
__device__ __forceinline__ float4 operator+(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ __forceinline__ float4 operator-(float4 a, float4 b)
{
    return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}

extern "C" __global__ void d_recursiveGaussian_rgba(const unsigned *in, unsigned *out, int width, int height, float a0,
                                                    float a1, float a2, float a3, float b1, float b2, float coefp, float coefn)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    in += x;
    out += x;
    float4 xp = unpacked(*in), yb = coefp * xp, yp = yb;
#pragma unroll 1
    for (int y = height; y > 0; y -= 2) {
        const float4 x0 = unpacked(in[0]), x1 = unpacked(in[width]);
        const float4 y0 = a0 * x0 + a1 * xp - b1 * yp - b2 * yb;
        out[0] = packed(y0);
        xp = x1;
        yb = y0;
        yp = a0 * xp + a1 * x0 - b1 * y0 - b2 * yp;
        out[width] = packed(yp);
        in += 2 * width;
        out += 2 * width;
    }
    in -= width;
    out -= width;
    float4 xn = unpacked(*in), xa = xn, yn = coefn * xn, ya = yn;
#pragma unroll 1
    for (int y = height; y > 0; y -= 2) {
        const float4 x0 = unpacked(in[0]), x1 = unpacked(in[-width]);
        const float4 y0 = a2 * xn + a3 * xa - b1 * yn - b2 * ya;
        out[0] = packed(unpacked(out[0]) + y0);
        ya = y0;
        yn = a2 * x0 + a3 * xn - b1 * y0 - b2 * yn;
        out[-width] = packed(unpacked(out[-width]) + yn);
        xa = x0;
        xn = x1;
        in -= 2 * width;
        out -= 2 * width;
    }
}
