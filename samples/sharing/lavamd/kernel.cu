// Potential and forces between the particles of a box and those of the boxes around it (Rodinia: lavaMD, kernel_gpu_cuda).
// 128 threads work on a box of 100 particles: those of the home box, those of a neighbour and its charges lie in scratchpad, 7200
// bytes in double precision. The home box is its own first neighbour. Sums are read from memory and written to it for every pair.
// The structures are those that the original passes by value: a kernel that reads 0 for `number_boxes` does nothing.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#define PARTICLES 100
#define THREADS 128
#define NEIGHBOURS 26

struct Parameters { double alpha; };
struct Sizes { int cur_arg, arch_arg, cores_arg, boxes1d_arg; long number_boxes, box_mem, space_elem, space_mem, space_mem2; };
struct Neighbour { int x, y, z, number; long offset; };
struct Box { int x, y, z, number; long offset; int nn; Neighbour nei[NEIGHBOURS]; };
struct Four { double v, x, y, z; };
struct Three { double x, y, z; };

extern "C" __global__ void kernel_gpu_cuda(Parameters parameters, Sizes sizes, Box *boxes, Four *position, double *charge,
                                           Four *force)
{
    const int b = blockIdx.x, t = threadIdx.x;
    if (b < sizes.number_boxes) {
        const double a2 = 2.0 * parameters.alpha * parameters.alpha;
        __shared__ Four home[PARTICLES];
        __shared__ Four other[PARTICLES];
        __shared__ double other_charge[PARTICLES];
        Four *position_home = &position[boxes[b].offset], *sum = &force[boxes[b].offset];
        int i = t;
        while (i < PARTICLES) {
            home[i] = position_home[i];
            i = i + THREADS;
        }
        i = t;
        __syncthreads();
        for (int k = 0; k < 1 + boxes[b].nn; k++) {
            const int pointer = k == 0 ? b : boxes[b].nei[k - 1].number;
            const int first = boxes[pointer].offset;
            while (i < PARTICLES) {
                other[i] = position[first + i];
                other_charge[i] = charge[first + i];
                i = i + THREADS;
            }
            i = t;
            __syncthreads();
            while (i < PARTICLES) {
#pragma unroll 1
                for (int j = 0; j < PARTICLES; j++) {
                    const double r2 = home[i].v + other[j].v -
                                      (home[i].x * other[j].x + home[i].y * other[j].y + home[i].z * other[j].z);
                    const double vij = exp(-(a2 * r2));
                    const double fs = 2.0 * vij;
                    const Three d = {home[i].x - other[j].x, home[i].y - other[j].y, home[i].z - other[j].z};
                    sum[i].v += other_charge[j] * vij;
                    sum[i].x += other_charge[j] * (fs * d.x);
                    sum[i].y += other_charge[j] * (fs * d.y);
                    sum[i].z += other_charge[j] * (fs * d.z);
                }
                i = i + THREADS;
            }
            i = t;
            __syncthreads();
        }
    }
}
