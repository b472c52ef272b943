// The runtime API and the driver API in one process: one device, one memory, one current context, one clock.
#include <cuda.h>
#include "check.h"

__global__ void twice(int *values) { values[threadIdx.x] *= 2; }

int main() {
    int values[32], *mine;
    for (int k = 0; k < 32; k++)
        values[k] = k;
    CHECK(cudaMalloc(&mine, sizeof values));
    CUcontext context = NULL;
    EXPECT(cuCtxGetCurrent(&context) == CUDA_SUCCESS && context != NULL);
    CUdeviceptr start = 0, other = 0;
    size_t bytes = 0;
    EXPECT(cuMemGetAddressRange(&start, &bytes, (CUdeviceptr)mine + 8) == CUDA_SUCCESS);
    EXPECT(start == (CUdeviceptr)mine && bytes == sizeof values);
    EXPECT(cuMemcpyHtoD(start, values, sizeof values) == CUDA_SUCCESS);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    twice<<<1, 32, 0, stream>>>(mine);
    EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    EXPECT(cuMemAlloc(&other, sizeof values) == CUDA_SUCCESS);
    CHECK(cudaMemcpy((void *)other, mine, sizeof values, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(values, (void *)other, sizeof values, cudaMemcpyDeviceToHost));
    for (int k = 0; k < 32; k++)
        EXPECT(values[k] == 2 * k);
    EXPECT(cuMemFree(7) == CUDA_ERROR_INVALID_VALUE); // an error of the driver API is no last error of the runtime
    CHECK(cudaGetLastError());
    CHECK(cudaFree((void *)other));
    printf("both see the same memory\n");
    return 0;
}
