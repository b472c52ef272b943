// Breadth-first search: the host launches a level at a time until a flag that it copies back stays 0.
#include <queue>
#include <vector>
#include "check.h"

struct Node { int start, degree; };

__global__ void expand(const Node *nodes, const int *edges, const bool *frontier, bool *next, int *distance, int level,
                       int n, bool *again) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n || !frontier[node])
        return;
    for (int k = 0; k < nodes[node].degree; k++) {
        int other = edges[nodes[node].start + k];
        if (distance[other] < 0) { // several threads may: all of them store the same
            distance[other] = level + 1;
            next[other] = true;
            *again = true;
        }
    }
}

int main() {
    const int n = 3000;
    std::vector<Node> nodes(n);
    std::vector<int> edges, distance(n, -1), expected(n, -1);
    unsigned seed = 12345;
    for (int i = 0; i < n; i++) {
        nodes[i] = {(int)edges.size(), 1 + i % 4};
        for (int k = 0; k < nodes[i].degree; k++) {
            seed = seed * 1664525 + 1013904223;
            edges.push_back(seed >> 8 & 1 ? (i + 1) % n : (seed >> 9) % n);
        }
    }
    std::queue<int> open({0});
    expected[0] = distance[0] = 0;
    for (; !open.empty(); open.pop())
        for (int k = 0, i = open.front(); k < nodes[i].degree; k++)
            if (int other = edges[nodes[i].start + k]; expected[other] < 0) {
                expected[other] = expected[i] + 1;
                open.push(other);
            }
    Node *device_nodes;
    int *device_edges, *device_distance, levels = 0;
    bool *frontier, *next, *again, flag = true;
    CHECK(cudaMalloc(&device_nodes, n * sizeof(Node)));
    CHECK(cudaMalloc(&device_edges, edges.size() * sizeof(int)));
    CHECK(cudaMalloc(&device_distance, n * sizeof(int)));
    CHECK(cudaMalloc(&frontier, n));
    CHECK(cudaMalloc(&next, n));
    CHECK(cudaMalloc(&again, 1));
    CHECK(cudaMemcpy(device_nodes, nodes.data(), n * sizeof(Node), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_edges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_distance, distance.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(frontier, 0, n));
    CHECK(cudaMemset(frontier, 1, 1));
    for (; flag; levels++) {
        CHECK(cudaMemset(next, 0, n));
        CHECK(cudaMemset(again, 0, 1));
        expand<<<(n + 255) / 256, 256>>>(device_nodes, device_edges, frontier, next, device_distance, levels, n, again);
        CHECK(cudaMemcpy(&flag, again, 1, cudaMemcpyDeviceToHost));
        std::swap(frontier, next);
    }
    CHECK(cudaMemcpy(distance.data(), device_distance, n * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(distance == expected && levels > 3);
    puts("distances are right");
    return 0;
}
