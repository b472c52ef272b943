/* The device: one, which is the simulated machine. Its properties in the structure of each version of CUDA. */
#include <stdio.h>
#include <string.h>
#include "runtime.h"

API int cudaGetDeviceCount(int *n) {
    int error = ready();
    if (!n)
        return done(INVALID_VALUE);
    *n = error == NO_DEVICE ? 0 : 1;
    return done(error);
}

API int cudaSetDevice(int number) {
    int error = ready();
    return done(error ? error : number ? INVALID_DEVICE : SUCCESS);
}

API int cudaInitDevice(int number) { return cudaSetDevice(number); }

API int cudaGetDevice(int *number) {
    int error = ready();
    if (error || !number)
        return done(error ? error : INVALID_VALUE);
    *number = 0;
    return SUCCESS;
}

API int cudaSetValidDevices(int *numbers, int n) {
    int error = ready();
    return done(error ? error : n && !numbers ? INVALID_VALUE : SUCCESS);
}

API int cudaChooseDevice(int *number, const void *properties) {
    (void)properties;
    return cudaGetDevice(number);
}

API int cudaSetDeviceFlags(unsigned flags) { return done(flags & ~0x3fu ? INVALID_VALUE : SUCCESS); }

API int cudaGetDeviceFlags(unsigned *flags) {
    int error = ready();
    if (error || !flags)
        return done(error ? error : INVALID_VALUE);
    *flags = 8; /* cudaDeviceMapHost */
    return SUCCESS;
}

API int cudaDeviceSynchronize(void) { return done(ready()); }

API int cudaThreadSynchronize(void) { return done(ready()); }

/* Memory stays as it is: the process ends next, as a rule. */
API int cudaDeviceReset(void) { return done(ready()); }

API int cudaThreadExit(void) { return done(ready()); }

API int cudaDriverGetVersion(int *version) {
    if (!version)
        return done(INVALID_VALUE);
    *version = 13000;
    return SUCCESS;
}

API int cudaRuntimeGetVersion(int *version) {
    if (!version)
        return done(INVALID_VALUE);
    *version = runtime_version == 11 ? 11080 : runtime_version * 1000;
    return SUCCESS;
}

API int cudaProfilerStart(void) { return SUCCESS; }

API int cudaProfilerStop(void) { return SUCCESS; }

/* ---- properties */

#define LARGEST_GRID_X 2147483647
#define ABSENT 0xFFFF

/* `offset` in cudaDeviceProp of CUDA 11 and 12 (cudaGetDeviceProperties_v2 too), and of 13. */
struct property { uint16_t offset, offset_13, bytes; uint64_t value; };

static void describe(char *properties, size_t bytes, int version) {
    const struct device_record *d = &device;
    const struct property table[] = {
        {288, 288, 8, d->memory_bytes},                       /* totalGlobalMem */
        {296, 296, 8, d->shared_bytes_cta},                   /* sharedMemPerBlock */
        {304, 304, 4, d->registers_cta},                      /* regsPerBlock */
        {308, 308, 4, 32},                                    /* warpSize */
        {312, 312, 8, LARGEST_GRID_X},                        /* memPitch */
        {320, 320, 4, 1024},                                  /* maxThreadsPerBlock */
        {324, 324, 4, 1024}, {328, 328, 4, 1024}, {332, 332, 4, 64}, /* maxThreadsDim */
        {336, 336, 4, LARGEST_GRID_X}, {340, 340, 4, 65535}, {344, 344, 4, 65535}, /* maxGridSize */
        {348, ABSENT, 4, d->core_khz},                        /* clockRate */
        {352, 352, 8, d->constant_bytes},                     /* totalConstMem */
        {360, 360, 4, d->major}, {364, 364, 4, d->minor},
        {368, 368, 8, 512},                                   /* textureAlignment */
        {376, 376, 8, 32},                                    /* texturePitchAlignment */
        {388, 384, 4, d->sms},                                /* multiProcessorCount */
        {400, 392, 4, 1},                                     /* canMapHostMemory */
        {408, 396, 4, 131072},                                /* maxTexture1D */
        {416, ABSENT, 4, 1 << 27},                            /* maxTexture1DLinear */
        {420, 404, 4, 131072}, {424, 408, 4, 65536},          /* maxTexture2D */
        {436, 420, 4, 131072}, {440, 424, 4, 65000}, {444, 428, 4, 2097120}, /* maxTexture2DLinear */
        {456, 440, 4, 16384}, {460, 444, 4, 16384}, {464, 448, 4, 16384},    /* maxTexture3D */
        {568, 552, 8, 512},                                   /* surfaceAlignment */
        {604, 588, 4, 1},                                     /* unifiedAddressing */
        {608, ABSENT, 4, d->memory_khz},                      /* memoryClockRate */
        {612, 592, 4, d->bus_bits},                           /* memoryBusWidth */
        {616, 596, 4, d->l2_bytes},                           /* l2CacheSize */
        {624, 604, 4, d->threads_sm},                         /* maxThreadsPerMultiProcessor */
        {632, 612, 4, 1},                                     /* globalL1CacheSupported */
        {640, 624, 8, d->shared_bytes_sm},                    /* sharedMemPerMultiprocessor */
        {648, 632, 4, d->registers_sm},                       /* regsPerMultiprocessor */
        {652, 636, 4, 1},                                     /* managedMemory */
        {688, 668, 4, 1},                                     /* cooperativeLaunch */
        {696, 672, 8, d->shared_bytes_cta},                   /* sharedMemPerBlockOptin */
        {712, 688, 4, d->ctas_sm},                            /* maxBlocksPerMultiProcessor */
        {720, 696, 8, d->reserved_shared_bytes},              /* reservedSharedMemPerBlock */
    };
    memset(properties, 0, bytes);
    memcpy(properties, device_name, strlen(device_name) < 255 ? strlen(device_name) : 255);
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        uint16_t offset = version == 13 ? table[k].offset_13 : table[k].offset;
        if (offset != ABSENT)
            memcpy(properties + offset, &table[k].value, table[k].bytes);
    }
}

API int cudaGetDeviceProperties(char *properties, int number) {
    int error = ready();
    if (error || number || !properties)
        return done(error ? error : number ? INVALID_DEVICE : INVALID_VALUE);
    describe(properties, runtime_version == 13 ? 1008 : 728, runtime_version);
    return SUCCESS;
}

API int cudaGetDeviceProperties_v2(char *properties, int number) { /* of CUDA 12 alone */
    int error = ready();
    if (error || number || !properties)
        return done(error ? error : number ? INVALID_DEVICE : INVALID_VALUE);
    describe(properties, 1032, 12);
    return SUCCESS;
}

int device_attribute(const char *call, int *value, int attribute, int number) {
    const struct device_record *d = &device;
    int error = ready();
    if (error || number || !value)
        return error ? error : number ? INVALID_DEVICE : INVALID_VALUE;
    switch (attribute) { /* the numbers of cudaDeviceAttr */
    case 1: case 2: case 3: *value = 1024; break;          /* threads of a CTA, and its first two sizes */
    case 4: *value = 64; break;
    case 5: *value = LARGEST_GRID_X; break;
    case 6: case 7: *value = 65535; break;
    case 8: case 97: *value = (int)d->shared_bytes_cta; break;
    case 9: *value = (int)d->constant_bytes; break;
    case 10: *value = 32; break;
    case 11: *value = LARGEST_GRID_X; break;               /* MaxPitch */
    case 12: *value = (int)d->registers_cta; break;
    case 13: *value = (int)d->core_khz; break;
    case 14: case 30: *value = 512; break;                 /* alignment of textures and surfaces */
    case 16: *value = (int)d->sms; break;
    case 36: *value = (int)d->memory_khz; break;
    case 37: *value = (int)d->bus_bits; break;
    case 38: *value = (int)d->l2_bytes; break;
    case 39: *value = (int)d->threads_sm; break;
    case 51: *value = 32; break;                           /* TexturePitchAlignment */
    case 75: *value = (int)d->major; break;
    case 76: *value = (int)d->minor; break;
    case 81: *value = (int)d->shared_bytes_sm; break;
    case 82: *value = (int)d->registers_sm; break;
    case 106: *value = (int)d->ctas_sm; break;
    case 111: *value = (int)d->reserved_shared_bytes; break;
    case 19: case 41: case 79: case 83: case 95:           /* mapped and managed memory, one address space, L1, cooperative */
        *value = 1; break;
    case 15: case 17: case 18: case 20: case 31: case 32: case 33: case 34: case 35: case 40: case 50: case 78: case 80:
    case 84: case 85: case 86: case 88: case 89: case 90: case 91: case 98: case 99: case 100: case 101: case 112:
    case 113: case 114: case 115: case 116: case 120: case 125: /* what this device does not have */
        *value = 0; break;
    default:
        if (attribute < 1 || attribute > 147)
            return INVALID_VALUE;
        refuse("%s(%d): the simulated machine has no value for this attribute", call, attribute);
        return NOT_SUPPORTED;
    }
    return SUCCESS;
}

API int cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const struct channels *format, int number) {
    int error = ready();
    if (error || number || !width || !format)
        return done(error ? error : number ? INVALID_DEVICE : INVALID_VALUE);
    *width = 1 << 27;
    return SUCCESS;
}

API int cudaDeviceGetAttribute(int *value, int attribute, int number) {
    return done(device_attribute("cudaDeviceGetAttribute", value, attribute, number));
}

API int cudaDeviceGetPCIBusId(char *text, int room, int number) {
    int error = ready();
    if (error || number || !text || room < 13)
        return done(error ? error : number ? INVALID_DEVICE : INVALID_VALUE);
    strcpy(text, "0000:00:00.0");
    return SUCCESS;
}

API int cudaDeviceGetByPCIBusId(int *number, const char *text) {
    int error = ready();
    if (error || !number || !text)
        return done(error ? error : INVALID_VALUE);
    if (strcmp(text, "0000:00:00.0"))
        return done(INVALID_DEVICE);
    *number = 0;
    return SUCCESS;
}

/* ---- one device has no peer */

API int cudaDeviceCanAccessPeer(int *can, int number, int peer) {
    int error = ready();
    if (error || !can || number || peer)
        return done(error ? error : !can ? INVALID_VALUE : INVALID_DEVICE);
    *can = 0;
    return SUCCESS;
}

API int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    int error = ready();
    return done(error ? error : flags ? INVALID_VALUE : peer ? INVALID_DEVICE : PEER_UNSUPPORTED);
}

API int cudaDeviceDisablePeerAccess(int peer) {
    int error = ready();
    return done(error ? error : peer ? INVALID_DEVICE : PEER_NOT_ENABLED);
}

/* ---- limits and preferences */

static size_t limits[3] = {1024, 1 << 20, 8 << 20}; /* stack of a thread, printf, heap of `malloc` */

API int cudaDeviceGetLimit(size_t *value, int limit) {
    int error = ready();
    if (error || !value)
        return done(error ? error : INVALID_VALUE);
    if (limit < 0 || limit > 2)
        return done(UNSUPPORTED_LIMIT);
    *value = limits[limit];
    return SUCCESS;
}

API int cudaDeviceSetLimit(int limit, size_t value) {
    int error = ready();
    if (error)
        return done(error);
    if (limit < 0 || limit > 2)
        return done(UNSUPPORTED_LIMIT);
    struct __attribute__((packed)) { uint32_t limit; uint64_t value; } asked = {(uint32_t)limit, value};
    struct answer answer = request(MESSAGE_LIMIT, &asked, sizeof asked, NULL, 0);
    if (!answer.error)
        limits[limit] = value;
    return done(answer.error);
}

API int cudaThreadSetLimit(int limit, size_t value) { return cudaDeviceSetLimit(limit, value); }

API int cudaThreadGetLimit(size_t *value, int limit) { return cudaDeviceGetLimit(value, limit); }

/* The machine's file divides L1 and shared memory, and gives the width of banks: a preference changes nothing. */
static int preference;

API int cudaDeviceSetCacheConfig(int chosen) {
    int error = ready();
    if (error || chosen < 0 || chosen > 3)
        return done(error ? error : INVALID_VALUE);
    preference = chosen;
    return SUCCESS;
}

API int cudaThreadSetCacheConfig(int chosen) { return cudaDeviceSetCacheConfig(chosen); }

API int cudaDeviceGetCacheConfig(int *chosen) {
    int error = ready();
    if (error || !chosen)
        return done(error ? error : INVALID_VALUE);
    *chosen = preference;
    return SUCCESS;
}

API int cudaThreadGetCacheConfig(int *chosen) { return cudaDeviceGetCacheConfig(chosen); }

API int cudaCtxResetPersistingL2Cache(void) { return done(ready()); }

API int cudaDeviceSetSharedMemConfig(int bank) {
    int error = ready();
    return done(error ? error : bank < 0 || bank > 2 ? INVALID_VALUE : SUCCESS);
}

API int cudaDeviceGetSharedMemConfig(int *bank) {
    int error = ready();
    if (error || !bank)
        return done(error ? error : INVALID_VALUE);
    *bank = 1; /* cudaSharedMemBankSizeFourByte */
    return SUCCESS;
}
