// Graphs: captured from streams that wait for each other, built node by node, changed and updated, with a child.
#include "check.h"

__global__ void scale(float *data, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= by;
}
__global__ void add(float *data, const float *other, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += other[i];
}

const int N = 300;
float host[N], result[N], *first, *second;
int calls;

void CUDART_CB count(void *by) { calls += *(int *)by; }

void expect(float (*value)(int)) {
    for (int i = 0; i < N; i++)
        EXPECT(result[i] == value(i));
}

// first = 2 host, second = 3 host on a stream of its own, result = first + second
cudaGraph_t captured(float by) {
    static int one = 1;
    cudaStream_t main, side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamCreate(&main));
    CHECK(cudaStreamCreate(&side));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    CHECK(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, main));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    CHECK(cudaStreamIsCapturing(side, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    CHECK(cudaMemcpyAsync(first, host, sizeof host, cudaMemcpyHostToDevice, main));
    CHECK(cudaMemcpyAsync(second, host, sizeof host, cudaMemcpyHostToDevice, side));
    scale<<<3, 100, 0, main>>>(first, 2, N);
    scale<<<3, 100, 0, side>>>(second, by, N);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(main, join, 0));
    add<<<3, 100, 0, main>>>(first, second, N);
    CHECK(cudaMemcpyAsync(result, first, sizeof host, cudaMemcpyDeviceToHost, main));
    CHECK(cudaLaunchHostFunc(main, count, &one));
    EXPECT(cudaStreamSynchronize(main) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(main, &graph));
    CHECK(cudaStreamSynchronize(main));
    return graph;
}

int main() {
    for (int i = 0; i < N; i++)
        host[i] = i;
    CHECK(cudaMalloc(&first, sizeof host));
    CHECK(cudaMalloc(&second, sizeof host));
    cudaGraph_t graph = captured(3), other = captured(5);
    size_t n = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &n));
    EXPECT(n == 7 && calls == 0 && result[1] == 0); // nothing has been done yet
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &n));
    EXPECT(n == 2);
    cudaGraphExec_t run;
    CHECK(cudaGraphInstantiate(&run, graph, 0));
    for (int k = 1; k <= 3; k++) {
        CHECK(cudaGraphLaunch(run, 0));
        expect([](int i) { return 5.0f * i; });
        EXPECT(calls == k);
    }
    cudaGraphExecUpdateResultInfo updated;
    CHECK(cudaGraphExecUpdate(run, other, &updated));
    EXPECT(updated.result == cudaGraphExecUpdateSuccess);
    CHECK(cudaGraphLaunch(run, 0));
    expect([](int i) { return 7.0f * i; });

    // by hand: fill, scale by 4, copy back; the last before the middle one, so that the order is that of the edges
    cudaGraph_t built, whole;
    cudaGraphNode_t fill, kernel, copy, child, empty;
    CHECK(cudaGraphCreate(&built, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, built, nullptr, 0, result, first, sizeof host, cudaMemcpyDeviceToHost));
    cudaMemsetParams pattern = {};
    pattern.dst = first;
    pattern.value = 0x3fc00000; // 1.5f
    pattern.elementSize = 4;
    pattern.width = N;
    pattern.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, built, nullptr, 0, &pattern));
    float by = 4;
    int length = N;
    void *arguments[] = {&first, &by, &length};
    cudaKernelNodeParams launch = {};
    launch.func = (void *)scale;
    launch.gridDim = dim3(3);
    launch.blockDim = dim3(100);
    launch.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernel, built, &fill, 1, &launch));
    CHECK(cudaGraphAddDependencies(built, &kernel, &copy, nullptr, 1));
    by = 100; // the node has its own copy
    CHECK(cudaGraphCreate(&whole, 0));
    CHECK(cudaGraphAddEmptyNode(&empty, whole, nullptr, 0));
    CHECK(cudaGraphAddChildGraphNode(&child, whole, &empty, 1, built));
    cudaGraphExec_t nested;
    CHECK(cudaGraphInstantiate(&nested, whole, 0));
    CHECK(cudaGraphLaunch(nested, 0));
    expect([](int) { return 6.0f; });
    cudaGraphExec_t plain;
    CHECK(cudaGraphInstantiate(&plain, built, 0));
    CHECK(cudaGraphExecKernelNodeSetParams(plain, kernel, &launch));
    CHECK(cudaGraphLaunch(plain, 0));
    expect([](int) { return 150.0f; });
    CHECK(cudaGraphNodeSetEnabled(plain, kernel, 0));
    CHECK(cudaGraphLaunch(plain, 0));
    expect([](int) { return 1.5f; });
    EXPECT(cudaGraphExecUpdate(plain, graph, &updated) == cudaErrorGraphExecUpdateFailure);
    CHECK(cudaGraphAddDependencies(built, &copy, &fill, nullptr, 1));
    EXPECT(cudaGraphInstantiate(&nested, built, 0) == cudaErrorInvalidValue); // a circle
    CHECK(cudaGraphExecDestroy(run));
    CHECK(cudaGraphDestroy(graph));
    puts("graphs are right");
    return 0;
}
