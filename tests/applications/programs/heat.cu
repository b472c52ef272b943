// Heat in a plate: two buffers that change places, rows in pitched memory, tiles with their borders in shared memory.
#include <vector>
#include "check.h"

const int W = 70, H = 45, TILE = 16, STEPS = 12;

__device__ __host__ float step(float centre, float left, float right, float up, float down) {
    return centre + 0.125f * (left + right + up + down - 4 * centre);
}
__global__ void diffuse(const char *from, char *to, size_t pitch) {
    __shared__ float tile[TILE + 2][TILE + 2];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int ty = threadIdx.y; ty < TILE + 2; ty += TILE)
        for (int tx = threadIdx.x; tx < TILE + 2; tx += TILE) {
            int column = min(max((int)blockIdx.x * TILE + tx - 1, 0), W - 1);
            int row = min(max((int)blockIdx.y * TILE + ty - 1, 0), H - 1);
            tile[ty][tx] = ((const float *)(from + row * pitch))[column];
        }
    __syncthreads();
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    if (x < W && y < H)
        ((float *)(to + y * pitch))[x] = step(tile[ty][tx], tile[ty][tx - 1], tile[ty][tx + 1], tile[ty - 1][tx], tile[ty + 1][tx]);
}

int main() {
    std::vector<float> plate(W * H), next(W * H), result(W * H);
    for (int i = 0; i < W * H; i++)
        plate[i] = i % 13 == 0 ? 64 : 0;
    char *now, *then;
    size_t pitch, other;
    CHECK(cudaMallocPitch(&now, &pitch, W * sizeof(float), H));
    CHECK(cudaMallocPitch(&then, &other, W * sizeof(float), H));
    EXPECT(pitch == other && pitch >= W * sizeof(float));
    CHECK(cudaMemset2D(then, pitch, 0xff, W * sizeof(float), H));
    CHECK(cudaMemcpy2D(now, pitch, plate.data(), W * sizeof(float), W * sizeof(float), H, cudaMemcpyHostToDevice));
    for (int k = 0; k < STEPS; k++) {
        diffuse<<<dim3((W + TILE - 1) / TILE, (H + TILE - 1) / TILE), dim3(TILE, TILE)>>>(now, then, pitch);
        std::swap(now, then);
        auto at = [&](int x, int y) { return plate[min(max(y, 0), H - 1) * W + min(max(x, 0), W - 1)]; };
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                next[y * W + x] = step(at(x, y), at(x - 1, y), at(x + 1, y), at(x, y - 1), at(x, y + 1));
        plate.swap(next);
    }
    CHECK(cudaMemcpy2D(result.data(), W * sizeof(float), now, pitch, W * sizeof(float), H, cudaMemcpyDeviceToHost));
    for (int i = 0; i < W * H; i++)
        EXPECT(result[i] - plate[i] < 1e-4f && plate[i] - result[i] < 1e-4f);
    puts("temperatures are right");
    return 0;
}
