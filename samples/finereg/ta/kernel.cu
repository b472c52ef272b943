// Histograms of the angles between two sets of points on a sphere (Parboil: tpacf, gen_hists). A block has a set of its own, a
// point a thread, and takes the points of the other set from shared memory. Two threads share a histogram, which they count in
// with atomics; in the end a warp adds the histograms of a bin.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define THREADS 256
#define BINS 20
#define HISTOGRAMS (THREADS / 2)

struct Point {
    float x, y, z;
};

__constant__ float edges[BINS + 1]; // of the bins, cosines, ascending

extern "C" __global__ void gen_hists(int n, const Point *points, const Point *sets, unsigned *counts)
{
    __shared__ Point others[THREADS];
    __shared__ unsigned histograms[BINS][HISTOGRAMS];
    const int t = threadIdx.x;
    for (int k = t; k < BINS * HISTOGRAMS; k += THREADS) histograms[0][k] = 0;
    const Point own = sets[blockIdx.x * THREADS + t];
    for (int first = 0; first < n; first += THREADS) {
        const int here = min(n - first, THREADS);
        __syncthreads();
        if (t < here) others[t] = points[first + t];
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < here; k++) {
            const float cosine = own.x * others[k].x + own.y * others[k].y + own.z * others[k].z;
            int low = 0, high = BINS;
#pragma unroll 1
            while (high > low + 1) {
                const int middle = (low + high) / 2;
                if (cosine < edges[middle])
                    high = middle;
                else
                    low = middle;
            }
            atomicAdd(&histograms[low][t / 2], 1u);
        }
    }
    __syncthreads();
    for (int bin = t / 32; bin < BINS; bin += THREADS / 32) {
        unsigned sum = 0;
        for (int k = t % 32; k < HISTOGRAMS; k += 32) sum += histograms[bin][k];
        for (int away = 16; away > 0; away /= 2) sum += __shfl_down_sync(0xffffffffu, sum, away);
        if (t % 32 == 0) counts[blockIdx.x * BINS + bin] = sum;
    }
}
