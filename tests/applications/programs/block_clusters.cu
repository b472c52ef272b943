// Thread block clusters: a launch that asks for them, and a kernel that has them in its head (sm_90).
#include <cooperative_groups.h>
#include "check.h"
namespace cg = cooperative_groups;

const int N = 8 * 32;

__device__ int rotated(int value) { // the value of the same thread in the next block of the cluster
    __shared__ int values[32];
    cg::cluster_group cluster = cg::this_cluster();
    values[threadIdx.x] = value;
    cluster.sync();
    int next = cluster.map_shared_rank(values, (cluster.block_rank() + 1) % cluster.num_blocks())[threadIdx.x];
    cluster.sync();
    return next;
}

__global__ void asked(const int *in, int *out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    out[i] = rotated(in[i]);
}

__global__ void __cluster_dims__(2, 1, 1) fixed(const int *in, int *out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    out[i] = rotated(in[i]);
}

int main() {
    int in[N], out[N], *device_in, *device_out;
    for (int i = 0; i < N; i++)
        in[i] = i * i;
    CHECK(cudaMalloc(&device_in, sizeof in));
    CHECK(cudaMalloc(&device_out, sizeof out));
    CHECK(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t chosen = {};
    chosen.gridDim = 8;
    chosen.blockDim = 32;
    chosen.attrs = &attribute;
    chosen.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&chosen, asked, (const int *)device_in, device_out));
    CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        EXPECT(out[i] == in[i / 128 * 128 + (i + 32) % 128]);
    int ctas, clusters, of_the_head; // as many as the CTAs that all SMs hold
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, asked, 32, 0));
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, asked, &chosen));
    EXPECT(clusters == ctas * properties.multiProcessorCount / 4);
    chosen.numAttrs = 0;
    CHECK(cudaOccupancyMaxActiveClusters(&of_the_head, fixed, &chosen));
    EXPECT(of_the_head == clusters * 2);
    fixed<<<8, 32>>>(device_in, device_out);
    CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        EXPECT(out[i] == in[i ^ 32]);

    cudaLaunchAttribute both[2] = {attribute, {}}; // captured: the graph launches in the same clusters
    both[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    both[1].val.programmaticStreamSerializationAllowed = 1;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    CHECK(cudaStreamCreate(&chosen.stream));
    chosen.attrs = both;
    chosen.numAttrs = 2;
    CHECK(cudaMemset(device_out, 0, sizeof out));
    CHECK(cudaStreamBeginCapture(chosen.stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaLaunchKernelEx(&chosen, asked, (const int *)device_in, device_out));
    CHECK(cudaStreamEndCapture(chosen.stream, &graph));
    CHECK(cudaGraphInstantiate(&run, graph));
    CHECK(cudaGraphLaunch(run, chosen.stream));
    CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        EXPECT(out[i] == in[i / 128 * 128 + (i + 32) % 128]);

    CHECK(cudaFuncSetAttribute(asked, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    both[0].val.clusterDim.x = 3; // does not divide the grid
    EXPECT(cudaLaunchKernelEx(&chosen, asked, (const int *)device_in, device_out) == cudaErrorInvalidClusterSize);
    puts("block clusters are right");
    return 0;
}
