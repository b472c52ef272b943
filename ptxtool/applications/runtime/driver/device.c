/* Devices of the driver API: one, number 0. */
#include <string.h>
#include "driver.h"

static int check_device(int number) {
    int error = initialised();
    return error ? error : number ? INVALID_DEVICE : SUCCESS;
}

API int cuDeviceGetCount(int *n) {
    int error = initialised();
    if (error || !n)
        return error ? error : INVALID_VALUE;
    *n = 1;
    return SUCCESS;
}

API int cuDeviceGet(int *number, int ordinal) {
    int error = check_device(ordinal);
    if (error || !number)
        return error ? error : INVALID_VALUE;
    *number = ordinal;
    return SUCCESS;
}

API int cuDeviceGetName(char *name, int room, int number) {
    int error = check_device(number);
    if (error || !name || room < 1)
        return error ? error : INVALID_VALUE;
    strncpy(name, device_name, (size_t)room - 1);
    name[room - 1] = 0;
    return SUCCESS;
}

/* A machine has no number of its own: its name stands for one. */
API int cuDeviceGetUuid_v2(char *bytes, int number) {
    int error = check_device(number);
    if (error || !bytes)
        return error ? error : INVALID_VALUE;
    memcpy(bytes, device_name, 16);
    return SUCCESS;
}

API int cuDeviceGetUuid(char *bytes, int number) { return cuDeviceGetUuid_v2(bytes, number); }

API int cuDeviceTotalMem_v2(size_t *bytes, int number) {
    int error = check_device(number);
    if (error || !bytes)
        return error ? error : INVALID_VALUE;
    *bytes = device.memory_bytes;
    return SUCCESS;
}

API int cuDeviceGetAttribute(int *value, int attribute, int number) {
    int error = check_device(number);
    return error ? error : device_attribute("cuDeviceGetAttribute", value, attribute, number);
}

API int cuDeviceComputeCapability(int *major, int *minor, int number) {
    int error = check_device(number);
    if (error || !major || !minor)
        return error ? error : INVALID_VALUE;
    *major = (int)device.major;
    *minor = (int)device.minor;
    return SUCCESS;
}

API int cuDeviceGetPCIBusId(char *text, int room, int number) {
    int error = check_device(number);
    return error ? error : RESULT(cudaDeviceGetPCIBusId(text, room, number));
}

API int cuDeviceGetByPCIBusId(int *number, const char *text) {
    int error = initialised();
    return error ? error : RESULT(cudaDeviceGetByPCIBusId(number, text));
}

API int cuDeviceCanAccessPeer(int *can, int number, int peer) {
    int error = initialised();
    return error ? error : RESULT(cudaDeviceCanAccessPeer(can, number, peer));
}
