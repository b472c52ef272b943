// Forces between bodies in double precision, tiles of them in shared memory.
extern "C" __global__ void forces(const double4 *body, double3 *force, int n, double softening)
{
    __shared__ double4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    double4 me = body[i];
    double x = 0, y = 0, z = 0;
    for (int k = 0; k < n; k += 64) {
        tile[threadIdx.x] = body[k + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            double dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            double r2 = dx * dx + dy * dy + dz * dz + softening;
            double f = tile[j].w / (r2 * sqrt(r2));
            x += f * dx, y += f * dy, z += f * dz;
        }
        __syncthreads();
    }
    force[i] = make_double3(x, y, z);
}

// Functions of double precision out of CUDA's library.
extern "C" __global__ void functions(const double *x, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = exp(x[i]);
    out[n + i] = log(fabs(x[i]));
    out[2 * n + i] = sin(x[i]);
    out[3 * n + i] = atan2(x[i], 2.0);
    out[4 * n + i] = cbrt(x[i]);
    out[5 * n + i] = rsqrt(fabs(x[i]));
    out[6 * n + i] = pow(fabs(x[i]), 0.3);
    out[7 * n + i] = erf(x[i]);
}
