// Clusters of thread blocks (sm_90): distributed shared memory through cooperative groups.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// A histogram whose bins are spread over the blocks of a cluster: block r has bins [r * per, (r + 1) * per).
extern "C" __global__ void spread_histogram(const unsigned *in, int n, unsigned *bins, int per)
{
    extern __shared__ unsigned mine[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int k = threadIdx.x; k < per; k += blockDim.x)
        mine[k] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned *there = cluster.map_shared_rank(mine, in[i] / per);
        atomicAdd(there + in[i] % per, 1u);
    }
    cluster.sync();
    for (int k = threadIdx.x; k < per; k += blockDim.x)
        atomicAdd(bins + cluster.block_rank() * per + k, mine[k]);
}

// The sum of each pair of blocks: the second one reads what the first has, and tells it the result.
extern "C" __global__ void __cluster_dims__(2, 1, 1) pair_sums(const int *in, int *out)
{
    __shared__ int values[64], total[64];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    values[t] = in[i];
    cluster.sync();
    if (cluster.block_rank() == 1) {
        const int *other = cluster.map_shared_rank(values, 0);
        int sum = other[t] + values[t];
        total[t] = sum;
        cluster.map_shared_rank(total, 0)[t] = sum;
    }
    cluster.sync();
    out[i] = total[t];
}

// Split arrival and wait, in clusters of two dimensions: every block gives its place to the one diagonally across.
extern "C" __global__ void across(int *out)
{
    __shared__ int place;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        place = blockIdx.y * gridDim.x + blockIdx.x;
    cluster.barrier_arrive();
    int rank = cluster.num_blocks() - 1 - cluster.block_rank();
    cluster.barrier_wait();
    int found = *cluster.map_shared_rank(&place, rank);
    cluster.sync();
    if (threadIdx.x == 0)
        out[blockIdx.y * gridDim.x + blockIdx.x] = found;
}
