// Sparse matrix (CSR) times vector, a warp per row.
extern "C" __global__ void spmv(int rows, const int *start, const int *column, const float *value,
                                const float *x, float *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = start[row] + lane; k < start[row + 1]; k += 32)
        sum += value[k] * x[column[k]];
    for (int step = 16; step; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0)
        y[row] = sum;
}

// Breadth-first distances of a graph, one level per round, by one CTA; `more` says whether the level reached anybody.
extern "C" __global__ void distances(int nodes, const int *start, const int *neighbour, volatile int *distance)
{
    __shared__ int more;
    int level = 0;
    do {
        __syncthreads();
        if (threadIdx.x == 0)
            more = 0;
        __syncthreads();
        for (int v = threadIdx.x; v < nodes; v += blockDim.x)
            if (distance[v] == level)
                for (int k = start[v]; k < start[v + 1]; k++)
                    if (distance[neighbour[k]] < 0) {
                        distance[neighbour[k]] = level + 1;
                        more = 1;
                    }
        level++;
        __syncthreads();
    } while (more);
}
