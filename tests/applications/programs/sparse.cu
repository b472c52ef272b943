// Sparse matrices as structures with pointers to pointers, copied piece by piece; a warp a row; a conjugate gradient on top.
#include <cmath>
#include <vector>
#include "check.h"

struct Row { int n; int *columns; double *values; };
struct Matrix { int n; Row *rows; };

__global__ void multiply(Matrix *matrix, const double *x, double *y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= matrix->n)
        return;
    Row own = matrix->rows[row];
    double sum = 0;
    for (int k = lane; k < own.n; k += 32)
        sum += own.values[k] * x[own.columns[k]];
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0)
        y[row] = sum;
}
__global__ void dot(const double *x, const double *y, int n, double *out) { // one warp
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        sum += x[i] * y[i];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x == 0)
        *out = sum;
}
__global__ void combine(double *z, const double *x, double a, const double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + a * y[i];
}

template <typename T> T *copied(const std::vector<T> &values) {
    T *place;
    CHECK(cudaMalloc(&place, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(place, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return place;
}

double *scalar;

double product(const double *x, const double *y, int n) {
    double result;
    dot<<<1, 32>>>(x, y, n, scalar);
    CHECK(cudaMemcpy(&result, scalar, sizeof result, cudaMemcpyDeviceToHost));
    return result;
}

int main() {
    const int n = 120, ctas = (n + 3) / 4, small = (n + 63) / 64;
    std::vector<Row> rows(n);
    std::vector<double> b(n), solution(n), result(n);
    for (int i = 0; i < n; i++) {
        std::vector<int> columns;
        std::vector<double> values;
        for (int j = std::max(0, i - 2); j <= std::min(n - 1, i + 2); j++) {
            columns.push_back(j);
            values.push_back(i == j ? 5 : -1);
        }
        rows[i] = {(int)columns.size(), copied(columns), copied(values)};
        solution[i] = std::sin(i);
        for (size_t k = 0; k < columns.size(); k++)
            b[i] += values[k] * std::sin(columns[k]);
    }
    Matrix *matrix = copied(std::vector<Matrix>{{n, copied(rows)}});
    std::vector<double> zero(n);
    double *x = copied(zero), *r = copied(b), *p = copied(b), *q = copied(zero);
    CHECK(cudaMalloc(&scalar, sizeof *scalar));
    double square = product(r, r, n);
    int steps = 0;
    for (; square > 1e-20 && steps < 100; steps++) {
        multiply<<<ctas, 128>>>(matrix, p, q);
        double a = square / product(p, q, n);
        combine<<<small, 64>>>(x, x, a, p, n);
        combine<<<small, 64>>>(r, r, -a, q, n);
        double next = product(r, r, n);
        combine<<<small, 64>>>(p, r, next / square, p, n);
        square = next;
    }
    CHECK(cudaMemcpy(result.data(), x, n * sizeof(double), cudaMemcpyDeviceToHost));
    EXPECT(steps > 5 && steps < 60);
    for (int i = 0; i < n; i++)
        EXPECT(std::fabs(result[i] - solution[i]) < 1e-9);
    puts("solutions are right");
    return 0;
}
