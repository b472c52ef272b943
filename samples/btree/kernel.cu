// Range search in a B+ tree (Rodinia: b+tree, findRangeK). One block answers one query: its threads compare one key of a
// node each, for the first and for the last key of the range at once. The node that a search has reached, and the next
// one, lie in global memory, as in the original.
#define ORDER 508

struct Node {
    int location;
    int indices[ORDER + 1]; // children, or the numbers of the records in a leaf
    int keys[ORDER + 1];    // slot i covers keys[i] <= key < keys[i + 1]
    int is_leaf;
    int n_keys;
};

extern "C" __global__ void __launch_bounds__(512)
findRangeK(int height, const Node *nodes, int n_nodes, int *first_node, int *first_next, int *last_node, int *last_next,
           const int *first, const int *last, int *record, int *length)
{
    int t = threadIdx.x;
    int query = blockIdx.x;

#pragma unroll 1
    for (int level = 0; level < height; level++) {
        const Node *a = nodes + first_node[query];
        if (a->keys[t] <= first[query] && a->keys[t + 1] > first[query]) {
            if (a->indices[t] < n_nodes) first_next[query] = a->indices[t];
        }
        const Node *b = nodes + last_node[query];
        if (b->keys[t] <= last[query] && b->keys[t + 1] > last[query]) {
            if (b->indices[t] < n_nodes) last_next[query] = b->indices[t];
        }
        __syncthreads();
        if (t == 0) { // one level down
            first_node[query] = first_next[query];
            last_node[query] = last_next[query];
        }
        __syncthreads();
    }

    const Node *leaf = nodes + first_node[query];
    if (leaf->keys[t] == first[query]) record[query] = leaf->indices[t];
    __syncthreads();
    leaf = nodes + last_node[query];
    if (leaf->keys[t] == last[query]) length[query] = leaf->indices[t] - record[query] + 1;
}
