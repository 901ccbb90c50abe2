/* Counts how often the loader is asked about an address, or for a library that is there: each takes a walk. */
#define _GNU_SOURCE
#include <dlfcn.h>

static int addresses, libraries;

int dladdr(const void *address, Dl_info *info)
{
    addresses++;
    return ((int (*)(const void *, Dl_info *))dlsym(RTLD_NEXT, "dladdr"))(address, info);
}

void *dlopen(const char *path, int flags)
{
    libraries += (flags & RTLD_NOLOAD) != 0;
    return ((void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen"))(path, flags);
}

int is_many(void) { return addresses + libraries > 50; }
