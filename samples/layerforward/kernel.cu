// Back propagation, the forward pass of a layer: 16 inputs times their weights to 16 hidden units, and the sums over the inputs
// by a tree. 16 x 16 threads, 1088 bytes of scratchpad. Row 0 and column 0 of the weights belong to the bias; the weights are
// overwritten by the tree's partial sums, as in the original.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py
#define SIDE 16

extern "C" __global__ void layerforward(const float *input, float *weight, float *partial, int hidden)
{
    __shared__ float node[SIDE];
    __shared__ float product[SIDE][SIDE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * SIDE + ty + 1;
    const int at = row * (hidden + 1) + tx + 1;
    if (tx == 0) node[ty] = input[row];
    __syncthreads();
    product[ty][tx] = weight[at];
    __syncthreads();
    product[ty][tx] = product[ty][tx] * node[ty];
    __syncthreads();
#pragma unroll
    for (int width = 2; width <= SIDE; width *= 2) {
        if (ty % width == 0) product[ty][tx] += product[ty + width / 2][tx];
        __syncthreads();
    }
    weight[at] = product[ty][tx];
    if (tx == 0) partial[blockIdx.y * hidden + ty] = product[tx][ty];
}
