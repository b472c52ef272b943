// Arrays of one to three axes, and texture and surface objects on arrays, on linear and on pitched memory; a handle in a structure.
#include "check.h"

struct Sampled {
    int scale;
    cudaTextureObject_t texture;
};
__constant__ Sampled sampled;

__global__ void from_array(cudaTextureObject_t texture, float *out, int width, int height) {
    int x = threadIdx.x, y = threadIdx.y;
    out[y * width + x] = tex2D<float>(texture, (x + 0.5f) / width, (y + 0.5f) / height);
    if (x == 0 && y == 0)
        out[width * height] = tex2D<float>(texture, 1.0f / width, 0.5f / height); // halfway between two texels
}
__global__ void from_linear(cudaTextureObject_t texture, int *out) { out[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x); }
__global__ void from_pitched(float *out) {
    float4 texel = tex2D<float4>(sampled.texture, threadIdx.x, threadIdx.y);
    out[threadIdx.y * 4 + threadIdx.x] = sampled.scale * (texel.x + texel.w);
}
__global__ void from_volume(cudaTextureObject_t texture, float *out) {
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    out[(z * 3 + y) * 4 + x] = tex3D<float>(texture, x, y, z);
}
__global__ void invert(cudaSurfaceObject_t surface) {
    uchar4 texel;
    surf2Dread(&texel, surface, threadIdx.x * sizeof texel, threadIdx.y);
    surf2Dwrite(make_uchar4(255 - texel.x, texel.y, texel.z, texel.w), surface, threadIdx.x * sizeof texel, threadIdx.y);
}

int main() {
    const int width = 6, height = 5;
    float values[height][width], result[64], *out;
    for (int k = 0; k < width * height; k++)
        values[k / width][k % width] = k;
    CHECK(cudaMalloc(&out, sizeof result));

    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), back;
    cudaArray_t array;
    cudaExtent extent;
    unsigned flags;
    CHECK(cudaMallocArray(&array, &format, width, height));
    CHECK(cudaArrayGetInfo(&back, &extent, &flags, array));
    EXPECT(back.x == 32 && back.f == cudaChannelFormatKindFloat && extent.width == width && extent.height == height);
    CHECK(cudaMemcpy2DToArray(array, 0, 0, values, sizeof values[0], sizeof values[0], height, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc sampling = {};
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
    sampling.filterMode = cudaFilterModeLinear;
    sampling.normalizedCoords = 1;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    from_array<<<1, dim3(width, height)>>>(texture, out, width, height);
    CHECK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    for (int k = 0; k < width * height; k++)
        EXPECT(result[k] == k);
    EXPECT(result[width * height] == 0.5f);
    CHECK(cudaDestroyTextureObject(texture));
    float part[2][3];
    CHECK(cudaMemcpy2DFromArray(part, sizeof part[0], array, 4, 1, sizeof part[0], 2, cudaMemcpyDeviceToHost));
    EXPECT(part[0][0] == 7 && part[1][2] == 15);
    EXPECT(cudaMemcpy2DToArray(array, 8, 0, values, 24, 24, 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaFreeArray(array));

    int numbers[8] = {5, -4, 3, -2, 1, 0, 7, 8}, *linear;
    CHECK(cudaMalloc(&linear, sizeof numbers));
    CHECK(cudaMemcpy(linear, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = linear;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = sizeof numbers;
    sampling = {};
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    from_linear<<<1, 8>>>(texture, (int *)out);
    CHECK(cudaMemcpy(result, out, sizeof numbers, cudaMemcpyDeviceToHost));
    for (int k = 0; k < 8; k++)
        EXPECT(((int *)result)[k] == numbers[k]);
    CHECK(cudaDestroyTextureObject(texture));

    float4 vectors[3][4], *pitched;
    size_t pitch;
    for (int k = 0; k < 12; k++)
        vectors[k / 4][k % 4] = make_float4(k, 0, 0, 100);
    CHECK(cudaMallocPitch(&pitched, &pitch, sizeof vectors[0], 3));
    CHECK(cudaMemcpy2D(pitched, pitch, vectors, sizeof vectors[0], sizeof vectors[0], 3, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = pitched;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float4>();
    resource.res.pitch2D.width = 4;
    resource.res.pitch2D.height = 3;
    resource.res.pitch2D.pitchInBytes = pitch;
    Sampled kept = {3, 0};
    CHECK(cudaCreateTextureObject(&kept.texture, &resource, &sampling, nullptr));
    CHECK(cudaMemcpyToSymbol(sampled, &kept, sizeof kept));
    from_pitched<<<1, dim3(4, 3)>>>(out);
    CHECK(cudaMemcpy(result, out, 12 * sizeof(float), cudaMemcpyDeviceToHost));
    for (int k = 0; k < 12; k++)
        EXPECT(result[k] == 3 * (k + 100));

    format = cudaCreateChannelDesc<float>();
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 3, 2)));
    float volume[24];
    for (int k = 0; k < 24; k++)
        volume[k] = 10 * k;
    cudaMemcpy3DParms box = {};
    box.srcPtr = make_cudaPitchedPtr(volume, 4 * sizeof(float), 4, 3);
    box.dstArray = array;
    box.extent = make_cudaExtent(4, 3, 2);
    box.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&box));
    resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    from_volume<<<1, dim3(4, 3, 2)>>>(texture, out);
    CHECK(cudaMemcpy(result, out, sizeof volume, cudaMemcpyDeviceToHost));
    for (int k = 0; k < 24; k++)
        EXPECT(result[k] == volume[k]);

    uchar4 pixels[2][3];
    for (int k = 0; k < 6; k++)
        pixels[k / 3][k % 3] = make_uchar4(k, 10 + k, 20 + k, 30 + k);
    format = cudaCreateChannelDesc<uchar4>();
    CHECK(cudaMallocArray(&array, &format, 3, 2, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, pixels, sizeof pixels[0], sizeof pixels[0], 2, cudaMemcpyHostToDevice));
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    invert<<<1, dim3(3, 2)>>>(surface);
    CHECK(cudaMemcpy2DFromArray(pixels, sizeof pixels[0], array, 0, 0, sizeof pixels[0], 2, cudaMemcpyDeviceToHost));
    for (int k = 0; k < 6; k++)
        EXPECT(pixels[k / 3][k % 3].x == 255 - k && pixels[k / 3][k % 3].w == 30 + k);
    CHECK(cudaDestroySurfaceObject(surface));
    EXPECT(cudaDestroySurfaceObject(surface) == cudaErrorInvalidValue);
    CHECK(cudaFreeArray(array));
    puts("texels are right");
    return 0;
}
