// k-means: points in a texture, centres in constant memory, the new centres computed on the host.
#include <cfloat>
#include <vector>
#include "check.h"

const int POINTS = 600, CLUSTERS = 5, FEATURES = 4;
__constant__ float centres[CLUSTERS][FEATURES];

__global__ void assign(cudaTextureObject_t points, int *nearest, int *changed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= POINTS)
        return;
    float4 point = tex1Dfetch<float4>(points, i);
    float features[FEATURES] = {point.x, point.y, point.z, point.w}, least = FLT_MAX;
    int best = 0;
    for (int c = 0; c < CLUSTERS; c++) {
        float distance = 0;
        for (int f = 0; f < FEATURES; f++)
            distance += (features[f] - centres[c][f]) * (features[f] - centres[c][f]);
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    if (nearest[i] != best)
        atomicAdd(changed, 1);
    nearest[i] = best;
}

int main() {
    std::vector<float> points(POINTS * FEATURES);
    std::vector<int> nearest(POINTS, -1);
    for (int i = 0; i < POINTS; i++) // around five corners, small whole numbers: sums are exact
        for (int f = 0; f < FEATURES; f++)
            points[i * FEATURES + f] = 100.0f * ((i % CLUSTERS >> f % 3) & 1) + 30.0f * (i % CLUSTERS == 4) + (i * 7 + f * 3) % 9;
    float *device_points, chosen[CLUSTERS][FEATURES];
    int *device_nearest, *changed, n_changed = 1, rounds = 0;
    CHECK(cudaMalloc(&device_points, points.size() * sizeof(float)));
    CHECK(cudaMalloc(&device_nearest, POINTS * sizeof(int)));
    CHECK(cudaMalloc(&changed, sizeof(int)));
    CHECK(cudaMemcpy(device_points, points.data(), points.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_nearest, 0xff, POINTS * sizeof(int)));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = device_points;
    resource.res.linear.desc = cudaCreateChannelDesc<float4>();
    resource.res.linear.sizeInBytes = points.size() * sizeof(float);
    cudaTextureDesc sampling = {};
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    for (int c = 0; c < CLUSTERS; c++)
        for (int f = 0; f < FEATURES; f++)
            chosen[c][f] = points[c * FEATURES + f];
    for (; n_changed && rounds < 50; rounds++) {
        CHECK(cudaMemcpyToSymbol(centres, chosen, sizeof chosen));
        CHECK(cudaMemset(changed, 0, sizeof(int)));
        assign<<<(POINTS + 127) / 128, 128>>>(texture, device_nearest, changed);
        CHECK(cudaMemcpy(&n_changed, changed, sizeof(int), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(nearest.data(), device_nearest, POINTS * sizeof(int), cudaMemcpyDeviceToHost));
        float sums[CLUSTERS][FEATURES + 1] = {};
        for (int i = 0; i < POINTS; i++)
            for (int f = 0; f <= FEATURES; f++)
                sums[nearest[i]][f] += f < FEATURES ? points[i * FEATURES + f] : 1;
        for (int c = 0; c < CLUSTERS; c++)
            for (int f = 0; f < FEATURES; f++)
                chosen[c][f] = sums[c][f] / sums[c][FEATURES];
    }
    for (int i = 0; i < POINTS; i++) // the groups are far apart: each is one cluster
        EXPECT(nearest[i] == nearest[i % CLUSTERS]);
    EXPECT(rounds > 1 && rounds < 50 && chosen[nearest[0]][0] < 9);
    puts("clusters are right");
    return 0;
}
