// Barriers with results, named barriers, mbarriers. Compiled: nvcc -ptx with -arch=sm_75 -DOLD, -arch=sm_80, and
// -arch=sm_90 -DNO_COPIES (there the library copies with the tensor memory accelerator).
extern "C" __global__ void votes(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i];
  int positive = __syncthreads_count(v > 0);
  int all = __syncthreads_and(v > -100);
  int any = __syncthreads_or(v == 42);
  out[i] = positive * 4 + (all != 0) * 2 + (any != 0);
}

// two warps produce, two consume: a named barrier for "full" and one for "empty", twice each for two buffers
extern "C" __global__ void ring(const int *in, int *out, int rounds) {
  __shared__ int buffer[2][64];
  int t = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    for (int r = 0; r < rounds; r++) {
      int s = r % 2;
      asm volatile("bar.sync %0, 128;" ::"r"(3 + s) : "memory");
      buffer[s][t] = in[r * 64 + t] * 3;
      asm volatile("bar.arrive %0, 128;" ::"r"(1 + s) : "memory");
    }
  } else {
    asm volatile("bar.arrive 3, 128;" ::: "memory");
    if (rounds > 1) asm volatile("bar.arrive 4, 128;" ::: "memory");
    for (int r = 0; r < rounds; r++) {
      int s = r % 2;
      asm volatile("bar.sync %0, 128;" ::"r"(1 + s) : "memory");
      out[r * 64 + t] = buffer[s][63 - t];
      if (r + 2 < rounds) asm volatile("bar.arrive %0, 128;" ::"r"(3 + s) : "memory");
    }
  }
}

#ifndef OLD
#include <cuda/barrier>

// the same with mbarriers: one per direction and buffer
extern "C" __global__ void mbarrier_ring(const int *in, int *out, int rounds) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ int buffer[2][64];
  __shared__ barrier full[2], empty[2];
  if (threadIdx.x == 0)
    for (int s = 0; s < 2; s++) {
      init(&full[s], 128);
      init(&empty[s], 128);
    }
  __syncthreads();
  int t = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    for (int r = 0; r < rounds; r++) {
      empty[r % 2].arrive_and_wait();
      buffer[r % 2][t] = in[r * 64 + t] * 3;
      full[r % 2].arrive();
    }
  } else {
    (void)empty[0].arrive();
    (void)empty[1].arrive();
    for (int r = 0; r < rounds; r++) {
      full[r % 2].arrive_and_wait();
      out[r * 64 + t] = buffer[r % 2][63 - t];
      (void)empty[r % 2].arrive();
    }
  }
}

#ifndef NO_COPIES
// copies that arrive at a barrier
extern "C" __global__ void copied(const int4 *in, int4 *out) {
  __shared__ alignas(16) int4 stage[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> done;
  if (threadIdx.x == 0) init(&done, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&stage[threadIdx.x], &in[blockIdx.x * blockDim.x + threadIdx.x], sizeof(int4), done);
  done.arrive_and_wait();
  out[blockIdx.x * blockDim.x + threadIdx.x] = stage[(threadIdx.x + 1) % blockDim.x];
}
#endif
#endif
