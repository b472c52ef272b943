// Libraries of the runtime API: PTX that the program has as text, its kernels and variables; functions of the driver by name.
#include <cstdint>
#include <cstring>
#include "check.h"

static const char text[] = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 step = 3;
.visible .entry count(.param .u64 out, .param .u32 start)
{
	.reg .u32 %r<4>;
	.reg .u64 %rd<4>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [start];
	ld.global.u32 %r2, [step];
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r3, %r2, %r1;
	mul.wide.u32 %rd2, %r3, 4;
	add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
.visible .entry nothing() { ret; }
)";

typedef int cuMemGetInfo_t(size_t *, size_t *);

int main() {
    enum { N = 64 };
    cudaLibrary_t library;
    cudaKernel_t count, all[4] = {}, other;
    unsigned n;
    CHECK(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cudaLibraryGetKernel(&count, library, "count"));
    EXPECT(cudaLibraryGetKernel(&other, library, "absent") == cudaErrorSymbolNotFound);
    CHECK(cudaLibraryGetKernelCount(&n, library));
    EXPECT(n == 2);
    CHECK(cudaLibraryEnumerateKernels(all, 4, library));
    EXPECT((all[0] == count) != (all[1] == count) && all[1] && !all[2]);

    uint32_t *out, start = 7, found[N], step = 5;
    CHECK(cudaMalloc(&out, sizeof found));
    void *arguments[] = {&out, &start};
    CHECK(cudaLaunchKernel(count, 1, N, arguments, 0, 0));
    CHECK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    for (int k = 0; k < N; k++)
        EXPECT(found[k] == 7 + 3 * k);
    void *at;
    size_t bytes;
    CHECK(cudaLibraryGetGlobal(&at, &bytes, library, "step"));
    EXPECT(bytes == 4);
    CHECK(cudaMemcpy(at, &step, 4, cudaMemcpyHostToDevice));
    CHECK(cudaLaunchKernel(count, 1, N, arguments, 0, 0));
    CHECK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    EXPECT(found[N - 1] == 7 + 5 * (N - 1));
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, count));
    EXPECT(attributes.ptxVersion == 75 && attributes.numRegs > 0);
    CHECK(cudaKernelSetAttributeForDevice(count, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 0));
    CHECK(cudaLibraryUnload(library));
    EXPECT(cudaLaunchKernel(count, 1, N, arguments, 0, 0) == cudaErrorInvalidDeviceFunction);
    EXPECT(cudaLibraryLoadFromFile(&library, "/no/such/file.ptx", nullptr, nullptr, 0, nullptr, nullptr, 0) ==
           cudaErrorFileNotFound);

    void *function;
    cudaDriverEntryPointQueryResult status;
    size_t free_bytes, total;
    CHECK(cudaGetDriverEntryPointByVersion("cuMemGetInfo", &function, 12000, cudaEnableDefault, &status));
    EXPECT(status == cudaDriverEntryPointSuccess);
    EXPECT(((cuMemGetInfo_t *)function)(&free_bytes, &total) == 0 && total >= free_bytes + sizeof found);
    CHECK(cudaGetDriverEntryPointByVersion("cuNoSuchCall", &function, 12000, cudaEnableDefault, &status));
    EXPECT(!function && status == cudaDriverEntryPointSymbolNotFound);
    printf("libraries are right\n");
    return 0;
}
