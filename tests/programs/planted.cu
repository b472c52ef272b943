// One fault in each kernel, as people make them; test_planted.py says which, and what must be reported.
// All run with one CTA of 64 threads over buffers of 64 elements unless the test says otherwise.
#include <cassert>
#include <cstdint>
#include <cuda_pipeline.h>
#include <mma.h>

extern "C" {

// ---- global memory

__global__ void read_by_one(const float *in, float *out) {
    out[threadIdx.x] = in[threadIdx.x + 1] - in[threadIdx.x];
}

__global__ void write_by_one(int *out, int n) {
    int i = threadIdx.x;
    if (i <= n) out[i + 1 - (i == 0)] = i;  // n elements, n + 1 threads write
}

__global__ void stencil_without_border(const float *in, float *out) {
    int i = threadIdx.x;
    out[i] = i < 63 ? in[i - 1] + in[i + 1] : 0.0f;
}

__global__ void grid_too_large(float *x, float a) { x[blockIdx.x * blockDim.x + threadIdx.x] *= a; }

__global__ void misaligned_vector(const float *in, float4 *out) {
    out[threadIdx.x % 8] = *reinterpret_cast<const float4 *>(in + 1 + 4 * (threadIdx.x % 8));
}

__global__ void misaligned_word(const char *text, int *out) {
    out[threadIdx.x] = *reinterpret_cast<const int *>(text + threadIdx.x);
}

__global__ void null_pointer(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x % 4]; }

__global__ void buffer_without_contents(const int *in, int *out) {
    atomicAdd(out, in[threadIdx.x]);
}

__constant__ int table[10] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81};

__global__ void beyond_constants(const int *index, int *out) { out[threadIdx.x] = table[index[threadIdx.x]]; }

// ---- shared memory

__global__ void beyond_shared(int *out) {
    extern __shared__ int room[];
    room[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = room[threadIdx.x + 1];
}

__global__ void unwritten_shared(const int *in, int *out) {
    __shared__ int tile[64];
    if (threadIdx.x < 60) tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void missing_barrier(const int *in, int *out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void missing_second_barrier(const int *in, int *out, int rounds) {
    __shared__ int tile[64];
    int sum = 0;
    for (int r = 0; r < rounds; r++) {
        tile[threadIdx.x] = in[threadIdx.x] + r;
        __syncthreads();
        sum += tile[(threadIdx.x + 32) % 64];
    }
    out[threadIdx.x] = sum;
}

__global__ void reduction_without_syncwarp(const int *in, int *out) {
    __shared__ volatile int sums[64];
    sums[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32)
        for (int step = 32; step > 0; step >>= 1) {
            int other = *const_cast<int *>(&sums[threadIdx.x + step]);
            *const_cast<int *>(&sums[threadIdx.x]) += other;
        }
    __syncthreads();
    if (threadIdx.x == 0) *out = sums[0];
}

__global__ void histogram_without_atomics(const int *in, int *out) {
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[in[threadIdx.x] & 3]++;
    __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
}

__global__ void flag_without_fence(const int *in, int *out) {
    __shared__ int value;
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = in[5];
        ready = 1;
    }
    if (threadIdx.x == 40) {
        while (!ready) {}
        *out = value;
    }
}

__global__ void bytes_of_one_word(const int *in, int *out) {
    __shared__ unsigned char marks[64];
    marks[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = reinterpret_cast<int *>(marks)[threadIdx.x / 4];
}

// ---- barriers

__global__ void divergent_barrier(const int *in, int *out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x < 40) {
        __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x ^ 1];
    }
}

__global__ void loop_of_other_length(int *out) {
    __shared__ int counter;
    for (int k = 0; k <= threadIdx.x / 16; k++) {
        if (threadIdx.x == 0) counter = k;
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

__global__ void half_of_a_barrier(int *out) {
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
    else asm volatile("bar.sync 2, 64;");
    out[threadIdx.x] = 1;
}

// ---- local memory, registers, the stack

__global__ void beyond_local(const int *index, int *out) {
    int stack[8];
    for (int k = 0; k < 8; k++) stack[k] = index[k];
    for (int k = 0; k < 8; k++) stack[(index[k] + k) % 12] ^= k;
    out[threadIdx.x] = stack[index[threadIdx.x] & 7];
}

__global__ void unwritten_local(const int *index, int *out) {
    int slots[8];
    for (int k = 0; k < 7; k++) slots[index[k] % 7] = k;
    out[threadIdx.x] = slots[index[threadIdx.x] % 8];
}

__global__ void unwritten_register(const int *in, int *out) {
    int result;
    asm("{\n\t.reg .pred small;\n\tsetp.lt.s32 small, %1, 60;\n\t@small mov.s32 %0, 3;\n\t}"
        : "=r"(result) : "r"(in[threadIdx.x]));
    out[threadIdx.x] = result;
}

__noinline__ __device__ void remember(int **where, int value) {
    int here[2] = {value, value + 1};
    int *volatile *place = where;
    *place = here;
    asm volatile("" ::: "memory");
}

__global__ void variable_that_has_ended(int *out) {
    int *kept;
    remember(&kept, threadIdx.x);
    out[threadIdx.x] = *static_cast<volatile int *>(kept);
}

__noinline__ __device__ int depth(int n, int k) {
    int room[16];
    for (int i = 0; i < 16; i++) room[i] = n + i;
    return n == 0 ? k : (depth(n - 1, k) ^ n) * 3 + room[k & 15];
}

__global__ void endless_recursion(int *out) { out[threadIdx.x] = depth(int(threadIdx.x) - 3, threadIdx.x); }

__global__ void freed_twice(int *out) {
    int *room = static_cast<int *>(malloc(64));
    room[0] = threadIdx.x;
    out[threadIdx.x] = room[0];
    free(room);
    if (threadIdx.x == 7) free(room);
}

__global__ void heap_is_full(int *out) {
    int *room = static_cast<int *>(malloc(1 << 20));
    room[0] = threadIdx.x;
    out[threadIdx.x] = room[0];
}

// ---- locks, assertions

__global__ void lock_not_released(int *lock, int *out) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *out += 1;
    if (threadIdx.x != 2) atomicExch(lock, 0);
}

__global__ void failed_assertion(const int *in) { assert(in[threadIdx.x] < 50); }

__global__ void trapped(const int *in) {
    if (in[threadIdx.x] > 60) __trap();
}

// ---- tensor cores and asynchronous copies

__global__ void tile_beyond_buffer(const half *a, float *c) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, a, 16);
    wmma::fill_fragment(fc, 0.0f);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 20, wmma::mem_row_major);  // rows of 20 in a buffer for rows of 16
}

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
__global__ void copy_without_wait(const int *in, int *out) {
    __shared__ int tile[64];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void copy_waits_for_the_stage_before(const int *in, int *out) {
    __shared__ int tile[2][64];
    __pipeline_memcpy_async(&tile[0][threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&tile[1][threadIdx.x], &in[63 - threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[threadIdx.x] = tile[0][63 - threadIdx.x] + tile[1][threadIdx.x ^ 1];
}
#endif
}
