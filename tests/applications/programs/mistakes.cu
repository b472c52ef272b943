// Wrong calls, each with the error that CUDA has for it; the program goes on.
#include <cstdint>
#include <cstring>
#include "check.h"

__global__ void store(int *out) { out[threadIdx.x] = 1; }

#define FAILS(call, code)                                                                          \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != code) {                                                                       \
            printf("%s:%d: %s gives %d\n", __FILE__, __LINE__, #call, error);                      \
            exit(3);                                                                               \
        }                                                                                          \
        EXPECT(cudaGetLastError() == code && cudaGetLastError() == cudaSuccess);                   \
    } while (0)

int main() {
    int *data, host[64];
    CHECK(cudaMalloc(&data, 256));
    FAILS(cudaMemcpy(data, host, 260, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(host, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(data, host, 4, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    FAILS(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
    FAILS(cudaMalloc((void **)&host[0], (size_t)1 << 60), cudaErrorMemoryAllocation);
    FAILS(cudaFree(data + 1), cudaErrorInvalidValue);
    store<<<0, 32>>>(data);
    FAILS(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    store<<<1, 2048>>>(data);
    FAILS(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    store<<<2147483648u, 1>>>(data);
    FAILS(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    store<<<dim3(1, 70000), 1>>>(data);
    FAILS(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    FAILS(cudaEventRecord(nullptr), cudaErrorInvalidResourceHandle);
    for (int k = 0; k < 2; k++)
        FAILS(cudaMalloc((void **)nullptr, 4), cudaErrorInvalidValue);
    FAILS(cudaLaunchKernel((void *)store, dim3(1), dim3(1), nullptr, 0, 0), cudaErrorInvalidValue);
    cudaIpcMemHandle_t handle;
    FAILS(cudaIpcGetMemHandle(&handle, data), cudaErrorNotSupported);
    FAILS(cudaIpcGetMemHandle(&handle, data), cudaErrorNotSupported);
    EXPECT(!strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));
    CHECK(cudaFree(data));
    FAILS(cudaFree(data), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(host, data, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    CHECK(cudaFree(nullptr));
    CHECK(cudaMalloc(&data, 256));
    store<<<1, 64>>>(data);
    CHECK(cudaMemcpy(host, data, 256, cudaMemcpyDeviceToHost));
    EXPECT(host[63] == 1);
    puts("errors are right");
    return 0;
}
