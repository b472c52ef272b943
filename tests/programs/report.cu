// Output and assertions of kernels.
#include <assert.h>
#include <stdio.h>

extern "C" __global__ void report(const int *x, const double *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] < 0)
        printf("thread %d: %d is negative, %.3f, %s|%5u|%-6x|%c|%lld%%\n", i, x[i], y[i], "so there", i * 10u, i + 255,
               'a' + i % 26, (long long)x[i] << 33);
}

extern "C" __global__ void careful(const int *x, int *roots)
{
    int i = threadIdx.x, root = 0;
    assert(x[i] >= 0);
    while ((root + 1) * (root + 1) <= x[i])
        root++;
    roots[i] = root;
}
