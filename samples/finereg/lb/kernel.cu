// A time step of a fluid in a box by the lattice Boltzmann method, 19 velocities and a single relaxation time (Parboil: lbm). A
// thread owns a cell: it fetches what streams in from 18 neighbours, and stores what leaves after the collision. Walls throw
// everything back. A row of cells is a block; planes of the arrays are wider than the box by a border that is only read.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define PITCH 128   // cells of a row, with the border
#define VELOCITIES 19
#define RELAXATION 1.85f

// velocities: 0, then pairs of opposite ones
#define FOR_ALL_PAIRS(DO)                                                                                                   \
    DO(1, 1, 0, 0) DO(3, 0, 1, 0) DO(5, 0, 0, 1) DO(7, 1, 1, 0) DO(9, 1, -1, 0) DO(11, 1, 0, 1) DO(13, 1, 0, -1)            \
    DO(15, 0, 1, 1) DO(17, 0, 1, -1)

extern "C" __global__ void performStreamCollide_kernel(int plane, int volume, const unsigned char *wall,
                                                       const float *before, float *after)
{
    const int cell = (blockIdx.y + 1) * plane + (blockIdx.x + 1) * PITCH + threadIdx.x + 1;
    float f[VELOCITIES];
    f[0] = before[cell];
#define FETCH(v, x, y, z)                                                                                                   \
    f[v] = before[(v) * volume + cell - (x) - (y) * PITCH - (z) * plane];                                                     \
    f[v + 1] = before[(v + 1) * volume + cell + (x) + (y) * PITCH + (z) * plane];
    FOR_ALL_PAIRS(FETCH)
    if (wall[cell]) {
        after[cell] = f[0];
#define THROW_BACK(v, x, y, z)                                                                                              \
    after[(v) * volume + cell] = f[v + 1];                                                                                     \
    after[(v + 1) * volume + cell] = f[v];
        FOR_ALL_PAIRS(THROW_BACK)
        return;
    }
    float density = f[0], ux = 0.0f, uy = 0.0f, uz = 0.0f;
#define ADD(v, x, y, z)                                                                                                     \
    density += f[v] + f[v + 1];                                                                                             \
    ux += (x) * (f[v] - f[v + 1]);                                                                                          \
    uy += (y) * (f[v] - f[v + 1]);                                                                                          \
    uz += (z) * (f[v] - f[v + 1]);
    FOR_ALL_PAIRS(ADD)
    ux /= density;
    uy /= density;
    uz /= density;
    const float rest = 1.0f - 1.5f * (ux * ux + uy * uy + uz * uz);
    after[cell] = (1.0f - RELAXATION) * f[0] + RELAXATION / 3.0f * density * rest;
#define COLLIDE(v, x, y, z)                                                                                                 \
    {                                                                                                                       \
        const float along = (x) * ux + (y) * uy + (z) * uz;                                                                 \
        const float weight = RELAXATION / ((x) * (x) + (y) * (y) + (z) * (z) == 1 ? 18.0f : 36.0f) * density;               \
        const float even = weight * (rest + 4.5f * along * along), odd = weight * 3.0f * along;                             \
        after[(v) * volume + cell] = (1.0f - RELAXATION) * f[v] + even + odd;                                                  \
        after[(v + 1) * volume + cell] = (1.0f - RELAXATION) * f[v + 1] + even - odd;                                          \
    }
    FOR_ALL_PAIRS(COLLIDE)
}
