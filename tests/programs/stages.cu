// Half of the warps make items, the others use them: named barriers say when a slot is full and when it is free again.
#define SLOTS 2
#define ITEMS 64

extern "C" __global__ void hand_over(const int *in, int *out, int rounds)
{
    __shared__ int slot[SLOTS][ITEMS];
    int t = threadIdx.x & (ITEMS - 1);
    bool makes = threadIdx.x < ITEMS;
    for (int k = 0; k < rounds; k++) {
        int s = k % SLOTS, full = 1 + s, free = 1 + SLOTS + s;
        if (makes) {
            if (k >= SLOTS)
                asm volatile("bar.sync %0, %1;" ::"r"(free), "n"(2 * ITEMS) : "memory");
            slot[s][t] = in[(blockIdx.x * rounds + k) * ITEMS + t] * 3;
            asm volatile("bar.arrive %0, %1;" ::"r"(full), "n"(2 * ITEMS) : "memory");
        } else {
            asm volatile("bar.sync %0, %1;" ::"r"(full), "n"(2 * ITEMS) : "memory");
            out[(blockIdx.x * rounds + k) * ITEMS + t] = slot[s][ITEMS - 1 - t] + 1;
            if (k + SLOTS < rounds)
                asm volatile("bar.arrive %0, %1;" ::"r"(free), "n"(2 * ITEMS) : "memory");
        }
    }
}

// Votes of a whole CTA: Newton's method until no thread moves any more.
extern "C" __global__ void roots(const float *x, float *root, int *rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
    float r = x[i];
    bool moves;
    do {
        float next = 0.5f * (r + x[i] / r);
        moves = fabsf(next - r) > 1e-6f * r;
        r = next;
        n++;
    } while (__syncthreads_or(moves) && n < 50);
    root[i] = r;
    int settled = __syncthreads_count(!moves);
    if (__syncthreads_and(settled == blockDim.x) && threadIdx.x == 0)
        rounds[blockIdx.x] = n;
}
