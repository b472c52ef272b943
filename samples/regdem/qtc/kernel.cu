// Quality-threshold clustering (SHOC: qtc, QTC_device). A block grows a candidate cluster around a seed: of the points near
// the seed, the one whose farthest member is closest joins, until that is beyond the threshold. The blocks' largest
// candidates are compared later.
// kernel.ptx beside this file: benchmarks/make_scratchpad_samples.py
#define THREADS 64
#define FAR 3.402823466e38f

// The point with the least distance of all threads' points, of equal ones that with the least number; -1 beyond the threshold.
__device__ __forceinline__ int closest_of_all(float distance, int point, float threshold)
{
    __shared__ float distances[THREADS];
    __shared__ int points[THREADS];
    const int tid = threadIdx.x;
    distances[tid] = distance;
    points[tid] = point;
    __syncthreads();
    if (tid == 0) {
        for (int j = 1; j < THREADS; j++) {
            const float other = distances[j];
            if (other < distance || (other == distance && points[j] < points[0])) {
                distance = other;
                points[0] = points[j];
            }
        }
        if (distance > threshold) points[0] = -1;
    }
    __syncthreads();
    return points[0];
}

extern "C" __global__ void QTC_device(const float *distance, char *in_cluster, const char *clustered, const int *near,
                                      int *cardinality, const int *ungrouped, float *to_cluster, const int *degrees,
                                      int n_ungrouped, int n_points, int max_degree, float threshold, int node,
                                      int nodes, int all_blocks)
{
    const int tid = threadIdx.x, block = blockIdx.y * gridDim.x + blockIdx.x;
    in_cluster += block * n_points;
    to_cluster += block * max_degree;
    int most = -1, most_seed = -1;
    for (int i = block * nodes + node; i < n_ungrouped; i += all_blocks) {
        const int seed = ungrouped[i], degree = degrees[seed];
        if (degree <= most) continue;
        for (int k = tid; k < n_points; k += THREADS) in_cluster[k] = 0;
        for (int k = tid; k < max_degree; k += THREADS) to_cluster[k] = 0.0f;
        __syncthreads();
        if (tid == 0) in_cluster[seed] = 1;
        __syncthreads();
        int members = 1, latest = seed;
        while (members < n_ungrouped) {
            float least = FAR;
            int closest = -1;
            for (int k = tid; k < degree; k += THREADS) {
                const int point = near[seed * max_degree + k];
                if (point < 0) break;
                if ((in_cluster[point] | clustered[point]) != 0) continue;
                const float farthest = fmaxf(to_cluster[k], distance[latest * n_points + point]);
                to_cluster[k] = farthest;
                if (farthest < least) {
                    least = farthest;
                    closest = point;
                }
            }
            const int next = closest_of_all(least, closest, threshold);
            if (next < 0) break;
            if (tid == 0) in_cluster[next] = 1;
            __syncthreads();
            members++;
            latest = next;
        }
        if (members > most) {
            most = members;
            most_seed = seed;
        }
    }
    if (tid == 0) {
        cardinality[2 * block] = most;
        cardinality[2 * block + 1] = most_seed;
    }
}
