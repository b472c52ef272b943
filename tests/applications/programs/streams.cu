// Streams, pinned and mapped memory, asynchronous copies, callbacks, dynamic shared memory, warp shuffles.
#include "check.h"

__global__ void sum(const int *in, int *out, int n) {
    extern __shared__ int partial[];
    int total = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        total += in[i];
    for (int distance = 16; distance; distance /= 2)
        total += __shfl_down_sync(~0u, total, distance);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < blockDim.x / 32; warp++)
            total += partial[warp];
        atomicAdd(out, total);
    }
}

static int called;
static void on_end(void *data) { called += *(int *)data; }
static void on_stream(cudaStream_t, cudaError_t status, void *data) { called += status == cudaSuccess ? *(int *)data : 0; }

int main() {
    const int n = 4096, parts = 4;
    int *host, *mapped, *device, *out, ten = 10;
    CHECK(cudaMallocHost(&host, n * sizeof(int)));
    CHECK(cudaHostAlloc(&mapped, parts * sizeof(int), cudaHostAllocMapped));
    CHECK(cudaMalloc(&device, n * sizeof(int)));
    CHECK(cudaHostGetDevicePointer(&out, mapped, 0));
    int expected[parts] = {};
    for (int i = 0; i < n; i++) {
        host[i] = i % 17;
        expected[i / (n / parts)] += host[i];
    }
    for (int k = 0; k < parts; k++)
        mapped[k] = 0;
    cudaStream_t streams[parts];
    cudaEvent_t copied;
    CHECK(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
    for (int k = 0; k < parts; k++) {
        if (k % 2)
            CHECK(cudaStreamCreate(&streams[k]));
        else
            CHECK(cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking));
        size_t part = n / parts;
        CHECK(cudaMemcpyAsync(device + k * part, host + k * part, part * sizeof(int), cudaMemcpyHostToDevice, streams[k]));
        CHECK(cudaEventRecord(copied, streams[k]));
        CHECK(cudaStreamWaitEvent(streams[k], copied, 0));
        sum<<<2, 128, 128 / 32 * sizeof(int), streams[k]>>>(device + k * part, out + k, part);
        CHECK(cudaLaunchHostFunc(streams[k], on_end, &ten));
        CHECK(cudaStreamAddCallback(streams[k], on_stream, &ten, 0));
    }
    for (int k = 0; k < parts; k++) {
        CHECK(cudaStreamSynchronize(streams[k]));
        CHECK(cudaStreamQuery(streams[k]));
        EXPECT(mapped[k] == expected[k]);
        CHECK(cudaStreamDestroy(streams[k]));
    }
    float time;
    EXPECT(cudaEventElapsedTime(&time, copied, copied) == cudaErrorInvalidResourceHandle);
    EXPECT(called == 2 * parts * ten);
    CHECK(cudaFreeHost(host));
    CHECK(cudaFreeHost(mapped));
    CHECK(cudaFree(device));
    puts("sums are right");
    return 0;
}
