// Gaussian elimination, the update of the rows below the pivot in step t (Rodinia: gaussian, Fan2). Blocks have 4 x 4
// threads, half a warp.

extern "C" __global__ void __launch_bounds__(16)
Fan2(const float *m, float *a, float *b, int size, int t)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x; // a row below the pivot's
    int y = blockIdx.y * blockDim.y + threadIdx.y; // a column from the pivot's on
    if (x >= size - 1 - t || y >= size - t) return;

    a[size * (x + 1 + t) + y + t] -= m[size * (x + 1 + t) + t] * a[size * t + y + t];
    if (y == 0) b[x + 1 + t] -= m[size * (x + 1 + t) + y + t] * b[t];
}
