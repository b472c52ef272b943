// Ways to place n queens: a thread for every place of the first two, the others by backtracking in a local array.
extern "C" __global__ void queens(int n, unsigned *ways)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n)
        return;
    int column[12];
    column[0] = i / n;
    column[1] = i % n;
    int gap = column[0] - column[1];
    if (gap >= -1 && gap <= 1)
        return;
    unsigned found = 0;
    int row = 2;
    column[row] = -1;
    while (row >= 2) {
        column[row]++;
        if (column[row] == n) {
            row--;
            continue;
        }
        bool free = true;
        for (int k = 0; k < row; k++) {
            int d = column[row] - column[k];
            free = free && d != 0 && d != row - k && d != k - row;
        }
        if (!free)
            continue;
        if (row == n - 1)
            found++;
        else
            column[++row] = -1;
    }
    atomicAdd(ways, found);
}

// Permutations applied k times: elements of local arrays by computed index, bytes, shorts and 64 bits.
extern "C" __global__ void permute(const unsigned char *order, int times, unsigned char *out, unsigned long long *check)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char p[16], q[16];
    unsigned long long weight[4] = {1, 31, 961, 29791};
    for (int k = 0; k < 16; k++)
        p[k] = k;
    for (int n = 0; n < times; n++) {
        for (int k = 0; k < 16; k++)
            q[k] = p[order[16 * i + k]];
        for (int k = 0; k < 16; k++)
            p[k] = q[k];
    }
    unsigned long long sum = 0;
    for (int k = 0; k < 16; k++) {
        out[16 * i + k] = p[k];
        sum += p[k] * weight[p[(k + 1) & 15] & 3];
    }
    check[i] = sum;
}
