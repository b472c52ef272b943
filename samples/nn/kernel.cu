// Recognition of handwritten digits by a convolutional network, second layer: 50 feature maps of 5 x 5 neurons from the 6 maps
// of 13 x 13 neurons below, by filters of 5 x 5 at a stride of 2. A CTA of 5 x 5 threads computes one map of one image:
// 25 lanes of a single warp. A map has 26 * 6 weights, the first of them its bias.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#define BELOW 13
#define MAPS_BELOW 6
#define SIDE 5

extern "C" __global__ void nn(const float *below, const float *weight, float *out)
{
    const int x = threadIdx.x, y = threadIdx.y;
    const int map = blockIdx.x, image = blockIdx.y;
    int w = map * 26 * MAPS_BELOW;
    const int p = image * MAPS_BELOW * BELOW * BELOW + 2 * y * BELOW + 2 * x;
    float sum = weight[w];
    w++;
#pragma unroll 1
    for (int i = 0; i < SIDE; i++) {
#pragma unroll
        for (int j = 0; j < SIDE; j++)
#pragma unroll
            for (int k = 0; k < MAPS_BELOW; k++)
                sum += below[p + k * BELOW * BELOW + i * BELOW + j] * weight[w + (i * SIDE + j) * MAPS_BELOW + k];
    }
    const float e = __expf(2.0f * 0.66666667f * sum); // 1.7159 * tanh(2/3 * sum)
    out[image * SIDE * SIDE * gridDim.x + map * SIDE * SIDE + y * SIDE + x] = 1.7159f * (1.0f - __fdividef(2.0f, e + 1.0f));
}
