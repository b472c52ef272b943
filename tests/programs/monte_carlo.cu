// Points of xorshift generators inside the circle: integers only, so exact. The state goes on in `state`.
extern "C" __global__ void circle(unsigned *state, int rounds, unsigned long long *inside)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = state[i], hits = 0;
    for (int k = 0; k < rounds; k++) {
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        unsigned x = s & 0xffff, y = s >> 16;
        hits += (unsigned long long)x * x + (unsigned long long)y * y < 1ull << 32;
    }
    state[i] = s;
    hits = __popc(__ballot_sync(0xffffffff, hits & 1)) + 2 * __popc(__ballot_sync(0xffffffff, hits & 2))
        + 4 * __popc(__ballot_sync(0xffffffff, hits & 4)) + 8 * __popc(__ballot_sync(0xffffffff, hits & 8))
        + 16 * __popc(__ballot_sync(0xffffffff, hits & 16));
    if ((threadIdx.x & 31) == 0)
        atomicAdd(inside, (unsigned long long)hits);
}
