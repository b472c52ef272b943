// Softmax of rows of half precision, two elements at a time; a warp per row of at most 256 elements.
#include <cuda_fp16.h>

extern "C" __global__ void softmax(const half2 *in, half2 *out, int pairs)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    const half2 *x = in + row * pairs;
    half2 most = __half2half2(__float2half(-65504.0f));
    for (int k = lane; k < pairs; k += 32)
        most = __hmax2(most, x[k]);
    half largest = __hmax(__low2half(most), __high2half(most));
    for (int step = 16; step; step /= 2)
        largest = __hmax(largest, __shfl_xor_sync(0xffffffff, largest, step));
    half2 below = __half2half2(largest), e[4];
    float sum = 0;
    for (int k = lane, n = 0; k < pairs; k += 32, n++) {
        e[n] = h2exp(__hsub2(x[k], below));
        float2 both = __half22float2(e[n]);
        sum += both.x + both.y;
    }
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    half2 scale = __float2half2_rn(1.0f / sum);
    for (int k = lane, n = 0; k < pairs; k += 32, n++)
        out[row * pairs + k] = __hmul2(e[n], scale);
}
