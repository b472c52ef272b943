// Walks over a binary search tree in arrays: left, right (-1: none) and key of every node.
__device__ __noinline__ int count_below(const int *left, const int *right, const int *key, int node, int limit)
{
    if (node < 0)
        return 0;
    int here = count_below(left, right, key, left[node], limit);
    if (key[node] >= limit)
        return here;
    return here + 1 + count_below(left, right, key, right[node], limit);
}

// How many keys are smaller than each limit, by recursion.
extern "C" __global__ void ranks_recursive(const int *left, const int *right, const int *key, int root,
                                           const int *limits, int *ranks)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ranks[i] = count_below(left, right, key, root, limits[i]);
}

// The same with a stack of its own in local memory.
extern "C" __global__ void ranks_stack(const int *left, const int *right, const int *key, int root,
                                       const int *limits, int *ranks)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int stack[64], top = 0, rank = 0;
    stack[top++] = root;
    while (top > 0) {
        int node = stack[--top];
        if (node < 0)
            continue;
        if (key[node] < limits[i]) {
            rank++;
            stack[top++] = right[node];
        }
        stack[top++] = left[node];
    }
    ranks[i] = rank;
}
