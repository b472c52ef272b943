// Two-point correlation with a k-d tree (Treelogy: pc, compute_correlation). A thread counts the points within a radius of
// its own. The lanes of a warp walk the tree together with one stack in shared memory; a lane for which a node is too far
// sits out until the walk has left what is below it.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define THREADS 256
#define DIM 7
#define DEPTH 64

struct Box {
    float min[DIM], max[DIM];
};

extern "C" __global__ void compute_correlation(const Box *boxes, const int2 *children, const float *points,
                                               int n_points, float radius, int *correlation)
{
    __shared__ int stacks[THREADS / 32][DEPTH];
    int *stack = stacks[threadIdx.x / 32];
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n_points; i += gridDim.x * THREADS) {
        float here[DIM];
#pragma unroll
        for (int d = 0; d < DIM; d++) here[d] = points[i * DIM + d];
        int found = 0, top = 0, cut = DEPTH;
        if (threadIdx.x % 32 == 0) stack[0] = 0;
        while (top >= 0) {
            __syncwarp();
            const int node = stack[top];
            const bool active = top-- <= cut;
            float to_centre = 0.0f, half_diagonal = 0.0f;
#pragma unroll
            for (int d = 0; d < DIM; d++) {
                const float max = boxes[node].max[d], min = boxes[node].min[d];
                const float half = (max - min) / 2, away = here[d] - (max + min) / 2;
                to_centre += away * away;
                half_diagonal += half * half;
            }
            const bool near = active && sqrtf(to_centre) - sqrtf(half_diagonal) < radius;
            if (active) cut = near ? DEPTH : top;
            if (!__any_sync(0xffffffff, near)) continue;
            const int2 child = children[node];
            if (child.x < 0) {
                float distance = 0.0f;
#pragma unroll
                for (int d = 0; d < DIM; d++) distance += (here[d] - boxes[node].max[d]) * (here[d] - boxes[node].max[d]);
                if (near && sqrtf(distance) < radius) found++;
            } else {
                __syncwarp();
                if (threadIdx.x % 32 == 0) {
                    stack[top + 1] = child.y;
                    stack[top + 2] = child.x;
                }
                top += 2;
            }
        }
        correlation[i] = found;
    }
}
