// Large copies to memory that nothing has touched, at odd places; again to the same; and after a file was opened under the
// number of the file of device memory.
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "check.h"

enum { BYTES = 5 << 20, AHEAD = 12345 };
static unsigned char pattern[BYTES], back[BYTES];

__global__ void differences(const unsigned char *from, int n, unsigned seed, int *found) {
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        if (from[k] != (unsigned char)((k * 2654435761u >> 20) + seed))
            atomicAdd(found, 1);
}

static void check(unsigned char *to, unsigned seed) {
    int n = BYTES - AHEAD, found, *device_found;
    for (int k = 0; k < n; k++)
        pattern[k] = (k * 2654435761u >> 20) + seed;
    CHECK(cudaMemcpy(to + AHEAD, pattern, n, cudaMemcpyHostToDevice));
    memset(back, 0, n);
    CHECK(cudaMemcpy(back, to + AHEAD, n, cudaMemcpyDeviceToHost));
    EXPECT(!memcmp(back, pattern, n));
    CHECK(cudaMalloc(&device_found, sizeof found));
    CHECK(cudaMemset(device_found, 0, sizeof found));
    differences<<<32, 256>>>(to + AHEAD, n, seed, device_found);
    CHECK(cudaMemcpy(&found, device_found, sizeof found, cudaMemcpyDeviceToHost));
    EXPECT(found == 0);
    CHECK(cudaFree(device_found));
}

int main(int argc, char **argv) {
    unsigned char *memory, *other, first;
    CHECK(cudaMalloc(&memory, BYTES));
    CHECK(cudaMalloc(&other, BYTES));
    check(memory, 1);
    check(memory, 2);
    CHECK(cudaMemcpy(&first, memory, 1, cudaMemcpyDeviceToHost)); // before the copy: still zero
    EXPECT(first == 0);
    int file = open(argv[1], O_RDWR | O_CREAT, 0600), n = 0;
    for (int number = 3; number < 256; number++) {
        char link[64], target[64] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", number);
        if (readlink(link, target, sizeof target - 1) > 0 && strstr(target, "ptxtool-device"))
            n += dup2(file, number) == number;
    }
    EXPECT(n == 1);
    check(other, 3);
    struct stat status;
    EXPECT(!fstat(file, &status) && status.st_size == 0);
    printf("copies are right\n");
    return 0;
}
