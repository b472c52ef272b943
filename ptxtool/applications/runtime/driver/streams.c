/* Streams and events of the driver API: those of the runtime API. */
#include "driver.h"

API int cuStreamCreateWithPriority(struct stream **stream, unsigned flags, int priority) {
    return IN_CONTEXT(cudaStreamCreateWithPriority(stream, flags, priority));
}

API int cuStreamCreate(struct stream **stream, unsigned flags) { return cuStreamCreateWithPriority(stream, flags, 0); }

API int cuStreamDestroy_v2(struct stream *stream) { return IN_CONTEXT(cudaStreamDestroy(stream)); }

API int cuStreamSynchronize(struct stream *stream) { return IN_CONTEXT(cudaStreamSynchronize(stream)); }

API int cuStreamQuery(struct stream *stream) { return IN_CONTEXT(cudaStreamQuery(stream)); }

API int cuStreamWaitEvent(struct stream *stream, struct event *event) {
    return IN_CONTEXT(cudaStreamWaitEvent(stream, event));
}

API int cuStreamGetFlags(struct stream *stream, unsigned *flags) { return IN_CONTEXT(cudaStreamGetFlags(stream, flags)); }

API int cuStreamGetPriority(struct stream *stream, int *priority) {
    return IN_CONTEXT(cudaStreamGetPriority(stream, priority));
}

API int cuStreamGetCtx(struct stream *stream, struct context **context) {
    int error = IN_CONTEXT(cudaStreamQuery(stream));
    if (error || !context)
        return error ? error : INVALID_VALUE;
    *context = current();
    return SUCCESS;
}

/* No stream belongs to a part of the device. */
API int cuStreamGetCtx_v2(struct stream *stream, struct context **context, void **part) {
    if (part)
        *part = NULL;
    return cuStreamGetCtx(stream, context);
}

API int cuStreamGetDevice(struct stream *stream, int *number) {
    int error = IN_CONTEXT(cudaStreamQuery(stream));
    if (error || !number)
        return error ? error : INVALID_VALUE;
    *number = 0;
    return SUCCESS;
}

API int cuStreamAddCallback(struct stream *stream, void (*call)(struct stream *, int, void *), void *data, unsigned flags) {
    return IN_CONTEXT(cudaStreamAddCallback(stream, call, data, flags));
}

API int cuStreamAttachMemAsync(struct stream *stream, address at) {
    return IN_CONTEXT(cudaStreamAttachMemAsync(stream, (void *)at));
}

API int cuStreamIsCapturing(struct stream *stream, int *status) { return IN_CONTEXT(cudaStreamIsCapturing(stream, status)); }

API int cuEventCreate(struct event **event, unsigned flags) { return IN_CONTEXT(cudaEventCreateWithFlags(event, flags)); }

API int cuEventDestroy_v2(struct event *event) { return IN_CONTEXT(cudaEventDestroy(event)); }

API int cuEventRecord(struct event *event, struct stream *stream) { return IN_CONTEXT(cudaEventRecord(event, stream)); }

API int cuEventRecordWithFlags(struct event *event, struct stream *stream, unsigned flags) {
    return IN_CONTEXT(cudaEventRecordWithFlags(event, stream, flags));
}

API int cuEventSynchronize(struct event *event) { return IN_CONTEXT(cudaEventSynchronize(event)); }

API int cuEventQuery(struct event *event) { return IN_CONTEXT(cudaEventQuery(event)); }

API int cuEventElapsedTime(float *milliseconds, struct event *from, struct event *to) {
    return IN_CONTEXT(cudaEventElapsedTime(milliseconds, from, to));
}

API int cuEventElapsedTime_v2(float *milliseconds, struct event *from, struct event *to) {
    return cuEventElapsedTime(milliseconds, from, to);
}
