// Transposes from array to array and memory to memory: boxes, pitched rows, copies between arrays, a surface.
#include <vector>
#include "check.h"

const int W = 50, H = 30, TILE = 16;

template <typename T> __global__ void transpose(const T *in, size_t in_pitch, T *out, size_t out_pitch, int width, int height) {
    __shared__ T tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = ((const T *)((const char *)in + y * in_pitch))[x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < height && y < width)
        ((T *)((char *)out + y * out_pitch))[x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void onto(const float2 *in, size_t pitch, cudaSurfaceObject_t out) {
    int x = threadIdx.x, y = blockIdx.x;
    surf2Dwrite(((const float2 *)((const char *)in + y * pitch))[x], out, x * sizeof(float2), y);
}

template <typename T> void check(T (*value)(int)) {
    std::vector<T> in(W * H), out(W * H);
    for (int i = 0; i < W * H; i++)
        in[i] = value(i);
    T *from, *to;
    size_t from_pitch, to_pitch;
    CHECK(cudaMallocPitch(&from, &from_pitch, W * sizeof(T), H));
    CHECK(cudaMallocPitch(&to, &to_pitch, H * sizeof(T), W));
    CHECK(cudaMemcpy2D(from, from_pitch, in.data(), W * sizeof(T), W * sizeof(T), H, cudaMemcpyHostToDevice));
    transpose<<<dim3((W + TILE - 1) / TILE, (H + TILE - 1) / TILE), dim3(TILE, TILE)>>>(from, from_pitch, to, to_pitch, W, H);
    CHECK(cudaMemcpy2DAsync(out.data(), H * sizeof(T), to, to_pitch, H * sizeof(T), W, cudaMemcpyDeviceToHost));
    for (int i = 0; i < W * H; i++)
        EXPECT(out[i % W * H + i / W] == value(i));
}

int main() {
    check<char>([](int i) { return (char)i; });
    check<short>([](int i) { return (short)(i * 7); });
    check<double>([](int i) { return i / 3.0; });

    std::vector<float2> values(W * H), back(W * H);
    for (int i = 0; i < W * H; i++)
        values[i] = make_float2(i, -i);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
    cudaArray_t first, second;
    CHECK(cudaMallocArray(&first, &format, W, H, cudaArraySurfaceLoadStore));
    CHECK(cudaMallocArray(&second, &format, W, H));
    cudaPitchedPtr rows;
    CHECK(cudaMalloc3D(&rows, make_cudaExtent(W * sizeof(float2), H, 1)));
    cudaMemcpy3DParms box = {};
    box.srcPtr = make_cudaPitchedPtr(values.data(), W * sizeof(float2), W * sizeof(float2), H);
    box.dstPtr = rows;
    box.extent = make_cudaExtent(W * sizeof(float2), H, 1);
    box.kind = cudaMemcpyDefault;
    CHECK(cudaMemcpy3D(&box));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = first;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    onto<<<H, W>>>((float2 *)rows.ptr, rows.pitch, surface);
    CHECK(cudaMemcpy2DArrayToArray(second, 0, 0, first, 0, 0, W * sizeof(float2), H, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DArrayToArray(second, 8, 0, first, 0, 1, 16, 1, cudaMemcpyDeviceToDevice)); // texels 1 and 2 of the first row
    CHECK(cudaMemcpy2DFromArray(back.data(), W * sizeof(float2), second, 0, 0, W * sizeof(float2), H, cudaMemcpyDeviceToHost));
    EXPECT(back[0].x == 0 && back[1].x == W && back[2].y == -W - 1 && back[3].x == 3 && back[W * H - 1].x == W * H - 1);
    cudaMemcpy3DPeerParms peers = {};
    peers.srcArray = first;
    peers.dstPtr = rows;
    peers.extent = make_cudaExtent(W, H, 1);
    CHECK(cudaMemset3D(rows, 0, make_cudaExtent(W * sizeof(float2), H, 1)));
    CHECK(cudaMemcpy3DPeer(&peers));
    float2 texel;
    CHECK(cudaMemcpy(&texel, (char *)rows.ptr + 5 * rows.pitch + 7 * sizeof texel, sizeof texel, cudaMemcpyDeviceToHost));
    EXPECT(texel.x == 5 * W + 7);
    puts("transposes are right");
    return 0;
}
