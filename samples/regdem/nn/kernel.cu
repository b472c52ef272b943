// Nearest neighbours in a k-d tree (Treelogy: nn, nearest_neighbor_search). A thread walks the tree for its query with a
// stack in local memory, the nearer child first, and leaves out nodes whose box is farther than what it has found: the box
// is taken for the sphere around it, as in the original.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define THREADS 192
#define DIM 6

struct __align__(16) Node {
    int axis; // DIM: a leaf
    float value;
    int left, right; // children; of a leaf: its first point, and the one after its last
};
struct Box {
    float min[DIM], max[DIM];
};

extern "C" __global__ void nearest_neighbor_search(const Node *nodes, const Box *boxes, const float *training,
                                                   const float *queries, int n_queries, int *closest, float *closest_distance)
{
    __shared__ float query[DIM][THREADS];
    int stack[64];
    const int tid = threadIdx.x;
    const int i = blockIdx.x * THREADS + tid;
    if (i >= n_queries) return;
#pragma unroll
    for (int d = 0; d < DIM; d++) query[d][tid] = queries[i * DIM + d];
    int nearest = -1;
    float best = 3.402823466e38f;
    int top = 0;
    stack[0] = 0;
    while (top >= 0) {
        const int at = stack[top--];
        float to_centre = 0.0f, radius = 0.0f;
#pragma unroll
        for (int d = 0; d < DIM; d++) {
            const float max = boxes[at].max[d], min = boxes[at].min[d];
            const float half = (max - min) / 2, away = query[d][tid] - (max + min) / 2;
            to_centre += away * away;
            radius += half * half;
        }
        if (sqrtf(to_centre) - sqrtf(radius) >= sqrtf(best)) continue;
        const Node node = nodes[at];
        if (node.axis == DIM) {
            for (int point = node.left; point < node.right; point++) {
                float distance = 0.0f;
#pragma unroll
                for (int d = 0; d < DIM; d++) {
                    const float away = training[point * DIM + d] - query[d][tid];
                    distance += away * away;
                }
                if (distance < best) {
                    best = distance;
                    nearest = point;
                }
            }
        } else {
            const bool left_first = query[node.axis][tid] < node.value;
            stack[++top] = left_first ? node.right : node.left;
            stack[++top] = left_first ? node.left : node.right;
        }
    }
    closest[i] = nearest;
    closest_distance[i] = best;
}
