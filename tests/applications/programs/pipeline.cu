// A pipeline of streams: pinned buffers, copies and kernels in turn, events between streams, callbacks in the order of each.
#include <vector>
#include "check.h"

const int CHUNK = 512, CHUNKS = 8, STREAMS = 3;

__global__ void smooth(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + (i ? in[i - 1] : 0) + (i + 1 < n ? in[i + 1] : 0);
}
__global__ void collect(const int *out, int n, long long *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd((unsigned long long *)sum, (unsigned long long)out[i]);
}

std::vector<int> finished;
struct Chunk { int number; };

void CUDART_CB finish(cudaStream_t, cudaError_t status, void *chunk) {
    if (status == cudaSuccess)
        finished.push_back(((Chunk *)chunk)->number);
}

int main() {
    int *in, *out, *device_in[STREAMS], *device_out[STREAMS], least, greatest;
    long long *sum, expected = 0, found;
    Chunk chunks[CHUNKS];
    cudaStream_t streams[STREAMS], last;
    cudaEvent_t start, end, ready[CHUNKS];
    CHECK(cudaHostAlloc(&in, CHUNK * CHUNKS * sizeof(int), cudaHostAllocWriteCombined));
    CHECK(cudaMallocHost(&out, CHUNK * CHUNKS * sizeof(int)));
    CHECK(cudaMalloc(&sum, sizeof *sum));
    CHECK(cudaMemset(sum, 0, sizeof *sum));
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&last, cudaStreamNonBlocking, greatest));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    for (int k = 0; k < STREAMS; k++) {
        CHECK(cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking));
        CHECK(cudaMalloc(&device_in[k], CHUNK * sizeof(int)));
        CHECK(cudaMalloc(&device_out[k], CHUNK * sizeof(int)));
    }
    for (int i = 0; i < CHUNK * CHUNKS; i++)
        in[i] = i * 11 % 1000;
    CHECK(cudaEventRecord(start));
    for (int c = 0; c < CHUNKS; c++) {
        int k = c % STREAMS;
        chunks[c].number = c;
        CHECK(cudaEventCreateWithFlags(&ready[c], cudaEventDisableTiming));
        if (c >= STREAMS)
            CHECK(cudaStreamWaitEvent(streams[k], ready[c - STREAMS], 0));
        CHECK(cudaMemcpyAsync(device_in[k], in + c * CHUNK, CHUNK * sizeof(int), cudaMemcpyHostToDevice, streams[k]));
        smooth<<<CHUNK / 128, 128, 0, streams[k]>>>(device_in[k], device_out[k], CHUNK);
        CHECK(cudaEventRecord(ready[c], streams[k]));
        CHECK(cudaMemcpyAsync(out + c * CHUNK, device_out[k], CHUNK * sizeof(int), cudaMemcpyDeviceToHost, streams[k]));
        CHECK(cudaStreamAddCallback(streams[k], finish, &chunks[c], 0));
        CHECK(cudaStreamWaitEvent(last, ready[c], 0));
        collect<<<CHUNK / 128, 128, 0, last>>>(device_out[k], CHUNK, sum);
    }
    CHECK(cudaEventRecord(end));
    for (cudaStream_t stream : streams)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamQuery(last));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < CHUNK * CHUNKS; i++) {
        int at = i % CHUNK, value = in[i] + (at ? in[i - 1] : 0) + (at + 1 < CHUNK ? in[i + 1] : 0);
        EXPECT(out[i] == value);
        expected += value;
    }
    CHECK(cudaMemcpy(&found, sum, sizeof found, cudaMemcpyDeviceToHost));
    EXPECT(found == expected && finished.size() == CHUNKS);
    float milliseconds;
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT(milliseconds > 0);
    EXPECT(cudaEventElapsedTime(&milliseconds, ready[0], end) == cudaErrorInvalidResourceHandle);
    cudaStreamAttrValue policy = {}, copied = {};
    unsigned long long first, second;
    policy.syncPolicy = cudaSyncPolicyYield;
    CHECK(cudaStreamSetAttribute(streams[0], cudaStreamAttributeSynchronizationPolicy, &policy));
    CHECK(cudaStreamCopyAttributes(streams[1], streams[0]));
    CHECK(cudaStreamGetAttribute(streams[1], cudaStreamAttributeSynchronizationPolicy, &copied));
    EXPECT(copied.syncPolicy == cudaSyncPolicyYield);
    CHECK(cudaStreamGetId(streams[0], &first));
    CHECK(cudaStreamGetId(streams[1], &second));
    EXPECT(first != second);
    puts("chunks are right");
    return 0;
}
