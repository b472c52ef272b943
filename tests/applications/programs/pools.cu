// Memory pools, advice for managed memory, host memory that kernels use in place.
#include <vector>
#include "check.h"

__global__ void square(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * in[i];
}

void pools() {
    cudaMemPool_t standard, own;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemPoolCreate(&own, &properties));
    unsigned long long threshold = ~0ull, used, high;
    CHECK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
    int *a, *b, host[64];
    CHECK(cudaMallocFromPoolAsync(&a, 1024, own, stream));
    CHECK(cudaMallocAsync(&b, 256, stream)); // of the device's pool
    CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used == 1024);
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used == 256);
    for (int i = 0; i < 64; i++)
        host[i] = i;
    CHECK(cudaMemcpyAsync(b, host, sizeof host, cudaMemcpyHostToDevice, stream));
    square<<<1, 64, 0, stream>>>(a, b, 64);
    CHECK(cudaMemcpyAsync(host, a, sizeof host, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(host[63] == 63 * 63);
    CHECK(cudaFreeAsync(a, stream));
    CHECK(cudaFree(b)); // either call frees either kind
    CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
    CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemHigh, &high));
    EXPECT(used == 0 && high == 1024);
    CHECK(cudaMemPoolTrimTo(own, 0));
    CHECK(cudaDeviceSetMemPool(0, own));
    CHECK(cudaMallocAsync(&a, 512, stream));
    CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used == 512);
    CHECK(cudaFreeAsync(a, stream));
    CHECK(cudaMemPoolDestroy(own));
    CHECK(cudaDeviceGetMemPool(&own, 0));
    EXPECT(own == standard);
}

void advice() {
    int *data, number, devices[2];
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, cpu = {cudaMemLocationTypeHost, 0};
    CHECK(cudaMallocManaged(&data, 4096));
    CHECK(cudaMemAdvise(data, 4096, cudaMemAdviseSetReadMostly, device));
    CHECK(cudaMemAdvise(data, 4096, cudaMemAdviseSetPreferredLocation, cpu));
    CHECK(cudaMemAdvise(data, 4096, cudaMemAdviseSetAccessedBy, device));
    CHECK(cudaMemPrefetchAsync(data, 4096, device, 0, 0));
    CHECK(cudaMemRangeGetAttribute(&number, sizeof number, cudaMemRangeAttributeReadMostly, data, 4096));
    EXPECT(number == 1);
    CHECK(cudaMemRangeGetAttribute(&number, sizeof number, cudaMemRangeAttributePreferredLocation, data, 4096));
    EXPECT(number == cudaCpuDeviceId);
    CHECK(cudaMemRangeGetAttribute(devices, sizeof devices, cudaMemRangeAttributeAccessedBy, data, 4096));
    EXPECT(devices[0] == 0 && devices[1] == cudaInvalidDeviceId);
    CHECK(cudaMemRangeGetAttribute(&number, sizeof number, cudaMemRangeAttributeLastPrefetchLocation, data, 4096));
    EXPECT(number == 0);
    EXPECT(cudaMemPrefetchAsync(&number, 4, device, 0, 0) == cudaErrorInvalidValue);
    CHECK(cudaFree(data));
}

void registered() {
    const int n = 5000;
    std::vector<int> in(n), out(n + 2000); // not at the beginning of a page
    for (int i = 0; i < n; i++)
        in[i] = i;
    int *device_in, *device_out;
    unsigned flags;
    CHECK(cudaMalloc(&device_in, n * sizeof(int)));
    CHECK(cudaHostRegister(out.data() + 1, n * sizeof(int), cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&device_out, out.data() + 1, 0));
    CHECK(cudaHostGetFlags(&flags, out.data() + 1));
    EXPECT(flags == cudaHostRegisterMapped);
    EXPECT(cudaHostRegister(out.data() + 2, 4, 0) == cudaErrorHostMemoryAlreadyRegistered);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, out.data() + 3));
    EXPECT(attributes.type == cudaMemoryTypeHost && attributes.devicePointer == device_out + 2);
    CHECK(cudaMemcpy(device_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    square<<<(n + 255) / 256, 256>>>(device_out, device_in, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(out[i + 1] == i * i);
    EXPECT(out[0] == 0 && out[n + 1] == 0);
    out[1] = -7; // seen on the other side at once
    square<<<1, 32>>>(device_in, device_out, 1);
    CHECK(cudaMemcpy(in.data(), device_in, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(in[0] == 49);
    CHECK(cudaHostUnregister(out.data() + 1));
    EXPECT(out[1] == -7 && out[n] == (n - 1) * (n - 1));
    EXPECT(cudaHostUnregister(out.data() + 1) == cudaErrorHostMemoryNotRegistered);
    EXPECT(cudaHostGetDevicePointer(&device_out, out.data() + 1, 0) == cudaErrorInvalidValue);
    out.assign(100000, 3); // the pages are the application's own again
}

int main() {
    pools();
    advice();
    registered();
    puts("memory is right");
    return 0;
}
