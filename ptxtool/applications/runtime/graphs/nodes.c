/* Graphs as a program builds them: nodes are added with those that come before them, and may be changed later.
 *
 * Not implemented: nodes that allocate memory, conditional nodes, semaphores.
 */
#include <stdlib.h>
#include <string.h>
#include "graphs.h"

enum { GRAPH = 0x64A6, NODE = 0x40DE };

static void *checked(void *made) {
    if (!made)
        abort();
    return made;
}

static int is_node(const struct node *node) { return node && node->magic == NODE; }

int is_graph(const struct graph *graph) { return graph && graph->magic == GRAPH; }

struct graph *new_graph(void) {
    struct graph *graph = checked(calloc(1, sizeof *graph));
    graph->magic = GRAPH;
    graph->end = &graph->first;
    return graph;
}

static void free_node(struct node *node) {
    if (node->type == KERNEL_NODE)
        free(node->kernel.arguments);
    if (node->type == GRAPH_NODE)
        free_graph(node->child);
    node->magic = 0;
    free(node->needs);
    free(node);
}

void free_graph(struct graph *graph) {
    for (struct node *node = graph->first, *next; node; node = next) {
        next = node->next;
        free_node(node);
    }
    graph->magic = 0;
    free(graph);
}

static void add_needs(struct node *node, struct node *const *needs, size_t n_needs) {
    node->needs = checked(realloc(node->needs, (node->n_needs + n_needs + 1) * sizeof *needs));
    for (size_t k = 0; k < n_needs; k++)
        node->needs[node->n_needs++] = needs[k];
}

struct node *add_node(struct graph *graph, enum node_type type, struct node *const *needs, size_t n_needs) {
    for (size_t k = 0; k < n_needs; k++)
        if (!needs || !is_node(needs[k]) || needs[k]->graph != graph)
            return NULL;
    struct node *node = checked(calloc(1, sizeof *node));
    node->magic = NODE;
    node->type = type;
    node->graph = graph;
    add_needs(node, needs, n_needs);
    *graph->end = node;
    graph->end = &node->next;
    graph->n_nodes++;
    return node;
}

/* ---- parameters */

int set_kernel(struct node *node, const struct kernel_parameters *chosen) {
    struct function *function;
    int error = find_function(chosen->host, &function);
    if (error || !chosen->arguments) {
        if (!error && (chosen->extra || function->n_parameters)) {
            refuse("a graph's launch of %s: no kernelParams", function->name);
            error = INVALID_VALUE;
        }
        if (!error) {
            node->kernel = *chosen;
        }
        return error;
    }
    size_t n = function->n_parameters, bytes = n ? function->parameters[n - 1].offset + function->parameters[n - 1].bytes : 0;
    void **arguments = checked(malloc((n + 1) * sizeof *arguments + bytes));
    char *data = (char *)(arguments + n + 1);
    for (size_t k = 0; k < n; k++) {
        arguments[k] = data + function->parameters[k].offset;
        memcpy(arguments[k], chosen->arguments[k], function->parameters[k].bytes);
    }
    free(node->kernel.arguments);
    node->kernel = *chosen;
    node->kernel.arguments = arguments;
    return SUCCESS;
}

int set_parameters(struct node *node, enum node_type type, const void *chosen) {
    int error = ready();
    if (error || !is_node(node) || node->type != type || !chosen)
        return error ? error : INVALID_VALUE;
    switch (type) {
    case KERNEL_NODE: return set_kernel(node, chosen);
    case COPY_NODE: node->copy = *(const struct box *)chosen; break;
    case FILL_NODE: node->fill = *(const struct fill_parameters *)chosen; break;
    case HOST_NODE: node->host = *(const struct host_parameters *)chosen; break;
    default: return INVALID_VALUE;
    }
    return SUCCESS;
}

struct box box_of_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int direction) {
    return (struct box){.from = {(void *)from, from_pitch, width, height}, .to = {to, to_pitch, width, height},
                        .extent = {width, height, 1}, .direction = direction};
}

struct graph *cloned(const struct graph *graph) {
    struct graph *copy = new_graph();
    for (struct node *node = graph->first; node; node = node->next) {
        struct node *twin = add_node(copy, node->type, NULL, 0);
        twin->origin = node;
        twin->asked = node->asked;
        if (node->type == KERNEL_NODE)
            set_kernel(twin, &node->kernel);
        else if (node->type == GRAPH_NODE)
            twin->child = cloned(node->child);
        else
            twin->copy = node->copy; /* the largest of the union */
    }
    for (struct node *twin = copy->first; twin; twin = twin->next)
        for (size_t k = 0; k < twin->origin->n_needs; k++)
            for (struct node *other = copy->first; other; other = other->next)
                if (other->origin == twin->origin->needs[k])
                    add_needs(twin, &other, 1);
    return copy;
}

/* ---- building */

API int cudaGraphCreate(struct graph **graph, unsigned flags) {
    int error = ready();
    if (error || !graph || flags)
        return done(error ? error : INVALID_VALUE);
    *graph = new_graph();
    return SUCCESS;
}

API int cudaGraphDestroy(struct graph *graph) {
    if (!is_graph(graph))
        return done(INVALID_VALUE);
    free_graph(graph);
    return SUCCESS;
}

API int cudaGraphClone(struct graph **copy, const struct graph *graph) {
    if (!copy || !is_graph(graph))
        return done(INVALID_VALUE);
    *copy = cloned(graph);
    return SUCCESS;
}

API int cudaGraphNodeFindInClone(struct node **found, const struct node *node, const struct graph *copy) {
    if (!found || !is_graph(copy))
        return done(INVALID_VALUE);
    for (*found = copy->first; *found && (*found)->origin != node;)
        *found = (*found)->next;
    return done(*found ? SUCCESS : INVALID_VALUE);
}

static int add(struct node **made, struct graph *graph, struct node *const *needs, size_t n_needs, enum node_type type,
               const void *chosen) {
    int error = ready();
    if (error || !made || !is_graph(graph) || !chosen)
        return error ? error : INVALID_VALUE;
    struct node *node = add_node(graph, type, needs, n_needs);
    if (!node)
        return INVALID_VALUE;
    *made = node;
    return set_parameters(node, type, chosen);
}

API int cudaGraphAddKernelNode(struct node **made, struct graph *graph, struct node *const *needs, size_t n_needs,
                               const struct kernel_parameters *chosen) {
    return done(add(made, graph, needs, n_needs, KERNEL_NODE, chosen));
}

API int cudaGraphAddMemcpyNode(struct node **made, struct graph *graph, struct node *const *needs, size_t n_needs,
                               const struct box *chosen) {
    return done(add(made, graph, needs, n_needs, COPY_NODE, chosen));
}

API int cudaGraphAddMemcpyNode1D(struct node **made, struct graph *graph, struct node *const *needs, size_t n_needs,
                                 void *to, const void *from, size_t bytes, int direction) {
    struct box box = box_of_rows(to, bytes, from, bytes, bytes, 1, direction);
    return done(add(made, graph, needs, n_needs, COPY_NODE, &box));
}

API int cudaGraphAddMemsetNode(struct node **made, struct graph *graph, struct node *const *needs, size_t n_needs,
                               const struct fill_parameters *chosen) {
    return done(add(made, graph, needs, n_needs, FILL_NODE, chosen));
}

API int cudaGraphAddHostNode(struct node **made, struct graph *graph, struct node *const *needs, size_t n_needs,
                             const struct host_parameters *chosen) {
    return done(add(made, graph, needs, n_needs, HOST_NODE, chosen));
}

static int add_simple(struct node **made, struct graph *graph, struct node *const *needs, size_t n_needs,
                      enum node_type type, void *event) {
    int error = ready();
    if (error || !made || !is_graph(graph) || !(*made = add_node(graph, type, needs, n_needs)))
        return done(error ? error : INVALID_VALUE);
    (*made)->event = event;
    return SUCCESS;
}

API int cudaGraphAddEmptyNode(struct node **made, struct graph *graph, struct node *const *needs, size_t n_needs) {
    return add_simple(made, graph, needs, n_needs, EMPTY_NODE, NULL);
}

API int cudaGraphAddEventRecordNode(struct node **made, struct graph *graph, struct node *const *needs, size_t n_needs,
                                    void *event) {
    return add_simple(made, graph, needs, n_needs, RECORD_NODE, event);
}

API int cudaGraphAddEventWaitNode(struct node **made, struct graph *graph, struct node *const *needs, size_t n_needs,
                                  void *event) {
    return add_simple(made, graph, needs, n_needs, WAIT_NODE, event);
}

API int cudaGraphAddChildGraphNode(struct node **made, struct graph *graph, struct node *const *needs, size_t n_needs,
                                   const struct graph *child) {
    if (!is_graph(child))
        return done(INVALID_VALUE);
    int error = add_simple(made, graph, needs, n_needs, GRAPH_NODE, NULL);
    if (!error)
        (*made)->child = cloned(child);
    return error;
}

static int add_dependencies(struct node *const *from, struct node *const *to, size_t n) {
    for (size_t k = 0; k < n; k++) {
        if (!from || !to || !is_node(from[k]) || !is_node(to[k]) || from[k]->graph != to[k]->graph || from[k] == to[k])
            return INVALID_VALUE;
        add_needs(to[k], from + k, 1);
    }
    return SUCCESS;
}

API int cudaGraphAddDependencies_v2(struct graph *graph, struct node *const *from, struct node *const *to,
                                    const void *edges, size_t n) {
    return done(!is_graph(graph) || edges ? INVALID_VALUE : add_dependencies(from, to, n));
}

/* Before CUDA 13 without the pointer to data of edges. */
API int cudaGraphAddDependencies(struct graph *graph, struct node *const *from, struct node *const *to,
                                 uintptr_t edges_or_n, size_t n) {
    if (runtime_version >= 13)
        return cudaGraphAddDependencies_v2(graph, from, to, (void *)edges_or_n, n);
    return done(!is_graph(graph) ? INVALID_VALUE : add_dependencies(from, to, edges_or_n));
}

/* ---- asking and changing */

API int cudaGraphGetNodes(const struct graph *graph, struct node **nodes, size_t *n) {
    if (!is_graph(graph) || !n)
        return done(INVALID_VALUE);
    struct node *node = graph->first;
    for (size_t k = 0; nodes && k < *n; k++, node = node ? node->next : NULL)
        nodes[k] = node;
    if (!nodes || *n > graph->n_nodes)
        *n = graph->n_nodes;
    return SUCCESS;
}

API int cudaGraphGetRootNodes(const struct graph *graph, struct node **nodes, size_t *n) {
    if (!is_graph(graph) || !n)
        return done(INVALID_VALUE);
    size_t found = 0;
    for (struct node *node = graph->first; node; node = node->next)
        if (!node->n_needs && (!nodes || found < *n)) {
            if (nodes)
                nodes[found] = node;
            found++;
        }
    *n = found;
    return SUCCESS;
}

API int cudaGraphNodeGetType(const struct node *node, int *type) {
    if (!is_node(node) || !type)
        return done(INVALID_VALUE);
    *type = node->type;
    return SUCCESS;
}

API int cudaGraphChildGraphNodeGetGraph(const struct node *node, struct graph **child) {
    if (!is_node(node) || node->type != GRAPH_NODE || !child)
        return done(INVALID_VALUE);
    *child = node->child;
    return SUCCESS;
}

API int cudaGraphKernelNodeGetParams(const struct node *node, struct kernel_parameters *found) {
    if (!is_node(node) || node->type != KERNEL_NODE || !found)
        return done(INVALID_VALUE);
    *found = node->kernel;
    return SUCCESS;
}

API int cudaGraphMemcpyNodeGetParams(const struct node *node, struct box *found) {
    if (!is_node(node) || node->type != COPY_NODE || !found)
        return done(INVALID_VALUE);
    *found = node->copy;
    return SUCCESS;
}

API int cudaGraphMemsetNodeGetParams(const struct node *node, struct fill_parameters *found) {
    if (!is_node(node) || node->type != FILL_NODE || !found)
        return done(INVALID_VALUE);
    *found = node->fill;
    return SUCCESS;
}

API int cudaGraphHostNodeGetParams(const struct node *node, struct host_parameters *found) {
    if (!is_node(node) || node->type != HOST_NODE || !found)
        return done(INVALID_VALUE);
    *found = node->host;
    return SUCCESS;
}

API int cudaGraphKernelNodeSetParams(struct node *node, const struct kernel_parameters *chosen) {
    return done(set_parameters(node, KERNEL_NODE, chosen));
}

API int cudaGraphMemcpyNodeSetParams(struct node *node, const struct box *chosen) {
    return done(set_parameters(node, COPY_NODE, chosen));
}

API int cudaGraphMemcpyNodeSetParams1D(struct node *node, void *to, const void *from, size_t bytes, int direction) {
    struct box box = box_of_rows(to, bytes, from, bytes, bytes, 1, direction);
    return done(set_parameters(node, COPY_NODE, &box));
}

API int cudaGraphMemsetNodeSetParams(struct node *node, const struct fill_parameters *chosen) {
    return done(set_parameters(node, FILL_NODE, chosen));
}

API int cudaGraphHostNodeSetParams(struct node *node, const struct host_parameters *chosen) {
    return done(set_parameters(node, HOST_NODE, chosen));
}
