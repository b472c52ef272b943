// European call options by Monte Carlo simulation (CUDA SDK: MonteCarlo, one block an option). Threads add what their paths pay,
// and its square; a tree in shared memory adds the threads' sums.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define THREADS 256
#define MAX_OPTIONS 1024

struct Option {
    float price, strike, drift, volatility; // drift and volatility for the whole time
};

__constant__ Option options[MAX_OPTIONS];

extern "C" __global__ void MonteCarloOneBlockPerOption(int n_paths, const float *samples, float *sums)
{
    __shared__ float pays[THREADS], squares[THREADS];
    const Option option = options[blockIdx.x];
    const int t = threadIdx.x;
    float pay = 0.0f, square = 0.0f;
    for (int path = t; path < n_paths; path += THREADS) {
        const float final_price = option.price * __expf(option.drift + option.volatility * samples[path]);
        const float paid = fmaxf(final_price - option.strike, 0.0f);
        pay += paid;
        square += paid * paid;
    }
    pays[t] = pay;
    squares[t] = square;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            pays[t] += pays[t + half];
            squares[t] += squares[t + half];
        }
    }
    if (t == 0) {
        sums[2 * blockIdx.x] = pays[0];
        sums[2 * blockIdx.x + 1] = squares[0];
    }
}
