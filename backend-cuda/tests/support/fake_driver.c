/* A driver without devices behind it: what it answers at the start is set by the environment, so that every way in which
 * a driver can be unfit is proved on a machine without one. */

#include <stdio.h>
#include <stdlib.h>

static int number(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

int cuInit(unsigned flags) {
    return flags == 0 ? number("FAKE_INIT", 0) : 1;
}

int cuDriverGetVersion(int *version) {
    *version = number("FAKE_VERSION", 13000);
    return 0;
}

int cuDeviceGetCount(int *count) {
    *count = number("FAKE_COUNT", 2);
    return 0;
}

int cuDeviceGet(int *device, int ordinal) {
    *device = 40 + ordinal;
    return 0;
}

int cuDeviceGetName(char *name, int len, int device) {
    snprintf(name, (size_t)len, "Fake %d", device);
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    *bytes = (size_t)device << 30;
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    int capability = number("FAKE_CAPABILITY", 90);
    (void)device;
    *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : attribute == 16 ? 132 : 0;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    (void)device;
    *context = (void *)0x10;
    return number("FAKE_RETAIN", 0);
}

int cuCtxSetCurrent(void *context) {
    return context == (void *)0x10 ? 0 : 201;
}

int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    *stream = (void *)0x20;
    return flags == 0 && priority == 0 ? 0 : 1;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned count, void *options, void *values) {
    (void)module;
    (void)image;
    (void)count;
    (void)options;
    (void)values;
    return 218;
}
