// Pointers inside allocations, in structures and in device memory; variables and constants; a list on the device.
#include "check.h"

struct Node { Node *next; int value; };
struct Part { const int *data; int n; float factor; };

__device__ int total = 3;
__constant__ int scale[4];

__global__ void add(const int *x, int *y, int n, double offset, Part part, signed char step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] += x[i] * scale[i & 3] + part.data[i % part.n] + step;
        atomicAdd(&total, 1);
    }
    if (i == 0)
        y[0] += (int)(part.factor + offset);
}

__global__ void walk(const Node *head, int *out) {
    int sum = 0;
    for (const Node *node = head; node; node = node->next)
        sum += node->value;
    *out = sum + total;
}

int main() {
    const int n = 5000;
    static int values[n], sums[n + 2];
    for (int i = 0; i < n; i++)
        values[i] = i * 7;
    int *x, *y, factors[4] = {1, 2, 3, 4};
    Node *nodes, list[3];
    CHECK(cudaMalloc(&x, sizeof values));
    CHECK(cudaMalloc(&y, sizeof sums));
    CHECK(cudaMalloc(&nodes, sizeof list));
    CHECK(cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(y, 0, sizeof sums));
    CHECK(cudaMemcpyToSymbol(scale, factors, sizeof factors));
    add<<<20, 256>>>(x, y, n, 0.75, Part{x + 100, 50, 1.5f}, -3);
    for (int i = 0; i < 3; i++)
        list[i] = {i < 2 ? nodes + i + 1 : nullptr, 10 * i};
    CHECK(cudaMemcpy(nodes, list, sizeof list, cudaMemcpyHostToDevice));
    walk<<<1, 1>>>(nodes, y + n);
    walk<<<1, 1>>>(nodes + 2, y + n + 1);
    CHECK(cudaMemcpy(sums, y, sizeof sums, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(sums[i] == values[i] * factors[i & 3] + values[100 + i % 50] - 3 + (i ? 0 : 2));
    EXPECT(sums[n] == 30 + 5003);
    EXPECT(sums[n + 1] == 20 + 5003);
    printf("lists are right\n");
    return 0;
}
