// nvcc -arch=sm_75 -ptx -o textures.ptx textures.cu
// Texture and surface objects: one fetch a thread, an image filter, a rotation, a histogram.

#define AT const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return

extern "C" __global__ void line(cudaTextureObject_t t, const float *x, float *y, int n)
{
    AT;
    y[i] = tex1D<float>(t, x[i]);
}

extern "C" __global__ void element(cudaTextureObject_t t, const int *x, float4 *y, int n)
{
    AT;
    y[i] = tex1Dfetch<float4>(t, x[i]);
}

extern "C" __global__ void image(cudaTextureObject_t t, const float2 *x, float *y, int n)
{
    AT;
    y[i] = tex2D<float>(t, x[i].x, x[i].y);
}

extern "C" __global__ void bytes(cudaTextureObject_t t, const float2 *x, uchar4 *y, int n)
{
    AT;
    y[i] = tex2D<uchar4>(t, x[i].x, x[i].y);
}

extern "C" __global__ void volume(cudaTextureObject_t t, const float4 *x, float *y, int n)
{
    AT;
    y[i] = tex3D<float>(t, x[i].x, x[i].y, x[i].z);
}

extern "C" __global__ void layers(cudaTextureObject_t t, const float4 *x, float *y, int n)
{
    AT;
    y[i] = tex2DLayered<float>(t, x[i].x, x[i].y, (int)x[i].z);
}

extern "C" __global__ void gather(cudaTextureObject_t t, const float2 *x, float4 *y, int n)
{
    AT;
    y[i] = tex2Dgather<float4>(t, x[i].x, x[i].y, 1);
}

extern "C" __global__ void cube(cudaTextureObject_t t, const float4 *x, float *y, int n)
{
    AT;
    y[i] = texCubemap<float>(t, x[i].x, x[i].y, x[i].z);
}

extern "C" __global__ void transform(cudaTextureObject_t t, float *out, int width, int height, float angle)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float u = (x + 0.5f) / width - 0.5f, v = (y + 0.5f) / height - 0.5f;
    const float c = cosf(angle), s = sinf(angle);
    out[y * width + x] = tex2D<float>(t, u * c - v * s + 0.5f, v * c + u * s + 0.5f);
}

extern "C" __global__ void blur(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0, value;
    for (int d = -1; d <= 1; d++) {
        surf2Dread(&value, in, (x + d) * 4, y, cudaBoundaryModeClamp);
        sum += value;
    }
    surf2Dwrite(sum * 0.25f, out, x * 4, y, cudaBoundaryModeTrap);
}

extern "C" __global__ void shift(cudaSurfaceObject_t in, cudaSurfaceObject_t out)
{
    const int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    uchar4 value;
    surf3Dread(&value, in, (x - 1) * 4, y, z, cudaBoundaryModeZero);
    value.x++;
    surf3Dwrite(value, out, x * 4, y, z, cudaBoundaryModeZero);
}
