// Back propagation, the update of the weights between the input and the hidden layer (Rodinia: backprop,
// bpnn_adjust_weights_cuda). w and oldw are (inputs + 1) x (hidden + 1) matrices; row and column 0 belong to the bias.
// A block of 16 x 16 threads updates 16 rows. Learning rate and momentum are doubles, as in the original, so that
// the sums are computed in double precision.
#define ROWS 16
#define RATE 0.3
#define MOMENTUM 0.3

extern "C" __global__ void __launch_bounds__(256)
bpnn_adjust_weights_cuda(const float *delta, int hidden, const float *layer, float *w, float *oldw)
{
    int row = ROWS * blockIdx.y + threadIdx.y + 1;
    int col = threadIdx.x + 1;
    int at = (hidden + 1) * row + col;

    w[at] += RATE * delta[col] * layer[row] + MOMENTUM * oldw[at];
    oldw[at] = RATE * delta[col] * layer[row] + MOMENTUM * oldw[at];
    __syncthreads();
    if (threadIdx.y == 0 && blockIdx.y == 0) { // the bias: its input is 1
        w[col] += RATE * delta[col] + MOMENTUM * oldw[col];
        oldw[col] = RATE * delta[col] + MOMENTUM * oldw[col];
    }
}
