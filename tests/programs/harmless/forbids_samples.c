/* A system that refuses samples to its users, as kernels with kernel.perf_event_paranoid of 3 do where they know this level: perf_event_open
 * fails. Mainline kernels do not know it, so that a test cannot set it. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>

#include "next_syscall.h"

int samples_refused;

long syscall(long number, ...)
{
    if (number == SYS_perf_event_open) {
        samples_refused++;
        errno = EACCES;
        return -1;
    }
    va_list rest;
    va_start(rest, number);
    long result = next_syscall(number, rest);
    va_end(rest);
    return result;
}
