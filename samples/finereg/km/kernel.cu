// The nearest of some clusters for every point (Rodinia: kmeans, kmeansPoint). A thread reads its point's features once for each
// cluster, and the caches do not hold them from one cluster to the next.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define CLUSTERS 5
#define FEATURES 16

__constant__ float clusters[CLUSTERS * FEATURES];

extern "C" __global__ void kmeansPoint(int n_points, int n_clusters, int n_features, const float *features, int *membership)
{
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= n_points) return;
    int nearest = -1;
    float least = 3.402823466e38f;
    for (int c = 0; c < n_clusters; c++) {
        float distance = 0.0f;
#pragma unroll 1
        for (int f = 0; f < n_features; f++) {
            const float away = features[f * n_points + point] - clusters[c * n_features + f];
            distance += away * away;
        }
        if (distance < least) {
            least = distance;
            nearest = c;
        }
    }
    membership[point] = nearest;
}
