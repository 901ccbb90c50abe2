/* Functions that compute for a known CPU time of their thread, and what each computed, for the test: in $LBTEST_TRUTH.<rank>. */
#ifndef SPIN_H
#define SPIN_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A function of this name, and the CPU time spent in it. */
#define SPINS(name)                                         \
    static double name##_s;                                 \
    __attribute__((noinline)) static void name(double ms)   \
    {                                                       \
        double from = cpu_s(), now = from;                  \
        volatile double x = 1;                              \
        while (now < from + 1e-3 * ms) {                    \
            for (int i = 0; i < 20000; i++)                 \
                x = x * 1.0000001 + 1e-9;                   \
            now = cpu_s();                                  \
        }                                                   \
        name##_s += now - from;                             \
    }

static FILE *truth(int rank)
{
    char name[4096];
    const char *path = getenv("LBTEST_TRUTH");
    snprintf(name, sizeof name, "%s.%d", path ? path : "/dev/null", rank);
    return fopen(path ? name : "/dev/null", "w");
}

#endif
