// The matrix Q of non-Cartesian MRI reconstruction (Parboil: mri-q, ComputeQ_GPU). A thread sums cosines and sines over the
// samples of k-space for one voxel, two samples a turn; 1024 samples lie in constant memory. A launch starts at sample
// `first` of all `n_samples` and ends where the samples or those in constant memory end.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#define IN_CONSTANT_MEMORY 1024
#define THREADS 256

struct Sample {
    float x, y, z, magnitude;
};
__constant__ Sample samples[IN_CONSTANT_MEMORY];

extern "C" __global__ void ComputeQ_GPU(int n_samples, int first, const float *x, const float *y, const float *z,
                                        float *real, float *imaginary)
{
    const float two_pi = 6.2831853071795864769f;
    const int voxel = blockIdx.x * THREADS + threadIdx.x;
    const float px = x[voxel], py = y[voxel], pz = z[voxel];
    float re = real[voxel], im = imaginary[voxel];
    int i = 0;

    if (n_samples % 2) {
        const float angle = two_pi * (samples[0].x * px + samples[0].y * py + samples[0].z * pz);
        re += samples[0].magnitude * __cosf(angle);
        im += samples[0].magnitude * __sinf(angle);
        i++;
        first++;
    }
    for (; i < IN_CONSTANT_MEMORY && first < n_samples; i += 2, first += 2) {
        const float a = two_pi * (samples[i].x * px + samples[i].y * py + samples[i].z * pz);
        re += samples[i].magnitude * __cosf(a);
        im += samples[i].magnitude * __sinf(a);
        const float b = two_pi * (samples[i + 1].x * px + samples[i + 1].y * py + samples[i + 1].z * pz);
        re += samples[i + 1].magnitude * __cosf(b);
        im += samples[i + 1].magnitude * __sinf(b);
    }
    real[voxel] = re;
    imaginary[voxel] = im;
}
