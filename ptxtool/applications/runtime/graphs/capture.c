/* Stream capture: what a program asks of a stream becomes nodes of a graph instead of being done.
 *
 * Each captured stream keeps the nodes that its next one needs: the last one, and those of the events that it waits
 * for. Waiting for an event of a captured stream captures a stream too.
 */
#include <pthread.h>
#include <stdlib.h>
#include "graphs.h"

struct capture {
    const void *place; /* a stream, or an event that one has recorded */
    struct graph *graph;
    struct node **needs;
    size_t n_needs;
    int is_event, is_origin;
    struct capture *next;
};

static struct capture *captures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct capture *found(const void *place, int is_event) {
    struct capture *capture = captures;
    while (capture && (capture->place != place || capture->is_event != is_event))
        capture = capture->next;
    return capture;
}

/* The capture of a stream or event, with these needs; NULL without memory. */
static struct capture *kept(const void *place, int is_event, struct graph *graph, struct node **needs, size_t n_needs) {
    struct capture *capture = found(place, is_event);
    struct node **copy = calloc(n_needs + 1, sizeof *copy);
    if (!capture && (capture = calloc(1, sizeof *capture))) {
        capture->place = place;
        capture->is_event = is_event;
        capture->next = captures;
        captures = capture;
    }
    if (!capture || !copy)
        abort();
    for (size_t k = 0; k < n_needs; k++)
        copy[k] = needs[k];
    free(capture->needs);
    capture->graph = graph;
    capture->needs = copy;
    capture->n_needs = n_needs;
    return capture;
}

int is_capturing(const void *stream) {
    if (!captures)
        return 0;
    pthread_mutex_lock(&lock);
    int result = found(stream, 0) != NULL;
    pthread_mutex_unlock(&lock);
    return result;
}

int refuse_capture(const char *call, const void *stream) {
    if (!is_capturing(stream))
        return SUCCESS;
    refuse("%s: not possible on a stream that is being captured into a graph", call);
    return CAPTURE_UNSUPPORTED;
}

/* The next node of a stream, without parameters. */
static struct node *next_node(const void *stream, enum node_type type) {
    pthread_mutex_lock(&lock);
    struct capture *capture = found(stream, 0);
    struct node *node = NULL;
    if (capture && (node = add_node(capture->graph, type, capture->needs, capture->n_needs)))
        kept(stream, 0, capture->graph, &node, 1);
    pthread_mutex_unlock(&lock);
    return node;
}

int capture_launch(const void *stream, const void *host, struct dim3 grid, struct dim3 block, void **arguments,
                   size_t dynamic_shared, const struct asked *asked) {
    if (asked->event) {
        refuse("a launch with an event as an attribute is not captured");
        return CAPTURE_UNSUPPORTED;
    }
    struct node *node = next_node(stream, KERNEL_NODE);
    if (!node)
        return INVALID_VALUE;
    node->asked = *asked;
    return set_kernel(node, &(struct kernel_parameters){(void *)host, grid, block, (unsigned)dynamic_shared, arguments, NULL});
}

int capture_box(const void *stream, const struct box *box) {
    return set_parameters(next_node(stream, COPY_NODE), COPY_NODE, box);
}

int capture_rows(const void *stream, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                 size_t height, int direction) {
    struct box box = box_of_rows(to, to_pitch, from, from_pitch, width, height, direction);
    return capture_box(stream, &box);
}

int capture_fill(const void *stream, void *to, size_t pitch, int value, size_t width, size_t height) {
    struct fill_parameters fill = {to, pitch, (unsigned)value & 0xff, 1, width, height};
    return set_parameters(next_node(stream, FILL_NODE), FILL_NODE, &fill);
}

int capture_call(const void *stream, void (*call)(void *), void *data) {
    struct host_parameters host = {call, data};
    return set_parameters(next_node(stream, HOST_NODE), HOST_NODE, &host);
}

void capture_record(const void *stream, const void *event) {
    pthread_mutex_lock(&lock);
    struct capture *capture = found(stream, 0);
    if (capture)
        kept(event, 1, capture->graph, capture->needs, capture->n_needs);
    pthread_mutex_unlock(&lock);
}

int capture_wait(const void *stream, const void *event) {
    if (!captures)
        return SUCCESS;
    pthread_mutex_lock(&lock);
    struct capture *recorded = found(event, 1), *capture = found(stream, 0);
    int is_other = recorded && capture && recorded->graph != capture->graph;
    if (recorded && !capture)
        kept(stream, 0, recorded->graph, recorded->needs, recorded->n_needs);
    else if (recorded && !is_other) {
        size_t n = recorded->n_needs + capture->n_needs;
        struct node *needs[n + 1];
        for (size_t k = 0; k < n; k++)
            needs[k] = k < capture->n_needs ? capture->needs[k] : recorded->needs[k - capture->n_needs];
        kept(stream, 0, capture->graph, needs, n);
    }
    pthread_mutex_unlock(&lock);
    return is_other ? CAPTURE_MERGE : SUCCESS;
}

API int cudaStreamBeginCapture(const void *stream, int mode) {
    int error = ready();
    if (error || mode < 0 || mode > 2 || is_capturing(stream))
        return done(error ? error : INVALID_VALUE);
    if ((uintptr_t)stream <= 1) {
        refuse("cudaStreamBeginCapture: the default stream cannot be captured");
        return done(CAPTURE_UNSUPPORTED);
    }
    pthread_mutex_lock(&lock);
    kept(stream, 0, new_graph(), NULL, 0)->is_origin = 1;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

API int cudaStreamEndCapture(const void *stream, struct graph **graph) {
    int error = ready();
    if (error || !graph)
        return done(error ? error : INVALID_VALUE);
    pthread_mutex_lock(&lock);
    struct capture *capture = found(stream, 0);
    *graph = capture && capture->is_origin ? capture->graph : NULL;
    for (struct capture **at = &captures; *graph && *at;) {
        struct capture *each = *at;
        if (each->graph != *graph) {
            at = &each->next;
            continue;
        }
        *at = each->next;
        free(each->needs);
        free(each);
    }
    pthread_mutex_unlock(&lock);
    return done(*graph ? SUCCESS : capture ? CAPTURE_UNMATCHED : INVALID_VALUE);
}

API int cudaStreamIsCapturing(const void *stream, int *status) {
    int error = ready();
    if (error || !status)
        return done(error ? error : INVALID_VALUE);
    *status = is_capturing(stream);
    return SUCCESS;
}

API int cudaStreamGetCaptureInfo_v2(const void *stream, int *status, unsigned long long *number, struct graph **graph,
                                    struct node ***needs, size_t *n_needs) {
    int error = cudaStreamIsCapturing(stream, status);
    if (error || !*status)
        return error;
    pthread_mutex_lock(&lock);
    const struct capture *capture = found(stream, 0);
    pthread_mutex_unlock(&lock);
    if (number)
        *number = (uintptr_t)capture->graph;
    if (graph)
        *graph = capture->graph;
    if (needs)
        *needs = capture->needs;
    if (n_needs)
        *n_needs = capture->n_needs;
    return SUCCESS;
}

API int cudaStreamGetCaptureInfo_v3(const void *stream, int *status, unsigned long long *number, struct graph **graph,
                                    struct node ***needs, const void **edges, size_t *n_needs) {
    if (edges)
        *edges = NULL; /* no edge has data */
    return cudaStreamGetCaptureInfo_v2(stream, status, number, graph, needs, n_needs);
}

/* CUDA 13 has the latest variant under this name, CUDA 11 and 12 the first. */
API int cudaStreamGetCaptureInfo(const void *stream, int *status, unsigned long long *number, struct graph **graph,
                                 struct node ***needs, const void **edges, size_t *n_needs) {
    if (runtime_version >= 13)
        return cudaStreamGetCaptureInfo_v3(stream, status, number, graph, needs, edges, n_needs);
    return cudaStreamGetCaptureInfo_v2(stream, status, number, NULL, NULL, NULL);
}

API int cudaThreadExchangeStreamCaptureMode(int *mode) {
    static __thread int current;
    if (!mode || *mode < 0 || *mode > 2)
        return done(INVALID_VALUE);
    int before = current;
    current = *mode;
    *mode = before;
    return SUCCESS;
}
