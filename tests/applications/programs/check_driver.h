// What the programs of the driver API share: a call that must succeed, and what must be so.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda.h>

#define CHECK(call)                                                                                                     \
    do {                                                                                                                \
        CUresult result_ = (call);                                                                                      \
        if (result_ != CUDA_SUCCESS) {                                                                                  \
            const char *name = "?";                                                                                     \
            cuGetErrorName(result_, &name);                                                                             \
            printf("line %d: %s\n", __LINE__, name);                                                                    \
            exit(1);                                                                                                    \
        }                                                                                                               \
    } while (0)
#define WANT(condition)                                                                                                 \
    do {                                                                                                                \
        if (!(condition)) {                                                                                             \
            printf("line %d: not so: %s\n", __LINE__, #condition);                                                      \
            exit(1);                                                                                                    \
        }                                                                                                               \
    } while (0)
