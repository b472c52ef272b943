// Nearest neighbours in a vantage-point tree (Treelogy: vptree, search_kernel). A node's left subtree has the points within
// its threshold of the node's point. A thread walks the tree for its target with a stack in local memory; a node that was
// pushed is measured against its parent again, since what was found meanwhile may rule it out.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define THREADS 256
#define DIM 8

struct Node {
    float threshold;
    int left, right, parent; // -1: none
};

extern "C" __global__ void search_kernel(const Node *nodes, const float *points, const float *targets, int n_targets,
                                         int *nearest, float *distance)
{
    int stack[64];
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n_targets) return;
    float target[DIM];
#pragma unroll
    for (int d = 0; d < DIM; d++) target[d] = targets[i * DIM + d];
    float tau = 3.402823466e38f;
    int closest = -1, top = 0;
    stack[0] = 0;
    while (top >= 0) {
        const int at = stack[top--];
        const Node node = nodes[at];
        if (node.parent >= 0) {
            const Node parent = nodes[node.parent];
            float square = 0.0f;
#pragma unroll
            for (int d = 0; d < DIM; d++)
                square += (target[d] - points[node.parent * DIM + d]) * (target[d] - points[node.parent * DIM + d]);
            const float above = sqrtf(square);
            if (at == parent.left ? above > parent.threshold + tau : above < parent.threshold - tau) continue;
        }
        float square = 0.0f;
#pragma unroll
        for (int d = 0; d < DIM; d++) square += (target[d] - points[at * DIM + d]) * (target[d] - points[at * DIM + d]);
        const float here = sqrtf(square);
        if (here < tau) {
            tau = here;
            closest = at;
        }
        const bool inside = here < node.threshold;
        const int near = inside ? node.left : node.right, far = inside ? node.right : node.left;
        if (far >= 0) stack[++top] = far;
        if (near >= 0) stack[++top] = near;
    }
    nearest[i] = closest;
    distance[i] = tau;
}
