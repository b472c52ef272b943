/* Graphs: nodes, each with what it does and the nodes that come before it. */
#ifndef PTXTOOL_GRAPHS_H
#define PTXTOOL_GRAPHS_H

#include "runtime.h"

enum node_type { KERNEL_NODE, COPY_NODE, FILL_NODE, HOST_NODE, GRAPH_NODE, EMPTY_NODE, WAIT_NODE, RECORD_NODE }; /* CUDA's numbers */

struct kernel_parameters { void *host; struct dim3 grid, block; unsigned dynamic_shared; void **arguments, **extra; };
struct fill_parameters { void *to; size_t pitch; unsigned value, element_bytes; size_t width, height; };
struct host_parameters { void (*call)(void *); void *data; };

struct node {
    uint32_t magic;
    enum node_type type;
    struct graph *graph;
    struct node *next, *origin; /* origin: the node that this one was cloned from */
    struct node **needs;        /* the nodes that come before it */
    size_t n_needs;
    int is_disabled, order; /* order: its place in a run */
    struct asked asked;     /* of a kernel */
    union {
        struct kernel_parameters kernel; /* with copies of the arguments */
        struct box copy;
        struct fill_parameters fill;
        struct host_parameters host;
        struct graph *child;
        void *event;
    };
};

struct graph { uint32_t magic; struct node *first, **end; size_t n_nodes; };

struct graph *new_graph(void);
void free_graph(struct graph *graph);
int is_graph(const struct graph *graph);
struct graph *cloned(const struct graph *graph);
/* Adds a node without parameters; NULL where a node before it is none of this graph. */
struct node *add_node(struct graph *graph, enum node_type type, struct node *const *needs, size_t n_needs);
int set_kernel(struct node *node, const struct kernel_parameters *chosen); /* copies the arguments */
int set_parameters(struct node *node, enum node_type type, const void *chosen);
struct box box_of_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int direction);

#endif
