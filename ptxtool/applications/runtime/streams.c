/* Streams and events. Every call has ended when it returns, so that a stream has nothing to wait for; an event keeps
 * the simulated time of its record. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
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

API int cudaStreamSynchronize(struct stream *stream) {
    int error = check_stream(stream);
    return done(error ? error : refuse_capture("cudaStreamSynchronize", stream));
}

API int cudaStreamQuery(struct stream *stream) {
    int error = check_stream(stream);
    return done(error ? error : refuse_capture("cudaStreamQuery", stream));
}

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

API int cudaStreamGetDevice(struct stream *stream, int *number) {
    int error = check_stream(stream);
    if (error || !number)
        return done(error ? error : INVALID_VALUE);
    *number = 0;
    return SUCCESS;
}

API int cudaStreamGetId(struct stream *stream, unsigned long long *number) {
    int error = check_stream(stream);
    if (error || !number)
        return done(error ? error : INVALID_VALUE);
    *number = (uintptr_t)stream;
    return SUCCESS;
}

/* Attributes (what stays in L2, how a host waits, priorities between graphs) change nothing here but are kept. */
enum { VALUE_BYTES = 64, MOST_ATTRIBUTE = 16 };
static struct attribute { struct stream *stream; int number; char value[VALUE_BYTES]; struct attribute *next; } *attributes;
static pthread_mutex_t attributes_lock = PTHREAD_MUTEX_INITIALIZER;

static struct attribute *attribute_of(const struct stream *stream, int number) {
    struct attribute *found = attributes;
    while (found && (found->stream != stream || found->number != number))
        found = found->next;
    return found;
}

API int cudaStreamSetAttribute(struct stream *stream, int number, const void *value) {
    int error = check_stream(stream);
    if (error || !value || number < 1 || number > MOST_ATTRIBUTE)
        return done(error ? error : INVALID_VALUE);
    pthread_mutex_lock(&attributes_lock);
    struct attribute *kept = attribute_of(stream, number);
    if (!kept && (kept = calloc(1, sizeof *kept))) {
        *kept = (struct attribute){stream, number, "", attributes};
        attributes = kept;
    }
    if (kept)
        memcpy(kept->value, value, VALUE_BYTES);
    pthread_mutex_unlock(&attributes_lock);
    return done(kept ? SUCCESS : OUT_OF_MEMORY);
}

API int cudaStreamGetAttribute(struct stream *stream, int number, void *value) {
    int error = check_stream(stream);
    if (error || !value || number < 1 || number > MOST_ATTRIBUTE)
        return done(error ? error : INVALID_VALUE);
    pthread_mutex_lock(&attributes_lock);
    const struct attribute *kept = attribute_of(stream, number);
    if (kept)
        memcpy(value, kept->value, VALUE_BYTES);
    else
        memset(value, 0, VALUE_BYTES);
    pthread_mutex_unlock(&attributes_lock);
    return SUCCESS;
}

API int cudaStreamCopyAttributes(struct stream *to, struct stream *from) {
    char value[VALUE_BYTES];
    int error = check_stream(to);
    for (int number = 1; !error && number <= MOST_ATTRIBUTE; number++)
        if (!(error = cudaStreamGetAttribute(from, number, value)))
            error = cudaStreamSetAttribute(to, number, value);
    return done(error);
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
    if (error || !call || flags || (error = refuse_capture("cudaStreamAddCallback", stream)))
        return done(error ? error : INVALID_VALUE);
    call(stream, SUCCESS, data);
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
    if (is_capturing(stream)) {
        capture_record(stream, event);
        return SUCCESS;
    }
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
    if (error || (error = check_event(event)))
        return done(error);
    return done(capture_wait(stream, event));
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
