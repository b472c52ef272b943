// Faults that the checks have to find, chosen by name, which is a comment at the end of the line of each.
#include <cstring>
#include "check.h"

__global__ void write_outside(int *data, int n) {
    data[threadIdx.x + n] = 1; // outside-write
}
__global__ void read_outside(const int *data, int *out, int n) {
    out[threadIdx.x] = data[(int)threadIdx.x - n]; // outside-read
}
__global__ void shared_outside(int *out, int n) {
    __shared__ int tile[64];
    tile[threadIdx.x] = 0;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + n]; // shared-outside
}
__global__ void local_outside(int *out, int n) {
    int own[8];
    for (int i = 0; i < 8; i++)
        own[(i * n) & 7] = i;
    out[threadIdx.x] = own[threadIdx.x * n - 4]; // local-outside
}
__global__ void misaligned(char *data, int n) {
    *(int *)(data + n) = 1; // misaligned
}
__global__ void after_free(int *data) {
    data[threadIdx.x] = 1; // after-free
}
__global__ void null(int *data) {
    data[threadIdx.x] = 1; // null
}
__global__ void global_unwritten(const int *data, int *out) {
    out[threadIdx.x] = data[threadIdx.x] + 1; // global-unwritten
}
__global__ void shared_unwritten(int *out) {
    __shared__ int tile[64];
    if (threadIdx.x < 63)
        tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x]; // shared-unwritten
}
__global__ void local_unwritten(int *out, int n) {
    int own[8];
    for (int i = 0; i < 7; i++)
        own[(i * n) & 7] = i;
    out[threadIdx.x] = own[(threadIdx.x * n) & 7]; // local-unwritten
}
__global__ void shared_race(int *out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x]; // shared-race
}
__global__ void warp_race(int *out) {
    __shared__ int tile[32];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[threadIdx.x ^ 1]; // no-syncwarp
}
__global__ void warps_race(int *sum) {
    *sum += threadIdx.x / 32 + 1; // warps-race
}
__global__ void grid_race(int *sum) {
    if (threadIdx.x == 0)
        *sum = *sum + blockIdx.x + 1; // grid-race
}
__global__ void divergent(int *out) {
    if (threadIdx.x < 16)
        __syncthreads(); // divergent-barrier
    out[threadIdx.x] = 1;
}
__global__ void missed(int *out) {
    if (threadIdx.x >= 32)
        return;
    __syncthreads(); // missed-barrier
    out[threadIdx.x] = 1;
}
int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int *data, *out, host[128] = {};
    CHECK(cudaMalloc(&data, 256));
    CHECK(cudaMalloc(&out, 256));
    CHECK(cudaMemcpy(out, host, 256, cudaMemcpyHostToDevice));
    if (strcmp(what, "global-unwritten"))
        CHECK(cudaMemset(data, 0, 256));
#define LAUNCH(name, kernel, block, ...)                                                           \
    if (!strcmp(what, name))                                                                       \
        kernel<<<2, block>>>(__VA_ARGS__);
    LAUNCH("outside-write", write_outside, 64, data, 1)
    LAUNCH("outside-read", read_outside, 64, data, out, 1)
    LAUNCH("shared-outside", shared_outside, 64, out, 1)
    LAUNCH("local-outside", local_outside, 4, out, 3)
    LAUNCH("misaligned", misaligned, 1, (char *)data, 2)
    LAUNCH("null", null, 64, nullptr)
    LAUNCH("global-unwritten", global_unwritten, 64, data, out)
    LAUNCH("shared-unwritten", shared_unwritten, 64, out)
    LAUNCH("local-unwritten", local_unwritten, 8, out, 1)
    LAUNCH("shared-race", shared_race, 64, out)
    LAUNCH("no-syncwarp", warp_race, 32, out)
    LAUNCH("warps-race", warps_race, 64, data)
    LAUNCH("grid-race", grid_race, 64, data)
    LAUNCH("divergent-barrier", divergent, 32, out)
    LAUNCH("missed-barrier", missed, 64, out)
    if (!strcmp(what, "after-free")) {
        after_free<<<1, 64>>>(data); // loads the module, whose variables take memory too
        cudaFree(data);
        after_free<<<1, 64>>>(data);
    } else if (!strcmp(what, "double-free")) {
        cudaFree(data);
        cudaFree(data);
    } else if (!strcmp(what, "free-inside")) {
        cudaFree(data + 8);
    } else if (!strcmp(what, "copy-beyond")) {
        cudaMemcpy(data + 60, host, 20, cudaMemcpyHostToDevice);
    } else if (!strcmp(what, "copy-of-freed")) {
        cudaFree(data);
        cudaMemcpy(host, data, 256, cudaMemcpyDeviceToHost);
    } else if (!strcmp(what, "fill-beyond")) {
        cudaMemset(data, 0, 260);
    }
    cudaDeviceSynchronize();
    cudaMemcpy(host, out, 256, cudaMemcpyDeviceToHost);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
