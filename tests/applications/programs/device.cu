// What programs ask of the device: properties, attributes, occupancy, needs of a kernel, kinds of pointers.
#include "check.h"

__global__ void kernel(int *out) {
    __shared__ int values[256];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[255 - threadIdx.x];
}

int main() {
    int n, number = -1, value;
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceCount(&n));
    EXPECT(n == 1);
    CHECK(cudaSetDevice(0));
    EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaSuccess);
    CHECK(cudaGetDevice(&number));
    EXPECT(number == 0);
    CHECK(cudaGetDeviceProperties(&properties, 0));
    printf("%s: %d.%d, %d SMs, %zu MiB, %zu bytes of shared memory\n", properties.name, properties.major, properties.minor,
           properties.multiProcessorCount, properties.totalGlobalMem >> 20, properties.sharedMemPerBlock);
    EXPECT(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024 && properties.unifiedAddressing == 1);
    EXPECT(properties.maxGridSize[0] == 2147483647 && properties.maxGridSize[2] == 65535 && properties.maxThreadsDim[2] == 64);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(value == properties.multiProcessorCount);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    EXPECT(value == properties.maxThreadsPerMultiProcessor);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    EXPECT(value == properties.major);
    size_t available, total, limit;
    int *device, *pinned, *managed;
    CHECK(cudaMalloc(&device, 1 << 20));
    CHECK(cudaMallocHost(&pinned, 4096));
    CHECK(cudaMallocManaged(&managed, 4096));
    CHECK(cudaMemGetInfo(&available, &total));
    EXPECT(total == properties.totalGlobalMem && available <= total - (1 << 20));
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, device + 5));
    EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == device + 5 && !attributes.hostPointer);
    CHECK(cudaPointerGetAttributes(&attributes, pinned));
    EXPECT(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == pinned);
    CHECK(cudaPointerGetAttributes(&attributes, managed));
    EXPECT(attributes.type == cudaMemoryTypeManaged);
    CHECK(cudaPointerGetAttributes(&attributes, &n));
    EXPECT(attributes.type == cudaMemoryTypeUnregistered);
    cudaFuncAttributes needs;
    CHECK(cudaFuncGetAttributes(&needs, kernel));
    EXPECT(needs.sharedSizeBytes == 1024 && needs.maxThreadsPerBlock >= 256 && needs.numRegs > 0);
    EXPECT(needs.ptxVersion == 75 && needs.binaryVersion == 75);
    int ctas, few, block, grid;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernel, 256, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&few, kernel, 256, 20000));
    EXPECT(ctas >= few && few >= 1 && ctas * 256 <= properties.maxThreadsPerMultiProcessor);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel));
    EXPECT(block >= 32 && block <= 1024 && grid >= properties.multiProcessorCount);
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    EXPECT(limit == 16 << 20);
    CHECK(cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferL1));
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 16384));
    int can = 1, version;
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 0));
    EXPECT(can == 0);
    CHECK(cudaRuntimeGetVersion(&version));
    EXPECT(version / 1000 == CUDART_VERSION / 1000);
    kernel<<<1, 256>>>(managed);
    CHECK(cudaDeviceSynchronize());
    EXPECT(managed[0] == 255 && managed[255] == 0);
    puts("answers are right");
    return 0;
}
