/* mmap as where the user may lock no memory: events of perf_event_open get none. The system's own limit is the user's, so that it also depends on what
   other programs lock at that time. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *mmap(void *address, size_t bytes, int access, int flags, int file, off_t offset)
{
    char link[64], kind[64] = {0};
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (file >= 0 && flags & MAP_SHARED && readlink(link, kind, sizeof kind - 1) > 0 && strstr(kind, "perf_event")) {
        errno = EPERM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, bytes, access, flags, file, offset);
}
