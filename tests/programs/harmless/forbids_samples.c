/* A system that refuses samples to its users, as kernels with kernel.perf_event_paranoid of 3 do where they know this level: perf_event_open
 * fails. Mainline kernels do not know it, so that a test cannot set it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

int samples_refused;

long syscall(long number, ...)
{
    static long (*next)(long, long, long, long, long, long, long);
    if (number == SYS_perf_event_open) {
        samples_refused++;
        errno = EACCES;
        return -1;
    }
    if (!next)
        next = (long (*)(long, long, long, long, long, long, long))dlsym(RTLD_NEXT, "syscall");
    va_list rest;
    long a[6];
    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
