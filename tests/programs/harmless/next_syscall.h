/* The C library's syscall, for tools that stand in front of it. */
#ifndef NEXT_SYSCALL_H
#define NEXT_SYSCALL_H

#include <dlfcn.h>
#include <stdarg.h>

static long next_syscall(long number, va_list rest)
{
    static long (*next)(long, long, long, long, long, long, long);
    long a[6];
    if (!next)
        next = (long (*)(long, long, long, long, long, long, long))dlsym(RTLD_NEXT, "syscall");
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(rest, long);
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif
