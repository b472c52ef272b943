// Euler equations on an unstructured mesh, finite volumes: the flux through the four faces of every cell, from what each cell's
// own state contributes to it (Rodinia: cfd, cuda_compute_flux of pre_euler3d, which computes the contributions in a kernel
// before). A thread owns a cell. Beyond a face is another cell, a wing (-1: only the pressure acts on it) or the far field (-2).
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define FACES 4
#define VARIABLES 5 // density, momentum, energy
#define GAMMA 1.4f
#define SMOOTHING 0.2f

__constant__ float far_field[VARIABLES];
__constant__ float far_flux[3 * VARIABLES]; // [direction][variable]

__device__ __forceinline__ float pressure_of(const float state[VARIABLES], float speed2)
{
    return (GAMMA - 1.0f) * (state[4] - 0.5f * state[0] * speed2);
}

__device__ __forceinline__ float speed2_of(const float state[VARIABLES])
{
    return (state[1] * state[1] + state[2] * state[2] + state[3] * state[3]) / (state[0] * state[0]);
}

// The flux of the density is the momentum; those of momentum and energy are contributions.
__device__ __forceinline__ float contribution(const float *contributions, const float *variables, int cells, int cell, int direction,
                                              int variable)
{
    return variable == 0 ? variables[cell + (direction + 1) * cells]
                         : contributions[cell + (direction * (VARIABLES - 1) + variable - 1) * cells];
}

extern "C" __global__ void cuda_compute_flux(int cells, const int *neighbour, const float *normals, const float *variables,
                                             const float *contributions, float *fluxes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float state[VARIABLES], flux[3][VARIABLES], sum[VARIABLES];
#pragma unroll
    for (int v = 0; v < VARIABLES; v++) {
        sum[v] = 0.0f;
        state[v] = variables[i + v * cells];
#pragma unroll
        for (int d = 0; d < 3; d++) flux[d][v] = contribution(contributions, variables, cells, i, d, v);
    }
    const float speed2 = speed2_of(state);
    const float pressure = pressure_of(state, speed2);
    const float fastest = sqrtf(speed2) + sqrtf(GAMMA * pressure / state[0]);

#pragma unroll 1
    for (int j = 0; j < FACES; j++) {
        const int b = neighbour[i + j * cells];
        const float n[3] = {normals[i + j * cells], normals[i + (j + FACES) * cells], normals[i + (j + 2 * FACES) * cells]};
        if (b >= 0) {
            float other[VARIABLES];
#pragma unroll
            for (int v = 0; v < VARIABLES; v++) other[v] = variables[b + v * cells];
            const float speed2_b = speed2_of(other);
            const float fastest_b = sqrtf(speed2_b) + sqrtf(GAMMA * pressure_of(other, speed2_b) / other[0]);
            // artificial viscosity, then half of both fluxes
            const float area = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
            const float viscosity = 0.5f * SMOOTHING * area * (fastest + fastest_b);
#pragma unroll
            for (int v = 0; v < VARIABLES; v++) {
                sum[v] += viscosity * (other[v] - state[v]);
#pragma unroll
                for (int d = 0; d < 3; d++)
                    sum[v] += 0.5f * n[d] * (flux[d][v] + contribution(contributions, variables, cells, b, d, v));
            }
        } else if (b == -1) {
#pragma unroll
            for (int d = 0; d < 3; d++) sum[d + 1] += n[d] * pressure;
        } else {
#pragma unroll
            for (int v = 0; v < VARIABLES; v++)
#pragma unroll
                for (int d = 0; d < 3; d++) sum[v] += 0.5f * n[d] * (flux[d][v] + far_flux[d * VARIABLES + v]);
        }
    }
#pragma unroll
    for (int v = 0; v < VARIABLES; v++) fluxes[i + v * cells] = sum[v];
}
