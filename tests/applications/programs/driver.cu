// The driver API alone: a PTX text is loaded, linked, launched both ways; memory, variables, streams, errors.
#include <cstdint>
#include <cstring>
#include "check_driver.h"

static const char text[] = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 step = 3;
.visible .entry count(.param .u64 out, .param .u8 odd, .param .u32 start)
{
	.reg .u32 %r<8>;
	.reg .u64 %rd<4>;
	ld.param.u64 %rd1, [out];
	ld.param.u8 %r1, [odd];
	ld.param.u32 %r2, [start];
	ld.global.u32 %r3, [step];
	mov.u32 %r4, %ctaid.x;
	mov.u32 %r5, %ntid.x;
	mov.u32 %r6, %tid.x;
	mad.lo.u32 %r4, %r4, %r5, %r6;
	mad.lo.u32 %r7, %r4, %r3, %r2;
	add.u32 %r7, %r7, %r1;
	mul.wide.u32 %rd2, %r4, 4;
	add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r7;
	ret;
}
)";

static const char clusters_text[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry ranks(.param .u64 out)
{
	.reg .u32 %r<5>;
	.reg .u64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %cluster_ctarank;
	mov.u32 %r2, %cluster_nctarank;
	mad.lo.u32 %r3, %r1, 100, %r2;
	mov.u32 %r4, %ctaid.x;
	mul.wide.u32 %rd2, %r4, 4;
	add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r3;
	ret;
}
)";

enum { N = 256 };

static void check_counts(CUdeviceptr at, uint32_t start, uint32_t step) {
    uint32_t found[N];
    CHECK(cuMemcpyDtoH(found, at, sizeof found));
    for (uint32_t k = 0; k < N; k++)
        WANT(found[k] == start + k * step);
    CHECK(cuMemsetD32(at, 0xABCD1234, N));
    CHECK(cuMemcpyDtoH(found, at, sizeof found));
    WANT(found[0] == 0xABCD1234 && found[N - 1] == 0xABCD1234);
}

static void launch_both_ways(CUmodule module) {
    CUfunction count;
    CHECK(cuModuleGetFunction(&count, module, "count"));
    CUdeviceptr out;
    CHECK(cuMemAlloc(&out, 4 * N));
    uint8_t odd = 1;
    uint32_t start = 9, step = 0;
    void *arguments[] = {&out, &odd, &start};
    CHECK(cuLaunchKernel(count, 4, 1, 1, N / 4, 1, 1, 0, NULL, arguments, NULL));
    check_counts(out, 10, 3);

    CUdeviceptr at;
    size_t bytes;
    CHECK(cuModuleGetGlobal(&at, &bytes, module, "step"));
    WANT(bytes == 4);
    CHECK(cuMemcpyDtoH(&step, at, 4));
    WANT(step == 3);
    step = 5;
    CHECK(cuMemcpyHtoD(at, &step, 4));
    struct { CUdeviceptr out; uint8_t odd; uint32_t start; } block = {out, 0, 70};
    size_t block_bytes = sizeof block;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &block_bytes, CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(count, 4, 1, 1, N / 4, 1, 1, 0, NULL, NULL, extra));
    check_counts(out, 70, 5);

    CUlaunchConfig configuration = {};
    configuration.gridDimX = 4, configuration.gridDimY = configuration.gridDimZ = 1;
    configuration.blockDimX = N / 4, configuration.blockDimY = configuration.blockDimZ = 1;
    CHECK(cuLaunchKernelEx(&configuration, count, arguments, NULL));
    check_counts(out, 10, 5);

    block_bytes = 12;
    WANT(cuLaunchKernel(count, 4, 1, 1, 1, 1, 1, 0, NULL, NULL, extra) == CUDA_ERROR_INVALID_VALUE);
    WANT(cuLaunchKernel(count, 0, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemFree(out));
    WANT(cuMemFree(out) == CUDA_ERROR_INVALID_VALUE);
}

static void attributes(void) {
    CUmodule module;
    CUfunction ranks;
    CUdeviceptr out;
    CUevent begin, end;
    float milliseconds = -1;
    CHECK(cuModuleLoadData(&module, clusters_text));
    CHECK(cuModuleGetFunction(&ranks, module, "ranks"));
    CHECK(cuFuncSetAttribute(ranks, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    CHECK(cuMemAlloc(&out, 16));
    CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    CHECK(cuEventRecord(begin, NULL));
    CUlaunchAttribute asked[3] = {};
    asked[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    asked[0].value.clusterDim.x = 2, asked[0].value.clusterDim.y = asked[0].value.clusterDim.z = 1;
    asked[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    asked[1].value.programmaticStreamSerializationAllowed = 1;
    asked[2].id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
    asked[2].value.launchCompletionEvent.event = end;
    CUlaunchConfig configuration = {};
    configuration.gridDimX = 4, configuration.gridDimY = configuration.gridDimZ = 1;
    configuration.blockDimX = configuration.blockDimY = configuration.blockDimZ = 1;
    configuration.attrs = asked, configuration.numAttrs = 3;
    void *arguments[] = {&out};
    CHECK(cuLaunchKernelEx(&configuration, ranks, arguments, NULL));
    uint32_t found[4];
    CHECK(cuMemcpyDtoH(found, out, sizeof found));
    WANT(found[0] == 2 && found[1] == 102 && found[2] == 2 && found[3] == 102);
    CHECK(cuEventElapsedTime(&milliseconds, begin, end));
    WANT(milliseconds > 0);

    asked[0].value.clusterDim.x = 3;
    WANT(cuLaunchKernelEx(&configuration, ranks, arguments, NULL) == CUDA_ERROR_INVALID_CLUSTER_SIZE);
    asked[0].id = (CUlaunchAttributeID)99;
    WANT(cuLaunchKernelEx(&configuration, ranks, arguments, NULL) == CUDA_ERROR_NOT_SUPPORTED);
    asked[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    asked[0].value.cooperative = 1;
    CHECK(cuLaunchKernelEx(&configuration, ranks, arguments, NULL)); // now without clusters
    CHECK(cuMemcpyDtoH(found, out, sizeof found));
    WANT(found[0] == 1 && found[3] == 1);
    CHECK(cuEventDestroy(begin));
    CHECK(cuEventDestroy(end));
    CHECK(cuMemFree(out));
}

static void questions(CUmodule module) {
    CUfunction count, other;
    CHECK(cuModuleGetFunction(&count, module, "count"));
    WANT(cuModuleGetFunction(&other, module, "absent") == CUDA_ERROR_NOT_FOUND);
    int value;
    size_t offset, bytes;
    CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, count));
    WANT(value == 1024);
    CHECK(cuFuncGetParamInfo(count, 2, &offset, &bytes));
    WANT(offset == 12 && bytes == 4);
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, count, 192, 0));
    WANT(value == 8); // 48 warps and 8 CTAs of an SM
    CUlaunchAttribute cluster = {};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = 2;
    cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
    CUlaunchConfig chosen = {};
    chosen.gridDimX = 4;
    chosen.gridDimY = chosen.gridDimZ = chosen.blockDimY = chosen.blockDimZ = 1;
    chosen.blockDimX = 192;
    chosen.attrs = &cluster;
    chosen.numAttrs = 1;
    CHECK(cuOccupancyMaxActiveClusters(&value, count, &chosen));
    WANT(value == 56); // 8 CTAs on each of 14 SMs, two in a cluster
    int grid, block;
    CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, count, NULL, 0, 0));
    WANT(block == 768 && grid == 28); // two blocks fill the 1536 threads of each of 14 SMs

    void *function;
    CHECK(cuGetProcAddress("cuMemAlloc", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
    CUdeviceptr at = 0;
    CHECK(((CUresult(*)(CUdeviceptr *, size_t))function)(&at, 4096));
    CUdeviceptr start;
    CHECK(cuMemGetAddressRange(&start, &bytes, at + 100));
    WANT(start == at && bytes == 4096);
    CUmemorytype sort;
    CHECK(cuPointerGetAttribute(&sort, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at));
    WANT(sort == CU_MEMORYTYPE_DEVICE);
    WANT(cuPointerGetAttribute(&sort, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&sort) == CUDA_ERROR_INVALID_VALUE);

    uint16_t half[4];
    CHECK(cuMemsetD8(at, 7, 4096));
    CHECK(cuMemsetD2D16(at + 2, 16, 0x1234, 2, 3));
    CHECK(cuMemcpyDtoH(half, at + 32, 8));
    WANT(half[0] == 0x0707 && half[1] == 0x1234 && half[2] == 0x1234 && half[3] == 0x0707);
    char corner[2][3];
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = at, copy.srcPitch = 16, copy.srcXInBytes = 1, copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = corner, copy.dstPitch = 3;
    copy.WidthInBytes = 3, copy.Height = 2;
    CHECK(cuMemcpy2D(&copy));
    WANT(corner[1][0] == 7 && corner[1][1] == 0x34 && corner[1][2] == 0x12);
    WANT(cuMemcpyHtoD(at + 4000, half, 4096) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemFree(at));
}

static void streams(void) {
    CUstream stream;
    CUevent from, to;
    CUcontext context, current;
    float milliseconds = -1;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&from, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&to, CU_EVENT_DEFAULT));
    CHECK(cuEventRecord(from, stream));
    CHECK(cuEventRecord(to, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuEventElapsedTime(&milliseconds, from, to));
    WANT(milliseconds == 0);
    CHECK(cuStreamGetCtx(stream, &context));
    CHECK(cuCtxGetCurrent(&current));
    WANT(context == current);
    CHECK(cuEventDestroy(from));
    CHECK(cuEventDestroy(to));
    CHECK(cuStreamDestroy(stream));
}

int main() {
    int version, n, value;
    char name[64], log[512] = "";
    CUdevice device;
    CUcontext context, popped, none;
    CUmodule module;
    CHECK(cuDriverGetVersion(&version));
    WANT(version == 13000);
    WANT(cuDeviceGetCount(&n) == CUDA_ERROR_NOT_INITIALIZED);
    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&n));
    WANT(n == 1);
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    WANT(!strcmp(name, "tesla-c2050"));
    CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    WANT(value == 14);
    WANT(cuModuleLoadData(&module, text) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxPushCurrent(context));

    CHECK(cuModuleLoadData(&module, text));
    launch_both_ways(module);
    questions(module);
    CHECK(cuModuleUnload(module));

    CUlinkState linker;
    void *image;
    size_t bytes;
    CHECK(cuLinkCreate(0, NULL, NULL, &linker));
    CHECK(cuLinkAddData(linker, CU_JIT_INPUT_PTX, (void *)text, sizeof text, "count.ptx", 0, NULL, NULL));
    CHECK(cuLinkComplete(linker, &image, &bytes));
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuLinkDestroy(linker));
    launch_both_ways(module);

    CUlibrary library;
    CUkernel kernel;
    CHECK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "count"));
    WANT(cuLibraryGetKernel(&kernel, library, "absent") == CUDA_ERROR_NOT_FOUND);
    CHECK(cuLibraryUnload(library));

    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    WANT(cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_75\nnonsense", 2, options, values) == CUDA_ERROR_INVALID_PTX);
    WANT(strstr(log, "nonsense"));
    WANT(cuModuleLoadData(&module, "\x7f" "ELF...") == CUDA_ERROR_NO_BINARY_FOR_GPU);

    attributes();
    streams();
    CUgraph graph;
    WANT(cuGraphCreate(&graph, 0) == CUDA_ERROR_NOT_SUPPORTED);
    CHECK(cuCtxSynchronize());
    CHECK(cuCtxPopCurrent(&popped));
    WANT(popped == context);
    CHECK(cuCtxGetCurrent(&none));
    WANT(none == NULL);
    CHECK(cuDevicePrimaryCtxRelease(device));
    printf("driver calls are right\n");
    return 0;
}
