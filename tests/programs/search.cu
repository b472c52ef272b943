// All places where a pattern in constant memory begins in a text, in any order, and the first of them.
__constant__ unsigned char pattern[16];
__constant__ int length;

extern "C" __global__ void find(const unsigned char *text, int n, int *places, int *count, int *first)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i + length <= n; i += gridDim.x * blockDim.x) {
        int k = 0;
        while (k < length && text[i + k] == pattern[k])
            k++;
        if (k == length) {
            places[atomicAdd(count, 1)] = i;
            atomicMin(first, i);
        }
    }
}

// Edit distances of a word to a list of words of at most 31 letters: a warp per word, a lane per column.
extern "C" __global__ void edit_distance(const char *word, int m, const char *words, const int *lengths, int *distance)
{
    int lane = threadIdx.x & 31, w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, n = lengths[w];
    char mine = lane < n ? words[32 * w + lane] : 0;
    int above = lane + 1, result = 0;                       // row 0 of column lane + 1
    for (int row = 1; row <= m; row++) {
        int corner = __shfl_up_sync(0xffffffff, above, 1);  // row - 1 of the column to the left
        if (lane == 0)
            corner = row - 1;
        int here = min(corner + (word[row - 1] != mine), above + 1);
        for (int step = 1; step < 32; step *= 2) {          // insertions: a running minimum of here - lane
            int left = __shfl_up_sync(0xffffffff, here, step);
            if (lane >= step)
                here = min(here, left + step);
        }
        above = min(here, row + lane + 1);
    }
    result = __shfl_sync(0xffffffff, above, n > 0 ? n - 1 : 0);
    if (lane == 0)
        distance[w] = n > 0 ? result : m;
}
