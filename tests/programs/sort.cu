// Bitonic sort of 512 floats in shared memory by 256 threads.
extern "C" __global__ void bitonic_sort(float *data)
{
    __shared__ float item[512];
    int t = threadIdx.x;
    float *mine = data + 512 * blockIdx.x;
    item[t] = mine[t];
    item[t + 256] = mine[t + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (stride - 1)), high = low + stride;
            bool up = (low & size) == 0;
            float a = item[low], b = item[high];
            if ((a > b) == up) {
                item[low] = b;
                item[high] = a;
            }
        }
    __syncthreads();
    mine[t] = item[t];
    mine[t + 256] = item[t + 256];
}

// Radix sort of 256 pairs of key and value, one bit at a time; places from ballots.
extern "C" __global__ void radix_sort(unsigned *keys, unsigned short *values)
{
    __shared__ unsigned key_of[256];
    __shared__ unsigned short value_of[256];
    __shared__ int zeros_of[8];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    unsigned key = keys[t];
    unsigned short value = values[t];
    for (int bit = 0; bit < 32; bit++) {
        bool one = key >> bit & 1;
        unsigned zeros = ~__ballot_sync(0xffffffff, one);
        if (lane == 0)
            zeros_of[warp] = __popc(zeros);
        __syncthreads();
        int before = 0, all = 0;
        for (int w = 0; w < 8; w++) {
            all += zeros_of[w];
            before += w < warp ? zeros_of[w] : 0;
        }
        before += __popc(zeros & ((1u << lane) - 1));
        int to = one ? all + t - before : before;
        key_of[to] = key;
        value_of[to] = value;
        __syncthreads();
        key = key_of[t];
        value = value_of[t];
    }
    keys[t] = key;
    values[t] = value;
}
