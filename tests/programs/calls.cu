// Programs whose functions stay functions: what nvcc makes of recursion, pointers to functions, virtual functions,
// structures by value, switch tables, printf, assert and the heap. Compiled by
//     nvcc -arch=sm_75 -ptx calls.cu -o calls.ptx        (for sm_90 only the target differs)
#include <cassert>
#include <cstdio>

#define NOINLINE __device__ __noinline__

// ---- recursion

NOINLINE int ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void ackermanns(int *out)
{
    int t = threadIdx.x;
    out[t] = ackermann(t % 3, t % 5);
}

NOINLINE void quicksort(float *a, int low, int high)
{
    if (low >= high) return;
    float pivot = a[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) {
            float t = a[i];
            a[i] = a[j];
            a[j] = t;
            i++;
            j--;
        }
    }
    quicksort(a, low, j);
    quicksort(a, i, high);
}

extern "C" __global__ void quicksorts(float *data, int n)
{
    quicksort(data + n * (blockIdx.x * blockDim.x + threadIdx.x), 0, n - 1);
}

// a walk through a binary tree in an array, as deep as the tree is at that place
struct Node { int value, left, right; };

NOINLINE int depth(const Node *nodes, int k)
{
    if (k < 0) return 0;
    int a = depth(nodes, nodes[k].left), b = depth(nodes, nodes[k].right);
    return 1 + (a > b ? a : b);
}

extern "C" __global__ void depths(const Node *nodes, int n, int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n) out[t] = depth(nodes, t);
}

NOINLINE bool is_odd(unsigned n);
NOINLINE bool is_even(unsigned n) { return n == 0 ? true : is_odd(n - 1); }
NOINLINE bool is_odd(unsigned n) { return n == 0 ? false : is_even(n - 1); }

extern "C" __global__ void parities(int *out)
{
    out[threadIdx.x] = is_even(threadIdx.x) * 2 + is_odd(threadIdx.x / 2);
}

// ---- pointers to functions

typedef float (*Operation)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float subtract(float a, float b) { return a - b; }
__device__ float multiply(float a, float b) { return a * b; }
__device__ float larger(float a, float b) { return a > b ? a : b; }
__constant__ Operation operations[4] = {add, subtract, multiply, larger};

extern "C" __global__ void apply(const int *which, const float *a, const float *b, float *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n && which[t] >= 0) out[t] = operations[which[t]](a[t], b[t]);
}

class Shape {
public:
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};
class Circle : public Shape {
    float r;
public:
    __device__ Circle(float r) : r(r) {}
    __device__ float area() const override { return 3.0f * r * r; }
};
class Box : public Shape {
protected:
    float w, h;
public:
    __device__ Box(float w, float h) : w(w), h(h) {}
    __device__ float area() const override { return w * h; }
    __device__ int corners() const override { return 4; }
};
class Square : public Box {
public:
    __device__ Square(float w) : Box(w, w) {}
    __device__ float area() const override { return Box::area() + 0.5f; }
};

extern "C" __global__ void shapes(float *out)
{
    int t = threadIdx.x;
    Shape *shape;
    switch (t % 3) {
    case 0: shape = new Circle(t); break;
    case 1: shape = new Box(t, 2); break;
    default: shape = new Square(t);
    }
    out[t] = shape->area() * 10 + shape->corners();
    delete shape;
}

// ---- structures by value

struct Particle { double mass; float position[3]; short tag; char name[5]; };

NOINLINE Particle moved(Particle p, float dx, int k)
{
    p.position[k % 3] += dx;
    p.mass *= 2;
    p.tag = -p.tag;
    p.name[k % 5] = 'x';
    return p;
}

extern "C" __global__ void particles(Particle *all)
{
    int t = threadIdx.x;
    all[t] = moved(moved(all[t], 1.5f, t), -0.25f, t + 1);
}

// ---- a switch that becomes a table

NOINLINE int selected(int k, int x)
{
    switch (k) {
    case 0: return x + 1;
    case 1: return x * x;
    case 2: return __popc(x);
    case 3: return x << 3;
    case 4: return ~x;
    case 5: return __brev(x);
    case 6: return x % 7;
    default: return -1;
    }
}

extern "C" __global__ void switches(int *out)
{
    out[threadIdx.x] = selected(threadIdx.x % 8, threadIdx.x * 3);
}

// ---- printing, assertions, the heap

extern "C" __global__ void prints(const char *text)
{
    int t = threadIdx.x;
    if (t % 8 == 3) printf("%d: %5.2f|%-6d|%06x|%c|%s|%llu%%\n", t, t * 0.5, t, t * 255, 'a' + t, text, 1ull << (t + 20));
    if (t == 0) printf("no values\n");
    if (t == 31) printf("%*d|%.3e|%g|%a|%ld|%hd\n", 6, t, 12345.678, 1e-5, 1.0, -5000000000L, 70000);
}

extern "C" __global__ void asserts(const int *values)
{
    int v = values[threadIdx.x];
    assert(v >= 0);
}

extern "C" __global__ void lists(int *out)
{
    struct Item { int value; Item *next; };
    int t = threadIdx.x;
    Item *list = nullptr;
    for (int k = 0; k <= t; k++) {
        Item *item = (Item *)malloc(sizeof(Item));
        item->value = k * t;
        item->next = list;
        list = item;
    }
    int sum = 0;
    while (list) {
        Item *next = list->next;
        sum += list->value;
        free(list);
        list = next;
    }
    out[t] = sum;
}

extern "C" __global__ void too_much(int *out)
{
    void *block = malloc(size_t(1) << 40);
    out[threadIdx.x] = block == nullptr;
}
