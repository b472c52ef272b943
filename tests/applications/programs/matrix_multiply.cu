// Tiles in shared memory, pitched memory on one side, two-dimensional copies, a template.
#include "check.h"

template <int TILE>
__global__ void multiply(const float *a, size_t pitch, const float *b, float *c, int n) {
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        left[threadIdx.y][threadIdx.x] = *((const float *)((const char *)a + row * pitch) + k + threadIdx.x);
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < TILE; j++)
            sum += left[threadIdx.y][j] * right[j][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

int main() {
    const int n = 48;
    static float a[n][n], b[n][n], c[n][n];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[i][j] = (i * 7 + j * 3) % 11;
            b[i][j] = (i * 5 + j) % 13;
        }
    float *da, *db, *dc;
    size_t pitch;
    CHECK(cudaMallocPitch(&da, &pitch, n * sizeof(float), n));
    EXPECT(pitch >= n * sizeof(float) && pitch % 256 == 0);
    CHECK(cudaMalloc(&db, sizeof b));
    CHECK(cudaMalloc(&dc, sizeof c));
    CHECK(cudaMemcpy2D(da, pitch, a, sizeof a[0], sizeof a[0], n, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
    multiply<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(da, pitch, db, dc, n);
    multiply<8><<<dim3(n / 8, n / 8), dim3(8, 8)>>>(da, pitch, db, dc, n);
    CHECK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i][k] * b[k][j];
            EXPECT(c[i][j] == sum);
        }
    CHECK(cudaMemset2D(da, pitch, 0, sizeof a[0], n));
    CHECK(cudaMemcpy2D(a, sizeof a[0], da, pitch, sizeof a[0], n, cudaMemcpyDeviceToHost));
    EXPECT(a[n - 1][n - 1] == 0);
    EXPECT(cudaMemcpy2D(a, 4, da, pitch, sizeof a[0], n, cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidPitchValue);
    puts("products are right");
    return 0;
}
