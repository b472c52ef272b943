// Radix-2 Fourier transform of 512 complex numbers by 256 threads, in shared memory.
extern "C" __global__ void fft(const float2 *in, float2 *out, int inverse)
{
    __shared__ float2 item[512];
    int t = threadIdx.x;
    for (int k = t; k < 512; k += 256)
        item[__brev(k) >> 23] = in[512 * blockIdx.x + k];
    for (int half = 1; half < 512; half *= 2) {
        __syncthreads();
        int k = t & (half - 1), low = 2 * (t - k) + k, high = low + half;
        float s, c;
        sincospif((inverse ? k : -k) / (float)half, &s, &c);
        float2 a = item[low], b = item[high];
        float2 turned = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
        item[low] = make_float2(a.x + turned.x, a.y + turned.y);
        item[high] = make_float2(a.x - turned.x, a.y - turned.y);
    }
    __syncthreads();
    float scale = inverse ? 1.0f / 512 : 1.0f;
    for (int k = t; k < 512; k += 256)
        out[512 * blockIdx.x + k] = make_float2(item[k].x * scale, item[k].y * scale);
}

// Sine and cosine of any angle: those far from zero take the long way of an exact reduction with a local array.
extern "C" __global__ void sines(const float *x, float *sine, float *cosine, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        sine[i] = sinf(x[i]);
        cosine[i] = cosf(x[i]);
    }
}
