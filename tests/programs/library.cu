// CUDA's own libraries, as they come: CUB's sort, scan and reduction of a CTA, cooperative groups, barriers and atomics
// of libcu++.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
namespace cg = cooperative_groups;

// 512 numbers of 128 threads: sorted, their prefix sums, their sum.
extern "C" __global__ void cub_blocks(int *keys, int *sums, int *total)
{
    typedef cub::BlockRadixSort<int, 128, 4> Sort;
    typedef cub::BlockScan<int, 128> Scan;
    typedef cub::BlockReduce<int, 128> Reduce;
    __shared__ union {
        Sort::TempStorage sort;
        Scan::TempStorage scan;
        Reduce::TempStorage reduce;
    } room;
    int key[4], sum[4];
    for (int i = 0; i < 4; i++)
        key[i] = keys[4 * threadIdx.x + i];
    Sort(room.sort).Sort(key);
    __syncthreads();
    Scan(room.scan).InclusiveSum(key, sum);
    __syncthreads();
    int all = Reduce(room.reduce).Sum(key);
    for (int i = 0; i < 4; i++) {
        keys[4 * threadIdx.x + i] = key[i];
        sums[4 * threadIdx.x + i] = sum[i];
    }
    if (threadIdx.x == 0)
        *total = all;
}

// Sums and prefix sums of tiles of eight threads; the odd values are counted by one of those that have them.
extern "C" __global__ void tiles(const int *in, int2 *out, int *odd)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int value = in[threadIdx.x];
    out[threadIdx.x] = make_int2(cg::reduce(tile, value, cg::plus<int>()), cg::exclusive_scan(tile, value));
    if (value & 1) {
        auto together = cg::coalesced_threads();
        if (together.thread_rank() == 0)
            atomicAdd(odd, together.size());
    }
}

// Threads exchange values through shared memory, with a barrier object between.
extern "C" __global__ void exchange(const int *in, int *out, int rounds)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> meet;
    __shared__ int room[64];
    if (threadIdx.x == 0)
        init(&meet, blockDim.x);
    __syncthreads();
    for (int k = 0; k < rounds; k++) {
        room[threadIdx.x] = in[threadIdx.x] + k;
        meet.arrive_and_wait();
        out[k * blockDim.x + threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
        meet.arrive_and_wait();
    }
}

extern "C" __global__ void atomics(double *halves, float *quarters, unsigned long long *most, int *count)
{
    atomicAdd(halves, 0.5);
    atomicAdd(quarters, 0.25f);
    atomicMax(most, (unsigned long long)threadIdx.x << 33);
    cuda::atomic_ref<int, cuda::thread_scope_device> counter(*count);
    counter.fetch_add(2);
    for (int old = counter.load(); !counter.compare_exchange_weak(old, old + 1);)
        __nanosleep(10);
}
