/* A disk on which writing to logs goes wrong in turn: interrupted, in part only, after 300 ms, with an error after half of the bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int is_log(int fd)
{
    char link[64], path[4096];
    int kept = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path);
    errno = kept;
    return length > 4 && !memcmp(path + length - 4, ".lbp", 4);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    static ssize_t (*next)(int, const void *, size_t);
    static int times;
    if (!next)
        next = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    if (!is_log(fd))
        return next(fd, bytes, count);
    /* What a log begins with comes first, and must be there. */
    times++;
    switch (times < 24 ? 0 : times % 8) {
    case 1:
        errno = EINTR;
        return -1;
    case 2:
    case 3:
        return next(fd, bytes, count / 2);
    case 4: {
        struct timespec moment = {0, 300000000};
        if (times < 32)
            nanosleep(&moment, 0);
        return next(fd, bytes, count);
    }
    case 6:
        return next(fd, bytes, count / 2);
    case 7:
        errno = EIO;
        return -1;
    default:
        return next(fd, bytes, count);
    }
}
