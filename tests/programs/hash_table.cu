// An open-addressing hash table: insertion by compare-and-swap, a count per key, then look-up.
#define EMPTY 0xffffffffu

__device__ unsigned scatter(unsigned key)
{
    key = (key ^ key >> 16) * 0x7feb352du;
    key = (key ^ key >> 15) * 0x846ca68bu;
    return key ^ key >> 16;
}

extern "C" __global__ void insert(const unsigned *keys, int n, unsigned *slots, unsigned *counts, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i];
    for (unsigned at = scatter(key) & mask;; at = (at + 1) & mask) {
        unsigned found = atomicCAS(&slots[at], EMPTY, key);
        if (found == EMPTY || found == key) {
            atomicAdd(&counts[at], 1u);
            return;
        }
    }
}

extern "C" __global__ void look_up(const unsigned *keys, int n, const unsigned *slots, const unsigned *counts,
                                   unsigned mask, unsigned *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned at = scatter(keys[i]) & mask;
    while (slots[at] != keys[i] && slots[at] != EMPTY)
        at = (at + 1) & mask;
    found[i] = slots[at] == EMPTY ? 0 : counts[at];
}

// A lock per account: a thread moves money between two accounts while it has both locks, the lower one first.
extern "C" __global__ void transfer(const int2 *moves, int n, int *locks, volatile int *balance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int a = min(moves[i].x, moves[i].y), b = max(moves[i].x, moves[i].y);
    for (bool done = a == b; !done;)
        if (atomicCAS(&locks[a], 0, 1) == 0) {
            if (atomicCAS(&locks[b], 0, 1) == 0) {
                __threadfence();
                balance[moves[i].x] -= 1;
                balance[moves[i].y] += 1;
                __threadfence();
                atomicExch(&locks[b], 0);
                done = true;
            }
            atomicExch(&locks[a], 0);
        }
}
