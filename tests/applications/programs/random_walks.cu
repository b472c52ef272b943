// A Monte Carlo estimate in managed memory: objects of the program's own, read and written on both sides without copies.
#include <cmath>
#include <new>
#include "check.h"

struct Managed { // objects that new places in managed memory
    static void *operator new(size_t bytes) {
        void *place;
        CHECK(cudaMallocManaged(&place, bytes));
        return place;
    }
    static void operator delete(void *place) { CHECK(cudaFree(place)); }
};
struct Generator {
    unsigned long long state;
    __device__ __host__ double next() {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (state >> 11) * (1.0 / 9007199254740992.0);
    }
};
struct Estimate : Managed {
    int threads, samples;
    Generator *generators;
    unsigned long long inside;
    Estimate(int threads, int samples) : threads(threads), samples(samples), inside(0) {
        CHECK(cudaMallocManaged(&generators, threads * sizeof(Generator)));
        for (int i = 0; i < threads; i++)
            generators[i].state = i * 0x9e3779b97f4a7c15ull + 1;
    }
    ~Estimate() { CHECK(cudaFree(generators)); }
    __device__ __host__ int walk(int thread) {
        int found = 0;
        Generator own = generators[thread];
        for (int k = 0; k < samples; k++) {
            double x = own.next(), y = own.next();
            found += x * x + y * y < 1;
        }
        generators[thread] = own;
        return found;
    }
};
__managed__ int n_launches;

__global__ void walk(Estimate *estimate) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < estimate->threads)
        atomicAdd(&estimate->inside, (unsigned long long)estimate->walk(thread));
    if (thread == 0)
        n_launches++;
}

int main() {
    Estimate *device = new Estimate(500, 30), *host = new Estimate(500, 30);
    for (int round = 1; round <= 3; round++) {
        walk<<<4, 128>>>(device);
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < host->threads; i++)
            host->inside += host->walk(i);
        EXPECT(device->inside == host->inside && n_launches == round);
        EXPECT(device->generators[499].state == host->generators[499].state);
        device->generators[499].state ^= 5; // the host's turn
        host->generators[499].state ^= 5;
    }
    EXPECT(std::fabs(4.0 * device->inside / (3 * 500 * 30) - 3.14159) < 0.03);
    delete device;
    delete host;
    puts("estimates are right");
    return 0;
}
