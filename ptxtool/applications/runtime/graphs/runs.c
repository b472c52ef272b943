/* Graphs that can be launched: a copy of a graph, whose nodes run one after the other, each after those it needs. */
#include <stdlib.h>
#include <string.h>
#include "graphs.h"

int cudaMemcpy3D(const struct box *box);
int cudaMemcpy(void *to, const void *from, size_t bytes, int direction);
int cudaEventRecord(void *event, void *stream);

struct run { uint32_t magic; struct graph *graph; struct node **order; unsigned long long flags; };
enum { RUN = 0x4714, FREED = 0xF4EE };

static int is_run(const struct run *run) { return run && run->magic == RUN; }

/* The nodes of a graph, each after those it needs; the order of their making otherwise. NULL: they need each other. */
static struct node **ordered(struct graph *graph) {
    struct node **order = calloc(graph->n_nodes + 1, sizeof *order);
    size_t n = 0, before = 1;
    for (struct node *node = graph->first; node; node = node->next)
        node->order = -1;
    while (order && n < graph->n_nodes && before != n) {
        before = n;
        for (struct node *node = graph->first; node; node = node->next) {
            size_t k = 0;
            while (k < node->n_needs && node->needs[k]->order >= 0)
                k++;
            if (node->order < 0 && k == node->n_needs) {
                node->order = (int)n;
                order[n++] = node;
            }
        }
        if (before == n) {
            free(order);
            return NULL;
        }
    }
    return order;
}

static int run_fill(const struct fill_parameters *fill) {
    size_t row_bytes = fill->width * fill->element_bytes;
    char *row = malloc(row_bytes + 1);
    int error = row ? SUCCESS : OUT_OF_MEMORY;
    for (size_t k = 0; row && k < fill->width; k++)
        memcpy(row + k * fill->element_bytes, &fill->value, fill->element_bytes); /* little-endian */
    for (size_t y = 0; !error && y < fill->height; y++)
        error = cudaMemcpy((char *)fill->to + y * fill->pitch, row, row_bytes, HOST_TO_DEVICE);
    free(row);
    return error;
}

static int run_nodes(struct node **order);

static int run_node(struct node *node) {
    const struct kernel_parameters *kernel = &node->kernel;
    int error;
    struct node **order;
    switch (node->type) {
    case KERNEL_NODE:
        return launch_host(kernel->host, kernel->grid, kernel->block, kernel->arguments, kernel->dynamic_shared, &node->asked);
    case COPY_NODE: return cudaMemcpy3D(&node->copy);
    case FILL_NODE: return run_fill(&node->fill);
    case HOST_NODE: node->host.call(node->host.data); return SUCCESS;
    case RECORD_NODE: return cudaEventRecord(node->event, NULL);
    case GRAPH_NODE:
        order = ordered(node->child);
        error = order ? run_nodes(order) : INVALID_VALUE;
        free(order);
        return error;
    default: return SUCCESS;
    }
}

static int run_nodes(struct node **order) {
    int error = SUCCESS;
    for (; !error && *order; order++)
        if (!(*order)->is_disabled)
            error = run_node(*order);
    return error;
}

API int cudaGraphInstantiateWithFlags(struct run **run, const struct graph *graph, unsigned long long flags) {
    int error = ready();
    if (error || !run || !is_graph(graph))
        return done(error ? error : INVALID_VALUE);
    struct run *made = calloc(1, sizeof *made);
    if (!made)
        return done(OUT_OF_MEMORY);
    *made = (struct run){RUN, cloned(graph), NULL, flags};
    if (!(made->order = ordered(made->graph))) {
        refuse("cudaGraphInstantiate: some nodes of the graph come before each other");
        free_graph(made->graph);
        free(made);
        return done(INVALID_VALUE);
    }
    *run = made;
    return SUCCESS;
}

/* Before CUDA 12, what follows the graph is for messages. */
API int cudaGraphInstantiate(struct run **run, const struct graph *graph, unsigned long long flags) {
    return cudaGraphInstantiateWithFlags(run, graph, runtime_version >= 12 ? flags : 0);
}

API int cudaGraphExecGetFlags(const struct run *run, unsigned long long *flags) {
    if (!is_run(run) || !flags)
        return done(INVALID_VALUE);
    *flags = run->flags;
    return SUCCESS;
}

API int cudaGraphLaunch(struct run *run, void *stream) {
    int error = ready();
    if (error || !is_run(run) || (error = refuse_capture("cudaGraphLaunch", stream)))
        return done(error ? error : INVALID_VALUE);
    return done(run_nodes(run->order));
}

API int cudaGraphUpload(struct run *run) { return done(is_run(run) ? ready() : INVALID_VALUE); }

API int cudaGraphExecDestroy(struct run *run) {
    if (!is_run(run))
        return done(INVALID_VALUE);
    free_graph(run->graph);
    free(run->order);
    run->magic = FREED;
    free(run);
    return SUCCESS;
}

/* ---- changes of a run: by the node of the graph that it was made from */

static struct node *twin_of(const struct run *run, const struct node *node) {
    struct node *twin = is_run(run) ? run->graph->first : NULL;
    while (twin && twin->origin != node)
        twin = twin->next;
    return twin;
}

API int cudaGraphExecKernelNodeSetParams(struct run *run, const struct node *node, const struct kernel_parameters *chosen) {
    return done(set_parameters(twin_of(run, node), KERNEL_NODE, chosen));
}

API int cudaGraphExecMemcpyNodeSetParams(struct run *run, const struct node *node, const struct box *chosen) {
    return done(set_parameters(twin_of(run, node), COPY_NODE, chosen));
}

API int cudaGraphExecMemcpyNodeSetParams1D(struct run *run, const struct node *node, void *to, const void *from,
                                           size_t bytes, int direction) {
    struct box box = box_of_rows(to, bytes, from, bytes, bytes, 1, direction);
    return done(set_parameters(twin_of(run, node), COPY_NODE, &box));
}

API int cudaGraphExecMemsetNodeSetParams(struct run *run, const struct node *node, const struct fill_parameters *chosen) {
    return done(set_parameters(twin_of(run, node), FILL_NODE, chosen));
}

API int cudaGraphExecHostNodeSetParams(struct run *run, const struct node *node, const struct host_parameters *chosen) {
    return done(set_parameters(twin_of(run, node), HOST_NODE, chosen));
}

API int cudaGraphNodeSetEnabled(struct run *run, const struct node *node, unsigned is_enabled) {
    struct node *twin = twin_of(run, node);
    if (!twin)
        return done(INVALID_VALUE);
    twin->is_disabled = !is_enabled;
    return SUCCESS;
}

API int cudaGraphNodeGetEnabled(struct run *run, const struct node *node, unsigned *is_enabled) {
    const struct node *twin = twin_of(run, node);
    if (!twin || !is_enabled)
        return done(INVALID_VALUE);
    *is_enabled = !twin->is_disabled;
    return SUCCESS;
}

enum { UPDATED = 0, TOPOLOGY_CHANGED = 2, TYPE_CHANGED = 3 }; /* of cudaGraphExecUpdateResult */

/* A graph of the same nodes, with other parameters, takes the place of the one that the run was made from. */
static int update(struct run *run, const struct graph *graph) {
    const struct node *node = graph->first;
    for (struct node *twin = run->graph->first; twin; twin = twin->next, node = node->next) {
        if (!node || node->n_needs != twin->n_needs)
            return TOPOLOGY_CHANGED;
        if (node->type != twin->type)
            return TYPE_CHANGED;
    }
    if (node)
        return TOPOLOGY_CHANGED;
    struct run *made;
    if (cudaGraphInstantiateWithFlags(&made, graph, run->flags))
        return TOPOLOGY_CHANGED;
    free_graph(run->graph);
    free(run->order);
    run->graph = made->graph;
    run->order = made->order;
    free(made);
    return UPDATED;
}

/* CUDA 12 has a structure for the result: its code, the node and the one before it; CUDA 11 a node and a code. */
API int cudaGraphExecUpdate(struct run *run, const struct graph *graph, void *node_or_result, int *result) {
    int error = ready();
    if (error || !is_run(run) || !is_graph(graph))
        return done(error ? error : INVALID_VALUE);
    int found = update(run, graph);
    if (runtime_version >= 12) {
        if (node_or_result)
            memset(node_or_result, 0, 24);
        result = node_or_result;
    }
    if (result)
        *result = found;
    return done(found == UPDATED ? SUCCESS : GRAPH_UPDATE_FAILURE);
}
