// Potential and forces between the particles of a box and those of the boxes around it, within a cut-off radius.
// 128 threads work on one box. A box has room for 200 particles, so that the particles of the home box, those of one
// neighbour and their charges take 7200 bytes of scratchpad. The home box is its own first neighbour.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define ROOM 200
#define THREADS 128

struct Four { float v, x, y, z; };

extern "C" __global__ void lavamd(int boxes, float alpha, const int *particles, const int *first_neighbour,
                                  const int *neighbour, const Four *position, const float *charge, Four *force)
{
    __shared__ Four home[ROOM];
    __shared__ Four other[ROOM];
    __shared__ float other_charge[ROOM];
    const int box = blockIdx.x;
    if (box >= boxes) return;
    const float a2 = 2.0f * alpha * alpha;
    const int n_home = particles[box];
#pragma unroll 1
    for (int i = threadIdx.x; i < n_home; i += THREADS) home[i] = position[box * ROOM + i];
    __syncthreads();
    const int begin = first_neighbour[box], end = first_neighbour[box + 1];
    for (int k = begin - 1; k < end; k++) {
        const int from = k < begin ? box : neighbour[k];
        const int n_other = particles[from];
#pragma unroll 1
        for (int i = threadIdx.x; i < n_other; i += THREADS) {
            const float q = charge[from * ROOM + i];
            other[i] = position[from * ROOM + i];
            other_charge[i] = q;
        }
        __syncthreads();
#pragma unroll 1
        for (int i = threadIdx.x; i < n_home; i += THREADS) {
            Four sum = force[box * ROOM + i];
#pragma unroll 1
            for (int j = 0; j < n_other; j++) {
                const float dot = home[i].x * other[j].x + home[i].y * other[j].y + home[i].z * other[j].z;
                const float vij = __expf(-a2 * (home[i].v + other[j].v - dot));
                const float fs = 2.0f * vij;
                sum.v += other_charge[j] * vij;
                sum.x += other_charge[j] * (fs * (home[i].x - other[j].x));
                sum.y += other_charge[j] * (fs * (home[i].y - other[j].y));
                sum.z += other_charge[j] * (fs * (home[i].z - other[j].z));
            }
            force[box * ROOM + i] = sum;
        }
        __syncthreads();
    }
}
