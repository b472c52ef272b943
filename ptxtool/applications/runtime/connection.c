/* The connection to the simulator: made at the first call, one request at a time, never shared with a fork. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>
#include "runtime.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

struct device_record device;
char device_name[256];
char *written;
int runtime_version;

/* Called by libcudart when it is loaded. */
__attribute__((visibility("default"))) void ptxtool_runtime(int version) { runtime_version = version; }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int simulator = -1;     /* the socket */
static int failure = SUCCESS;  /* what every call returns */
static __thread char *received;
static __thread size_t room;

static int fail(int error, const char *why) {
    if (why)
        fprintf(stderr, "ptxtool exec: %s\n", why);
    return failure = error;
}

static int send_all(const void *header, const void *head, size_t head_bytes, const void *body, size_t body_bytes) {
    struct iovec parts[3] = {{(void *)header, 8}, {(void *)head, head_bytes}, {(void *)body, body_bytes}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
    size_t left = 8 + head_bytes + body_bytes;
    while (left) {
        ssize_t sent = sendmsg(simulator, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return 0;
        left -= (size_t)sent;
        for (; message.msg_iovlen && (size_t)sent >= message.msg_iov->iov_len; message.msg_iov++, message.msg_iovlen--)
            sent -= (ssize_t)message.msg_iov->iov_len;
        if (message.msg_iovlen) {
            message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + sent;
            message.msg_iov->iov_len -= (size_t)sent;
        }
    }
    return 1;
}

static int receive_all(void *data, size_t bytes, int *memory) {
    char *at = data;
    while (bytes) {
        union { struct cmsghdr head; char bytes[CMSG_SPACE(sizeof(int))]; } control;
        struct iovec part = {at, bytes};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                                 .msg_controllen = memory ? sizeof control : 0};
        ssize_t got = recvmsg(simulator, &message, MSG_CMSG_CLOEXEC);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        struct cmsghdr *sent = memory ? CMSG_FIRSTHDR(&message) : NULL;
        if (sent && sent->cmsg_type == SCM_RIGHTS)
            memcpy(memory, CMSG_DATA(sent), sizeof(int));
        at += got;
        bytes -= (size_t)got;
    }
    return 1;
}

static struct answer exchange(enum message kind, const void *head, size_t head_bytes, const void *body,
                              size_t body_bytes, int *memory) {
    uint32_t header[2] = {kind, (uint32_t)(head_bytes + body_bytes)};
    struct answer answer = {UNKNOWN, 0, NULL};
    if (head_bytes + body_bytes > UINT32_MAX) {
        answer.error = INVALID_VALUE;
        return answer;
    }
    pthread_mutex_lock(&lock);
    int ok = send_all(header, head, head_bytes, body, body_bytes) && receive_all(header, sizeof header, memory);
    if (ok && header[1] + 1ul > room) {
        char *larger = realloc(received, header[1] + 1ul);
        if ((ok = larger != NULL)) {
            received = larger;
            room = header[1] + 1ul;
        }
    }
    ok = ok && receive_all(received, header[1], NULL);
    pthread_mutex_unlock(&lock);
    if (!ok) {
        fail(UNKNOWN, failure ? NULL : "the simulator has ended; every CUDA call fails from now on");
        return answer;
    }
    received[header[1]] = 0;
    is_reported |= header[0] != SUCCESS || kind == MESSAGE_REFUSED || kind == MESSAGE_RANGE;
    return (struct answer){(int)header[0], header[1], received};
}

static int is_silent_fork; /* a child without a device, which has made no call yet */

static void forked(void) {
    pthread_mutex_init(&lock, NULL);
    if (simulator < 0)
        return; /* the child may make a connection of its own */
    close(simulator);
    simulator = -1;
    failure = NOT_INITIALISED;
    is_silent_fork = 1;
}

static int shared_file = -1;
static struct stat shared_status;

/* An application may close files that it did not open, and open others under their numbers. */
int memory_file(void) {
    struct stat now;
    int is_it = shared_file >= 0 && !fstat(shared_file, &now) && now.st_ino == shared_status.st_ino &&
                now.st_dev == shared_status.st_dev;
    return is_it ? shared_file : -1;
}

/* Map the memory of the device, and what tracks its writes. */
static void map_memory(int memory) {
    void *wanted = (void *)DEVICE_BASE;
    void *mapped = mmap(wanted, device.memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, memory, 0);
    if (mapped != wanted) {
        if (mapped != MAP_FAILED)
            munmap(mapped, device.memory_bytes);
        fail(OUT_OF_MEMORY, "the addresses of device memory are in use in this process: give a smaller --memory, "
                            "or link the application with -pie");
        return;
    }
    if (device.tracks_writes) {
        written = mmap(NULL, device.memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, (off_t)device.memory_bytes);
        if (written == MAP_FAILED)
            fail(OUT_OF_MEMORY, "no memory to check its initialisation: give a smaller --memory");
    }
    shared_file = fstat(memory, &shared_status) ? -1 : memory;
}

static void open_connection(void) {
    const char *name = getenv("PTXTOOL_EXEC");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    pthread_atfork(NULL, NULL, forked);
    if (!name || strlen(name) > sizeof address.sun_path - 2) {
        fail(NO_DEVICE, "this CUDA library is a part of ptxtool: run the application with 'ptxtool exec -- APPLICATION'");
        return;
    }
    strcpy(address.sun_path + 1, name); /* an abstract name: nothing stays in a file system */
    simulator = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    if (simulator < 0 || connect(simulator, (struct sockaddr *)&address, length)) {
        fail(NO_DEVICE, "no simulator: the 'ptxtool exec' that started this process has ended");
        return;
    }
    uint32_t hello[2 + 256] = {(uint32_t)getpid(), (uint32_t)runtime_version};
    size_t n = registered_targets(hello + 2, 256);
    int memory = -1;
    struct answer answer = exchange(MESSAGE_HELLO, hello, (2 + n) * sizeof *hello, NULL, 0, &memory);
    if (answer.error || answer.bytes < sizeof device || memory < 0) {
        fail(answer.error ? answer.error : UNKNOWN, NULL);
        return;
    }
    memcpy(&device, answer.data, sizeof device);
    strncpy(device_name, answer.data + sizeof device, sizeof device_name - 1);
    map_memory(memory);
}

int ready(void) {
    if (!failure)
        pthread_once(&once, open_connection);
    if (is_silent_fork) {
        is_silent_fork = 0;
        fail(failure, "a process that was forked after the first CUDA call has no device: its calls return "
                      "cudaErrorInitializationError; fork before, or start another program");
    }
    return failure;
}

int failed(void) { return failure; }

struct answer request(enum message kind, const void *head, size_t head_bytes, const void *body, size_t body_bytes) {
    return exchange(kind, head, head_bytes, body, body_bytes, NULL);
}

int fault(int error) { return failure = error; }

void refuse(const char *format, ...) {
    char text[1024];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (length > 0)
        request(MESSAGE_REFUSED, text, strlen(text), NULL, 0);
}
