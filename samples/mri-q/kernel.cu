// The matrix Q of non-Cartesian MRI reconstruction (Parboil: mri-q, ComputeQ_GPU). Every thread sums cosines and sines
// over the samples of k-space for one voxel; the samples sit in constant memory. Two samples a turn, as in the original.
#define MAX_SAMPLES 128

struct Sample {
    float x, y, z, magnitude;
};
__constant__ Sample samples[MAX_SAMPLES];

extern "C" __global__ void __launch_bounds__(256)
ComputeQ_GPU(int n_samples, const float *x, const float *y, const float *z, float *real, float *imaginary)
{
    const float two_pi = 6.2831853071795864769f;
    int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    float px = x[voxel], py = y[voxel], pz = z[voxel];
    float re = real[voxel], im = imaginary[voxel];
    int k = 0;

    if (n_samples & 1) {
        float angle = two_pi * (samples[0].x * px + samples[0].y * py + samples[0].z * pz);
        re += samples[0].magnitude * __cosf(angle);
        im += samples[0].magnitude * __sinf(angle);
        k = 1;
    }
#pragma unroll 1
    for (; k < n_samples; k += 2) {
        float a = two_pi * (samples[k].x * px + samples[k].y * py + samples[k].z * pz);
        float b = two_pi * (samples[k + 1].x * px + samples[k + 1].y * py + samples[k + 1].z * pz);
        re += samples[k].magnitude * __cosf(a);
        im += samples[k].magnitude * __sinf(a);
        re += samples[k + 1].magnitude * __cosf(b);
        im += samples[k + 1].magnitude * __sinf(b);
    }
    real[voxel] = re;
    imaginary[voxel] = im;
}
