/* A system whose user may lock no memory: an event of perf_event_open is there, but mapping it fails with EPERM, as that of a sealed file does. The system's
 * own limit is one of the user, and so depends on what other programs of his lock at that time. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "next_syscall.h"

long syscall(long number, ...)
{
    if (number == SYS_perf_event_open) {
        int file = memfd_create("event", MFD_ALLOW_SEALING | MFD_CLOEXEC);
        fcntl(file, F_ADD_SEALS, F_SEAL_WRITE);
        return file;
    }
    va_list rest;
    va_start(rest, number);
    long result = next_syscall(number, rest);
    va_end(rest);
    return result;
}
