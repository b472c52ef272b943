/* Streams and events. Every call has ended when it returns, so that a stream has nothing to wait for; an event keeps
 * the simulated time of its record. */
#include <stdlib.h>
#include "runtime.h"

double simulated_seconds;

struct stream { uint32_t magic, flags; int priority; };
struct event { uint32_t magic, flags; int is_recorded; double seconds; };
enum { STREAM = 0x57A3, EVENT = 0xE7E7, FREED = 0xF4EE, DISABLE_TIMING = 2 };

/* The default streams are small numbers. */
static int is_stream(const struct stream *stream) {
    return (uintptr_t)stream <= 2 || stream->magic == STREAM;
}

static int check_stream(const struct stream *stream) {
    int error = ready();
    return error ? error : is_stream(stream) ? SUCCESS : INVALID_HANDLE;
}

static int check_event(const struct event *event) {
    int error = ready();
    return error ? error : event && event->magic == EVENT ? SUCCESS : INVALID_HANDLE;
}

API int cudaStreamCreateWithPriority(struct stream **stream, unsigned flags, int priority) {
    int error = ready();
    if (error || !stream || flags > 1)
        return done(error ? error : INVALID_VALUE);
    if (!(*stream = malloc(sizeof **stream)))
        return done(OUT_OF_MEMORY);
    **stream = (struct stream){STREAM, flags, priority};
    return SUCCESS;
}

API int cudaStreamCreateWithFlags(struct stream **stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

API int cudaStreamCreate(struct stream **stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }

API int cudaStreamDestroy(struct stream *stream) {
    int error = check_stream(stream);
    if (error || (uintptr_t)stream <= 2)
        return done(error ? error : INVALID_HANDLE);
    stream->magic = FREED;
    free(stream);
    return SUCCESS;
}

API int cudaStreamSynchronize(struct stream *stream) { return done(check_stream(stream)); }

API int cudaStreamQuery(struct stream *stream) { return done(check_stream(stream)); }

API int cudaStreamGetFlags(struct stream *stream, unsigned *flags) {
    int error = check_stream(stream);
    if (error || !flags)
        return done(error ? error : INVALID_VALUE);
    *flags = (uintptr_t)stream <= 2 ? 0 : stream->flags;
    return SUCCESS;
}

API int cudaStreamGetPriority(struct stream *stream, int *priority) {
    int error = check_stream(stream);
    if (error || !priority)
        return done(error ? error : INVALID_VALUE);
    *priority = (uintptr_t)stream <= 2 ? 0 : stream->priority;
    return SUCCESS;
}

API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least)
        *least = 0;
    if (greatest)
        *greatest = 0;
    return done(ready());
}

API int cudaStreamAddCallback(struct stream *stream, void (*call)(struct stream *, int, void *), void *data, unsigned flags) {
    int error = check_stream(stream);
    if (error || !call || flags)
        return done(error ? error : INVALID_VALUE);
    call(stream, SUCCESS, data);
    return SUCCESS;
}

API int cudaStreamIsCapturing(struct stream *stream, int *status) {
    int error = check_stream(stream);
    if (error || !status)
        return done(error ? error : INVALID_VALUE);
    *status = 0;
    return SUCCESS;
}

API int cudaEventCreateWithFlags(struct event **event, unsigned flags) {
    int error = ready();
    if (error || !event || flags > 7)
        return done(error ? error : INVALID_VALUE);
    if (!(*event = malloc(sizeof **event)))
        return done(OUT_OF_MEMORY);
    **event = (struct event){EVENT, flags, 0, 0};
    return SUCCESS;
}

API int cudaEventCreate(struct event **event) { return cudaEventCreateWithFlags(event, 0); }

API int cudaEventDestroy(struct event *event) {
    int error = check_event(event);
    if (error)
        return done(error);
    event->magic = FREED;
    free(event);
    return SUCCESS;
}

API int cudaEventRecord(struct event *event, struct stream *stream) {
    int error = check_event(event);
    if (error || (error = check_stream(stream)))
        return done(error);
    event->is_recorded = 1;
    event->seconds = simulated_seconds;
    return SUCCESS;
}

API int cudaEventRecordWithFlags(struct event *event, struct stream *stream, unsigned flags) {
    return flags > 1 ? done(INVALID_VALUE) : cudaEventRecord(event, stream);
}

API int cudaEventSynchronize(struct event *event) { return done(check_event(event)); }

API int cudaEventQuery(struct event *event) { return done(check_event(event)); }

API int cudaStreamWaitEvent(struct stream *stream, struct event *event) {
    int error = check_stream(stream);
    return done(error ? error : check_event(event));
}

API int cudaEventElapsedTime(float *milliseconds, struct event *from, struct event *to) {
    int error = check_event(from);
    if (error || (error = check_event(to)) || !milliseconds)
        return done(error ? error : INVALID_VALUE);
    if (!from->is_recorded || !to->is_recorded || (from->flags | to->flags) & DISABLE_TIMING)
        return done(INVALID_HANDLE);
    *milliseconds = (float)((to->seconds - from->seconds) * 1e3);
    return SUCCESS;
}
