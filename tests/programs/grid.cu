// CTAs that wait for one another, and threads that take a lock from one another.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// heat along a ring: every step reads what all CTAs wrote in the step before
extern "C" __global__ void diffuse(float *now, float *next, int n, int steps) {
    cg::grid_group grid = cg::this_grid();
    int i = int(grid.thread_rank());
    for (int s = 0; s < steps; s++) {
        if (i < n) next[i] = 0.5f * now[i] + 0.25f * (now[(i + 1) % n] + now[(i + n - 1) % n]);
        grid.sync();
        float *t = now;
        now = next;
        next = t;
    }
}

struct Account { int lock, balance, last; };

// threads of all warps and CTAs move money under two locks, taken in the order of the accounts
__device__ void take(Account *a) {
    while (atomicCAS(&a->lock, 0, 1) != 0) {}
    __threadfence();
}

__device__ void give(Account *a) {
    __threadfence();
    atomicExch(&a->lock, 0);
}

extern "C" __global__ void transfer(Account *accounts, const int *from, const int *to, const int *amount) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Account *a = accounts + min(from[i], to[i]), *b = accounts + max(from[i], to[i]);
    take(a);
    if (a != b) take(b);
    volatile int *source = &accounts[from[i]].balance, *target = &accounts[to[i]].balance;
    *source = *source - amount[i];
    *target = *target + amount[i];
    if (a != b) give(b);
    give(a);
}

// the last CTA to arrive adds up what all have left
__device__ unsigned int arrived;

extern "C" __global__ void total(const int *x, int *parts, int *sum) {
    __shared__ bool is_last;
    int mine = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int step = 16; step > 0; step >>= 1) mine += __shfl_down_sync(0xffffffff, mine, step);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = mine;
        __threadfence();
        is_last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        int s = 0;
        for (int k = 0; k < gridDim.x; k++) s += static_cast<volatile int *>(parts)[k];
        *sum = s;
    }
}
