// Arrays, textures and surfaces of the driver API: created, copied in parts, read by kernels in PTX; what is refused.
#include <cstdint>
#include "check_driver.h"

static const char text[] = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry sample(.param .u64 out, .param .u64 texture, .param .u32 width, .param .f32 scale_x, .param .f32 scale_y)
{
	.reg .u32 %r<5>;
	.reg .f32 %f<12>;
	.reg .u64 %rd<5>;
	ld.param.u64 %rd1, [out];
	ld.param.u64 %rd2, [texture];
	ld.param.u32 %r1, [width];
	ld.param.f32 %f1, [scale_x];
	ld.param.f32 %f2, [scale_y];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %tid.y;
	cvt.rn.f32.u32 %f3, %r2;
	cvt.rn.f32.u32 %f4, %r3;
	add.f32 %f3, %f3, 0f3F000000;
	add.f32 %f4, %f4, 0f3F000000;
	mul.f32 %f3, %f3, %f1;
	mul.f32 %f4, %f4, %f2;
	tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd2, {%f3, %f4}];
	mad.lo.u32 %r4, %r3, %r1, %r2;
	mul.wide.u32 %rd3, %r4, 4;
	add.u64 %rd4, %rd1, %rd3;
	st.global.f32 [%rd4], %f5;
	ret;
}
.visible .entry fetch(.param .u64 out, .param .u64 texture)
{
	.reg .u32 %r<6>;
	.reg .u64 %rd<5>;
	ld.param.u64 %rd1, [out];
	ld.param.u64 %rd2, [texture];
	mov.u32 %r1, %tid.x;
	tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [%rd2, {%r1}];
	mul.wide.u32 %rd3, %r1, 4;
	add.u64 %rd4, %rd1, %rd3;
	st.global.u32 [%rd4], %r2;
	ret;
}
.visible .entry increase(.param .u64 surface)
{
	.reg .u32 %r<5>;
	.reg .u64 %rd<2>;
	ld.param.u64 %rd1, [surface];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %tid.y;
	shl.b32 %r3, %r1, 2;
	suld.b.2d.b32.trap %r4, [%rd1, {%r3, %r2}];
	add.u32 %r4, %r4, 1;
	sust.b.2d.b32.trap [%rd1, {%r3, %r2}], %r4;
	ret;
}
)";

enum { WIDTH = 6, HEIGHT = 5 };
static CUmodule module;

static void launch(const char *name, unsigned x, unsigned y, void **arguments) {
    CUfunction kernel;
    CHECK(cuModuleGetFunction(&kernel, module, name));
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, x, y, 1, 0, NULL, arguments, NULL));
}

/* What a kernel reads through a texture of WIDTH x HEIGHT floats, bytes or the like. */
static void check_texture(CUDA_RESOURCE_DESC *resource, CUDA_TEXTURE_DESC *sampling, float scale_x, float scale_y, float factor = 1, float parts = 1) {
    float found[HEIGHT][WIDTH];
    CUdeviceptr out;
    CUtexObject texture;
    int width = WIDTH;
    CHECK(cuMemAlloc(&out, sizeof found));
    CHECK(cuTexObjectCreate(&texture, resource, sampling, NULL));
    void *arguments[] = {&out, &texture, &width, &scale_x, &scale_y};
    launch("sample", WIDTH, HEIGHT, arguments);
    CHECK(cuMemcpyDtoH(found, out, sizeof found));
    for (int k = 0; k < WIDTH * HEIGHT; k++)
        WANT(found[k / WIDTH][k % WIDTH] == k * factor / parts);
    CHECK(cuTexObjectDestroy(texture));
    WANT(cuTexObjectDestroy(texture) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemFree(out));
}

static void textures(void) {
    float values[HEIGHT][WIDTH];
    uint8_t bytes[HEIGHT][WIDTH][4] = {};
    for (int k = 0; k < WIDTH * HEIGHT; k++) {
        values[k / WIDTH][k % WIDTH] = k;
        bytes[k / WIDTH][k % WIDTH][0] = 5 * k;
    }
    CUDA_ARRAY_DESCRIPTOR wanted = {WIDTH, HEIGHT, CU_AD_FORMAT_FLOAT, 1}, found;
    CUarray array;
    CHECK(cuArrayCreate(&array, &wanted));
    CHECK(cuArrayGetDescriptor(&found, array));
    WANT(found.Width == WIDTH && found.Height == HEIGHT && found.Format == CU_AD_FORMAT_FLOAT && found.NumChannels == 1);
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = values, copy.srcPitch = sizeof values[0];
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array;
    copy.WidthInBytes = sizeof values[0], copy.Height = HEIGHT;
    CHECK(cuMemcpy2D(&copy));
    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY, resource.res.array.hArray = array;
    CUDA_TEXTURE_DESC sampling = {};
    sampling.addressMode[0] = sampling.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
    sampling.filterMode = CU_TR_FILTER_MODE_LINEAR;
    check_texture(&resource, &sampling, 1, 1);
    sampling.flags = CU_TRSF_NORMALIZED_COORDINATES;
    check_texture(&resource, &sampling, 1.0f / WIDTH, 1.0f / HEIGHT);
    CHECK(cuArrayDestroy(array));

    wanted = {WIDTH, HEIGHT, CU_AD_FORMAT_UNSIGNED_INT8, 4}; // bytes read as numbers from 0 to 1
    CHECK(cuArrayCreate(&array, &wanted));
    copy.srcHost = bytes, copy.srcPitch = copy.WidthInBytes = sizeof bytes[0], copy.dstArray = array;
    CHECK(cuMemcpy2DUnaligned(&copy));
    resource.res.array.hArray = array;
    sampling = {};
    sampling.addressMode[0] = sampling.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
    check_texture(&resource, &sampling, 1, 1, 5, 255);
    CHECK(cuArrayDestroy(array));

    CUdeviceptr memory;
    size_t pitch;
    CHECK(cuMemAllocPitch(&memory, &pitch, sizeof values[0], HEIGHT, 4));
    copy.srcHost = values, copy.srcPitch = copy.WidthInBytes = sizeof values[0];
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE, copy.dstDevice = memory, copy.dstPitch = pitch;
    CHECK(cuMemcpy2D(&copy));
    resource = {};
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D = {memory, CU_AD_FORMAT_FLOAT, 1, WIDTH, HEIGHT, pitch};
    check_texture(&resource, &sampling, 1, 1);
    CHECK(cuMemFree(memory));

    int numbers[8] = {5, -4, 3, -2, 1, 0, 7, 8}, result[8];
    CUdeviceptr out;
    CUtexObject texture;
    CHECK(cuMemAlloc(&memory, sizeof numbers));
    CHECK(cuMemAlloc(&out, sizeof numbers));
    CHECK(cuMemcpyHtoD(memory, numbers, sizeof numbers));
    resource = {};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {memory, CU_AD_FORMAT_SIGNED_INT32, 1, sizeof numbers};
    CHECK(cuTexObjectCreate(&texture, &resource, &sampling, NULL));
    void *arguments[] = {&out, &texture};
    launch("fetch", 8, 1, arguments);
    CHECK(cuMemcpyDtoH(result, out, sizeof result));
    for (int k = 0; k < 8; k++)
        WANT(result[k] == numbers[k]);
    CHECK(cuTexObjectDestroy(texture));

    CUDA_RESOURCE_VIEW_DESC view = {};
    view.format = CU_RES_VIEW_FORMAT_UINT_1X8;
    WANT(cuTexObjectCreate(&texture, &resource, &sampling, &view) == CUDA_ERROR_NOT_SUPPORTED);
    resource.res.linear.format = CU_AD_FORMAT_NV12;
    WANT(cuTexObjectCreate(&texture, &resource, &sampling, NULL) == CUDA_ERROR_NOT_SUPPORTED);
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    WANT(cuTexObjectCreate(&texture, &resource, &sampling, NULL) == CUDA_ERROR_NOT_SUPPORTED);
}

static void parts(void) {
    uint32_t values[2][3][4], back[2][2][2], row[4], numbers[4] = {90, 91, 92, 93};
    for (uint32_t k = 0; k < 24; k++)
        values[k / 12][k / 4 % 3][k % 4] = k;
    CUDA_ARRAY3D_DESCRIPTOR wanted = {4, 3, 2, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0}, found;
    CUarray array, line;
    CHECK(cuArray3DCreate(&array, &wanted));
    CHECK(cuArray3DGetDescriptor(&found, array));
    WANT(found.Width == 4 && found.Height == 3 && found.Depth == 2 && found.Format == wanted.Format);
    CUDA_MEMCPY3D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = values, copy.srcPitch = 16, copy.srcHeight = 3;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array;
    copy.WidthInBytes = 16, copy.Height = 3, copy.Depth = 2;
    CHECK(cuMemcpy3D(&copy));
    copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY, copy.srcArray = array, copy.srcXInBytes = 8, copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = back, copy.dstPitch = 8, copy.dstHeight = 2;
    copy.WidthInBytes = 8, copy.Height = 2, copy.Depth = 2;
    CHECK(cuMemcpy3D(&copy));
    for (uint32_t k = 0; k < 8; k++)
        WANT(back[k / 4][k / 2 % 2][k % 2] == values[k / 4][1 + k / 2 % 2][2 + k % 2]);
    copy.srcZ = 1;
    WANT(cuMemcpy3D(&copy) == CUDA_ERROR_INVALID_VALUE); // two planes from the second of two on

    CUDA_ARRAY_DESCRIPTOR of_line = {4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    CHECK(cuArrayCreate(&line, &of_line));
    CUdeviceptr memory;
    CHECK(cuMemAlloc(&memory, 16));
    CHECK(cuMemcpyHtoA(line, 0, numbers, 16));
    CHECK(cuMemcpyAtoD(memory, line, 4, 8));
    CHECK(cuMemcpyDtoA(line, 0, memory, 8));
    CHECK(cuMemcpyAtoA(array, 8, line, 0, 8));
    CHECK(cuMemcpyAtoH(row, array, 0, 16));
    WANT(row[0] == 0 && row[1] == 1 && row[2] == 91 && row[3] == 92);
    WANT(cuMemcpyHtoA(line, 8, numbers, 16) == CUDA_ERROR_INVALID_VALUE);
    WANT(cuMemcpyHtoA((CUarray)&of_line, 0, numbers, 4) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cuMemFree(memory));
    CHECK(cuArrayDestroy(line));
    CHECK(cuArrayDestroy(array));
}

static void surfaces(void) {
    uint32_t values[2][4], back[2][4];
    for (uint32_t k = 0; k < 8; k++)
        values[k / 4][k % 4] = k;
    CUDA_ARRAY3D_DESCRIPTOR wanted = {4, 2, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUarray array;
    CHECK(cuArray3DCreate(&array, &wanted));
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = values, copy.srcPitch = 16;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array, copy.WidthInBytes = 16, copy.Height = 2;
    CHECK(cuMemcpy2D(&copy));
    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY, resource.res.array.hArray = array;
    CUsurfObject surface;
    CHECK(cuSurfObjectCreate(&surface, &resource));
    void *arguments[] = {&surface};
    launch("increase", 4, 2, arguments);
    CHECK(cuSurfObjectDestroy(surface));
    copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY, copy.srcArray = array;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = back, copy.dstPitch = 16, copy.WidthInBytes = 16, copy.Height = 2;
    CHECK(cuMemcpy2D(&copy));
    for (uint32_t k = 0; k < 8; k++)
        WANT(back[k / 4][k % 4] == k + 1);
    CHECK(cuArrayDestroy(array));
    CUmipmappedArray levels;
    WANT(cuMipmappedArrayCreate(&levels, &wanted, 2) == CUDA_ERROR_NOT_SUPPORTED);
}

int main() {
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuCtxCreate(&context, NULL, 0, 0));
    CHECK(cuModuleLoadData(&module, text));
    textures();
    parts();
    surfaces();
    CHECK(cuModuleUnload(module));
    printf("arrays are right\n");
    return 0;
}
