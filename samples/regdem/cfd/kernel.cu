// Euler equations on an unstructured mesh, finite volumes: the flux through the four faces of every cell (Rodinia: cfd,
// cuda_compute_flux). A thread owns a cell. Beyond a face is another cell, a wing (-1: only the pressure acts on it) or the
// far field (-2: constants). The loop over the faces is not unrolled: its sums of a cell's flux and the far field's stay in
// registers.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define FACES 4
#define GAMMA 1.4f
#define SMOOTHING 0.2f

struct Flux {
    float3 x, y, z, energy; // of the momentum's components, of the energy
};

__constant__ float far_field[5]; // density, momentum, energy
__constant__ Flux far_flux;

__device__ __forceinline__ float3 velocity_of(float density, float3 momentum)
{
    return make_float3(momentum.x / density, momentum.y / density, momentum.z / density);
}

__device__ __forceinline__ float pressure_of(float density, float energy, float speed2)
{
    return (GAMMA - 1.0f) * (energy - 0.5f * density * speed2);
}

__device__ __forceinline__ Flux flux_of(float3 momentum, float energy, float pressure, float3 v)
{
    Flux f;
    f.x = make_float3(v.x * momentum.x + pressure, v.x * momentum.y, v.x * momentum.z);
    f.y = make_float3(f.x.y, v.y * momentum.y + pressure, v.y * momentum.z);
    f.z = make_float3(f.x.z, f.y.z, v.z * momentum.z + pressure);
    const float total = energy + pressure;
    f.energy = make_float3(v.x * total, v.y * total, v.z * total);
    return f;
}

extern "C" __global__ void cuda_compute_flux(int cells, const int *neighbour, const float *normals, const float *variables,
                                             float *fluxes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float density = variables[i];
    const float3 momentum = make_float3(variables[i + cells], variables[i + 2 * cells], variables[i + 3 * cells]);
    const float energy = variables[i + 4 * cells];
    const float3 v = velocity_of(density, momentum);
    const float speed2 = v.x * v.x + v.y * v.y + v.z * v.z;
    const float speed = sqrtf(speed2);
    const float pressure = pressure_of(density, energy, speed2);
    const float sound = sqrtf(GAMMA * pressure / density);
    const Flux own = flux_of(momentum, energy, pressure, v);

    float d_density = 0.0f, d_energy = 0.0f;
    float3 d_momentum = make_float3(0.0f, 0.0f, 0.0f);
#pragma unroll 1
    for (int j = 0; j < FACES; j++) {
        const int b = neighbour[i + j * cells];
        const float3 n = make_float3(normals[i + j * cells], normals[i + (j + FACES) * cells],
                                     normals[i + (j + 2 * FACES) * cells]);
        if (b >= 0) {
            const float density_b = variables[b];
            const float3 momentum_b = make_float3(variables[b + cells], variables[b + 2 * cells], variables[b + 3 * cells]);
            const float energy_b = variables[b + 4 * cells];
            const float3 v_b = velocity_of(density_b, momentum_b);
            const float speed2_b = v_b.x * v_b.x + v_b.y * v_b.y + v_b.z * v_b.z;
            const float pressure_b = pressure_of(density_b, energy_b, speed2_b);
            const float sound_b = sqrtf(GAMMA * pressure_b / density_b);
            const Flux other = flux_of(momentum_b, energy_b, pressure_b, v_b);

            // artificial viscosity, then half of both fluxes
            float factor = -sqrtf(n.x * n.x + n.y * n.y + n.z * n.z) * SMOOTHING * 0.5f
                           * (speed + sqrtf(speed2_b) + sound + sound_b);
            d_density += factor * (density - density_b);
            d_energy += factor * (energy - energy_b);
            d_momentum.x += factor * (momentum.x - momentum_b.x);
            d_momentum.y += factor * (momentum.y - momentum_b.y);
            d_momentum.z += factor * (momentum.z - momentum_b.z);
#define ALONG(c)                                                                                                            \
    factor = 0.5f * n.c;                                                                                                    \
    d_density += factor * (momentum_b.c + momentum.c);                                                                      \
    d_energy += factor * (other.energy.c + own.energy.c);                                                                   \
    d_momentum.x += factor * (other.x.c + own.x.c);                                                                         \
    d_momentum.y += factor * (other.y.c + own.y.c);                                                                         \
    d_momentum.z += factor * (other.z.c + own.z.c);
            ALONG(x)
            ALONG(y)
            ALONG(z)
        } else if (b == -1) {
            d_momentum.x += n.x * pressure;
            d_momentum.y += n.y * pressure;
            d_momentum.z += n.z * pressure;
        } else {
#define FAR(c, k)                                                                                                           \
    {                                                                                                                       \
        const float half = 0.5f * n.c;                                                                                      \
        d_density += half * (far_field[k] + momentum.c);                                                                    \
        d_energy += half * (far_flux.energy.c + own.energy.c);                                                              \
        d_momentum.x += half * (far_flux.x.c + own.x.c);                                                                    \
        d_momentum.y += half * (far_flux.y.c + own.y.c);                                                                    \
        d_momentum.z += half * (far_flux.z.c + own.z.c);                                                                    \
    }
            FAR(x, 1)
            FAR(y, 2)
            FAR(z, 3)
        }
    }
    fluxes[i] = d_density;
    fluxes[i + cells] = d_momentum.x;
    fluxes[i + 2 * cells] = d_momentum.y;
    fluxes[i + 3 * cells] = d_momentum.z;
    fluxes[i + 4 * cells] = d_energy;
}
