// What goes wrong in a kernel or in the process, chosen by name.
#include <csignal>
#include <cstring>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

__global__ void store(int *out, int n) { out[threadIdx.x + n] = n; }
__global__ void misaligned(char *out) { *(int *)(out + 1) = 1; }
__global__ void asserts(int n) {
    if (n > 2)
        __trap();
}
__global__ void endless(volatile int *flag) {
    while (*flag >= 0)
        *flag = (*flag + 1) & 0xffffff;
}

__global__ void waits(volatile int *flag, int *out) {
    while (*flag == 0)
        ;
    *out = *flag;
}

static void *set(void *flag) {
    usleep(700000);
    *(volatile int *)flag = 41;
    return nullptr;
}

static void *later(void *what) {
    usleep(1500000);
    if (!strcmp((char *)what, "crash-in-launch"))
        raise(SIGSEGV);
    _exit(5);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int *data;
    CHECK(cudaMalloc(&data, 256));
    CHECK(cudaMemset(data, 0, 256));
    if (!strcmp(what, "outside")) {
        store<<<1, 64>>>(data, 1);
    } else if (!strcmp(what, "freed")) {
        int *freed;
        CHECK(cudaMalloc(&freed, 256));
        store<<<1, 64>>>(freed, 0); // loads the module, whose variables take memory too
        CHECK(cudaFree(freed));
        store<<<1, 64>>>(freed, 0);
    } else if (!strcmp(what, "host")) {
        int host[64];
        store<<<1, 64>>>(host, 0);
    } else if (!strcmp(what, "null")) {
        store<<<1, 64>>>(nullptr, 0);
    } else if (!strcmp(what, "misaligned")) {
        misaligned<<<1, 1>>>((char *)data);
    } else if (!strcmp(what, "trap")) {
        asserts<<<1, 1>>>(3);
    } else if (!strcmp(what, "crash")) {
        store<<<1, 64>>>(data, 0);
        raise(SIGSEGV);
    } else if (!strcmp(what, "exit")) {
        _exit(7);
    } else if (!strcmp(what, "crash-in-launch") || !strcmp(what, "exit-in-launch")) {
        pthread_t thread;
        pthread_create(&thread, nullptr, later, (void *)what);
        puts("launched");
        fflush(stdout);
        endless<<<1, 1>>>(data);
    } else if (!strcmp(what, "endless")) {
        puts("launched");
        fflush(stdout);
        endless<<<1, 1>>>(data);
    } else if (!strcmp(what, "set-by-a-thread") || !strcmp(what, "set-too-late")) {
        int *flag, found = 0;
        pthread_t thread;
        CHECK(cudaHostAlloc(&flag, 4, cudaHostAllocMapped));
        *flag = 0;
        if (!strcmp(what, "set-by-a-thread"))
            pthread_create(&thread, nullptr, set, flag);
        waits<<<1, 1>>>(flag, data);
        *(volatile int *)flag = 42;
        if (cudaMemcpy(&found, data, 4, cudaMemcpyDeviceToHost) == cudaSuccess)
            EXPECT(found == 41);
    } else if (!strcmp(what, "fork")) {
        int status;
        if (fork() == 0) {
            int *own;
            _exit(cudaMalloc(&own, 4) == cudaErrorInitializationError ? 11 : 12);
        }
        wait(&status);
        EXPECT(WEXITSTATUS(status) == 11);
        store<<<1, 64>>>(data, 0);
    }
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s: %s\n", what, cudaGetErrorName(error));
    EXPECT(cudaMalloc(&data, 4) == error); // an error of a kernel stays
    return error ? 1 : 0;
}
