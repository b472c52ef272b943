// LIBOR market model, Monte Carlo paths and the value of a portfolio of swaptions on each (GPGPU-Sim's LIB,
// Pathcalc_Portfolio_KernelGPU, without the derivatives). Rates, bonds and annuities of a path are indexed by variables,
// so they live in local memory: 480 bytes a thread, 90 KB a block, 5 MB of 4 blocks on each of 14 SMs.
#define RATES 40
#define STEPS 2
#define OPTIONS 15

__constant__ float volatility[RATES];
__constant__ float swap_rate[OPTIONS];
__constant__ int maturity[OPTIONS];

extern "C" __global__ void __launch_bounds__(192)
Pathcalc_Portfolio_KernelGPU(const float *shocks, float *value, int paths, float delta, float rate)
{
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    float L[RATES];

#pragma unroll 1
    for (int i = 0; i < RATES; i++) L[i] = rate;

    // the path: after step n the rates from n + 1 on have moved
    float root = sqrtf(delta);
#pragma unroll 1
    for (int n = 0; n < STEPS; n++) {
        float shock = root * shocks[n * paths + path];
        float v = 0.0f;
#pragma unroll 4
        for (int i = n + 1; i < RATES; i++) {
            float lambda = volatility[i - n - 1];
            float c = delta * lambda;
            v += __fdividef(c * L[i], 1.0f + delta * L[i]);
            L[i] *= __expf(c * v + lambda * (shock - 0.5f * c));
        }
    }

    // bonds and annuities from the last step on, then the swaptions at their maturities
    float bonds[RATES], annuities[RATES];
    float bond = 1.0f, annuity = 0.0f, sum = 0.0f;
#pragma unroll 1
    for (int n = STEPS; n < RATES; n++) {
        bond = __fdividef(bond, 1.0f + delta * L[n]);
        annuity += delta * bond;
        bonds[n] = bond;
        annuities[n] = annuity;
    }
#pragma unroll 1
    for (int i = 0; i < OPTIONS; i++) {
        int m = maturity[i];
        float swap = bonds[m] + swap_rate[i] * annuities[m] - 1.0f;
        if (swap < 0.0f) sum -= 100.0f * swap;
    }
#pragma unroll 1
    for (int n = 0; n < STEPS; n++) sum = __fdividef(sum, 1.0f + delta * L[n]);
    value[path] = sum;
}
