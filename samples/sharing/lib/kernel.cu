// LIBOR market model: Monte Carlo paths, the value of a portfolio of swaptions on each, and the derivative of the value by the
// last initial rate, hand-written in reverse (GPGPU-Sim: LIB, Pathcalc_Portfolio_KernelGPU). All arrays of a path are indexed
// by variables, so they lie in local memory: 3600 words, 14,400 bytes of a thread. The shocks of all paths are the same, as there.
// A thread takes every path that is a grid's threads further. The original overwrites a rate with its derivative before it
// reads the rate for the last time; this one does not. No loop is unrolled: compilers of that time did not unroll loops of
// unknown length.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#define RATES 80   // room for them
#define STEPS 40   // room for steps, and for the rates after the last step
#define OPTIONS 15

__constant__ int n_rates, n_steps, n_options, maturity[OPTIONS];
__constant__ float delta, swap_rate[OPTIONS], volatility[RATES];

// The rates after each step: `all` keeps those of every step for the way back.
__device__ void path(float *L, const float *z, float *all)
{
#pragma unroll 1
    for (int i = 0; i < n_rates; i++) all[i] = L[i];
#pragma unroll 1
    for (int n = 0; n < n_steps; n++) {
        const float shock = sqrtf(delta) * z[n];
        float drift = 0.0f;
#pragma unroll 1
        for (int i = n + 1; i < n_rates; i++) {
            const float lambda = volatility[i - n - 1];
            const float c = delta * lambda;
            drift += __fdividef(c * L[i], 1.0f + delta * L[i]);
            L[i] *= __expf(c * drift + lambda * (shock - 0.5f * c));
            all[i + (n + 1) * n_rates] = L[i];
        }
    }
}

// The derivatives by the initial rates, from those by the last.
__device__ void path_back(float *L_b, const float *all)
{
#pragma unroll 1
    for (int n = n_steps - 1; n >= 0; n--) {
        float sum = 0.0f;
#pragma unroll 1
        for (int i = n_rates - 1; i > n; i--) {
            sum += volatility[i - n - 1] * all[i + (n + 1) * n_rates] * L_b[i];
            const float factor = __fdividef(delta, 1.0f + delta * all[i + n * n_rates]);
            L_b[i] = L_b[i] * __fdividef(all[i + (n + 1) * n_rates], all[i + n * n_rates]) +
                     sum * volatility[i - n - 1] * factor * factor;
        }
    }
}

// The value of the swaptions, discounted; the rates become the derivatives by them.
__device__ float portfolio(float *L)
{
    float bond[STEPS], annuity[STEPS], bond_b[STEPS], annuity_b[STEPS];
    const int after = n_rates - n_steps;
    float b = 1.0f, s = 0.0f;
#pragma unroll 1
    for (int m = 0; m < after; m++) {
        b = __fdividef(b, 1.0f + delta * L[m + n_steps]);
        s = s + delta * b;
        bond[m] = b;
        annuity[m] = s;
    }
#pragma unroll 1
    for (int m = 0; m < after; m++) {
        bond_b[m] = 0.0f;
        annuity_b[m] = 0.0f;
    }
    float value = 0.0f;
#pragma unroll 1
    for (int i = 0; i < n_options; i++) {
        const int m = maturity[i] - 1;
        const float swap = bond[m] + swap_rate[i] * annuity[m] - 1.0f;
        if (swap < 0.0f) {
            value += -100.0f * swap;
            annuity_b[m] += -100.0f * swap_rate[i];
            bond_b[m] += -100.0f;
        }
    }
#pragma unroll 1
    for (int m = after - 1; m >= 0; m--) {
        const float growth = 1.0f + delta * L[m + n_steps];
        bond_b[m] += delta * annuity_b[m];
        L[m + n_steps] = -bond_b[m] * bond[m] * __fdividef(delta, growth);
        if (m > 0) {
            annuity_b[m - 1] += annuity_b[m];
            bond_b[m - 1] += __fdividef(bond_b[m], growth);
        }
    }
    b = 1.0f;
#pragma unroll 1
    for (int n = 0; n < n_steps; n++) b = b / (1.0f + delta * L[n]);
    value = b * value;
#pragma unroll 1
    for (int n = 0; n < n_steps; n++) L[n] = -value * delta / (1.0f + delta * L[n]);
#pragma unroll 1
    for (int n = n_steps; n < n_rates; n++) L[n] = b * L[n];
    return value;
}

extern "C" __global__ void Pathcalc_Portfolio_KernelGPU(float *value, float *derivative, int paths)
{
    const int first = blockDim.x * blockIdx.x + threadIdx.x, step = blockDim.x * gridDim.x;
    float L[RATES], all[RATES * (STEPS + 1)], z[RATES];
#pragma unroll 1
    for (int p = first; p < paths; p += step) {
#pragma unroll 1
        for (int i = 0; i < n_rates; i++) {
            z[i] = 0.3f;
            L[i] = 0.05f;
        }
        path(L, z, all);
        value[p] = portfolio(L);
        path_back(L, all);
        derivative[p] = L[n_rates - 1];
    }
}
