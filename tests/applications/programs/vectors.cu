// Thrust: sort, scan, reduce by key and transform on vectors of its own, as applications use them.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <algorithm>
#include <numeric>
#include "check.h"

struct Square {
    __device__ __host__ int operator()(int x) const { return x * x; }
};

int main() {
    const int n = 3000;
    thrust::host_vector<int> host(n);
    for (int i = 0; i < n; i++)
        host[i] = i * 7919 % 1009;
    thrust::device_vector<int> device = host, sums(n), keys(1009), counts(1009), ones(n, 1);
    thrust::sort(device.begin(), device.end());
    thrust::inclusive_scan(device.begin(), device.end(), sums.begin());
    int total = thrust::reduce(device.begin(), device.end());
    auto ends = thrust::reduce_by_key(device.begin(), device.end(), ones.begin(), keys.begin(), counts.begin());
    thrust::transform(device.begin(), device.end(), device.begin(), Square());
    std::sort(host.begin(), host.end());
    EXPECT(total == std::accumulate(host.begin(), host.end(), 0) && sums.back() == total);
    EXPECT(ends.first - keys.begin() == 1009);
    EXPECT(counts[5] == std::count(host.begin(), host.end(), 5));
    thrust::host_vector<int> squares = device;
    for (int i = 0; i < n; i++)
        EXPECT(squares[i] == host[i] * host[i]);
    puts("vectors are right");
    return 0;
}
