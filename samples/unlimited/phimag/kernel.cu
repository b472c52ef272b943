// Magnetic resonance imaging: squared magnitudes of the samples in k-space.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
extern "C" __global__ void phimag(const float *real, const float *imaginary, float *magnitude, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float r = real[i], s = imaginary[i];
        magnitude[i] = r * r + s * s;
    }
}
