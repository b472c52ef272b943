// Convolution of a picture, separable, with coefficients in constant memory; the rows from a layered array, the columns from memory.
#include <cmath>
#include <vector>
#include "check.h"

const int W = 64, H = 40, RADIUS = 4;
__constant__ float weights[2 * RADIUS + 1];
__device__ int n_borders;

__global__ void rows(cudaTextureObject_t picture, int layer, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += weights[RADIUS + k] * tex2DLayered<float>(picture, x + k, y, layer); // 0 outside
    out[y * W + x] = sum;
}
__global__ void columns(const float *in, float *out) {
    __shared__ float tile[8 + 2 * RADIUS][32];
    int x = blockIdx.x * 32 + threadIdx.x, top = blockIdx.y * 8 - RADIUS;
    for (int y = threadIdx.y; y < 8 + 2 * RADIUS; y += 8) {
        bool inside = top + y >= 0 && top + y < H;
        tile[y][threadIdx.x] = inside ? in[(top + y) * W + x] : 0;
        if (!inside)
            atomicAdd(&n_borders, 1);
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += weights[k] * tile[threadIdx.y + k][threadIdx.x];
    out[(blockIdx.y * 8 + threadIdx.y) * W + x] = sum;
}

int main() {
    float kernel[2 * RADIUS + 1], back[2 * RADIUS + 1];
    std::vector<float> layers(2 * W * H), result(W * H);
    for (int k = 0; k <= 2 * RADIUS; k++)
        kernel[k] = 1.0f / (1 + (k - RADIUS) * (k - RADIUS));
    for (int i = 0; i < 2 * W * H; i++)
        layers[i] = i * i % 23;
    size_t bytes;
    CHECK(cudaMemcpyToSymbol(weights, kernel, sizeof kernel));
    CHECK(cudaMemcpyFromSymbol(back, weights, sizeof back));
    CHECK(cudaGetSymbolSize(&bytes, weights));
    EXPECT(back[0] == kernel[0] && back[2 * RADIUS] == kernel[2 * RADIUS] && bytes == sizeof kernel);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(W, H, 2), cudaArrayLayered));
    cudaMemcpy3DParms box = {};
    box.srcPtr = make_cudaPitchedPtr(layers.data(), W * sizeof(float), W, H);
    box.dstArray = array;
    box.extent = make_cudaExtent(W, H, 2);
    box.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&box));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc sampling = {};
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeBorder;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    float *middle, *out;
    CHECK(cudaMalloc(&middle, W * H * sizeof(float)));
    CHECK(cudaMalloc(&out, W * H * sizeof(float)));
    rows<<<dim3(W / 32, H / 8), dim3(32, 8)>>>(texture, 1, middle);
    columns<<<dim3(W / 32, H / 8), dim3(32, 8)>>>(middle, out);
    CHECK(cudaMemcpy(result.data(), out, W * H * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double sum = 0;
            for (int v = std::max(y - RADIUS, 0); v <= std::min(y + RADIUS, H - 1); v++)
                for (int u = std::max(x - RADIUS, 0); u <= std::min(x + RADIUS, W - 1); u++)
                    sum += kernel[v - y + RADIUS] * kernel[u - x + RADIUS] * layers[(H + v) * W + u];
            EXPECT(std::fabs(result[y * W + x] - sum) < 1e-3);
        }
    int borders;
    CHECK(cudaMemcpyFromSymbol(&borders, n_borders, sizeof borders));
    EXPECT(borders == 2 * RADIUS * W);
    puts("convolutions are right");
    return 0;
}
