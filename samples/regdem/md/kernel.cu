// Lennard-Jones forces between atoms (SHOC: md, compute_lj_force<double>). A thread sums the forces of the atoms in its
// atom's list of neighbours, as far as they are within the cutoff. The lists of a block's atoms are interleaved, so that its
// loads are coalesced; the positions that they name are scattered.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define THREADS 256
#define LJ1 1.5
#define LJ2 2.0

struct __align__(16) Vector {
    double x, y, z, w;
};

extern "C" __global__ void compute_lj_force(Vector *force, const Vector *position, const int *neighbour, int neighbours,
                                            double cutoff2)
{
    const int atom = blockIdx.x * THREADS + threadIdx.x;
    const Vector here = position[atom];
    double3 f = make_double3(0.0, 0.0, 0.0);
    unsigned at = blockIdx.x * neighbours * THREADS + threadIdx.x;
#pragma unroll 1
    for (int left = neighbours; left > 0; left--) {
        const Vector there = position[neighbour[at]];
        at += THREADS;
        const double dx = here.x - there.x, dy = here.y - there.y, dz = here.z - there.z;
        double r2inv = dx * dx + dy * dy + dz * dz;
        if (r2inv < cutoff2) {
            r2inv = 1.0 / r2inv;
            const double r6inv = r2inv * r2inv * r2inv;
            const double scale = r2inv * r6inv * (LJ1 * r6inv - LJ2);
            f.x += dx * scale;
            f.y += dy * scale;
            f.z += dz * scale;
        }
    }
    Vector *result = force + (unsigned)atom; // unsigned, so that the loop keeps one 32-bit index, not the offset of `here`
    result->x = f.x;
    result->y = f.y;
    result->z = f.z;
}
