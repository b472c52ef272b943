// One level of a breadth-first search, a node per thread (Rodinia: bfs, Kernel): nodes of the frontier give their
// neighbours, where they are not visited yet, a cost, and mark them for the next level.
struct Node {
    int start;   // of its edges
    int n_edges;
};

extern "C" __global__ void __launch_bounds__(256)
Kernel(const Node *nodes, const int *edges, unsigned char *frontier, unsigned char *updating, const unsigned char *visited,
       int *cost, int n_nodes)
{
    int node = blockIdx.x * 256 + threadIdx.x;
    if (node < n_nodes && frontier[node]) {
        frontier[node] = 0;
        for (int i = nodes[node].start; i < nodes[node].start + nodes[node].n_edges; i++) {
            int neighbour = edges[i];
            if (!visited[neighbour]) {
                cost[neighbour] = cost[node] + 1;
                updating[neighbour] = 1;
            }
        }
    }
}
