// link: -pthread
// ranks: 2
// states: their shares of computation
// truth: in each of 60 steps a rank computes for 10 ms, has new memory cleared by the kernel for 10 ms, sleeps for 10 ms, and computes for 10 ms beside
// truth: another thread on the same core; between them both meet. The program measures each by its CPU time and the scheduler's figures
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

#define MS 10
#define BYTES (1 << 22)

/* Seconds in user space, in the kernel, asleep, and without a core. */
static double useful_s, kernel_s, asleep_s, no_core_s;
static volatile int is_busy, is_over;
static volatile double sink;

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds for which this thread could have run but had no core. */
static double delay_s(void)
{
    unsigned long long ran, waited;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    int n = file ? fscanf(file, "%llu %llu", &ran, &waited) : 0;
    if (file)
        fclose(file);
    return n == 2 ? (double)waited * 1e-9 : 0;
}

/* Works for so many milliseconds of CPU time. */
static void compute(double ms)
{
    double end = now_s(CLOCK_THREAD_CPUTIME_ID) + ms * 1e-3;
    while (now_s(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 100000; i++)
            sink = sink * 0.999 + 1e-9;
}

static void clear(double ms)
{
    double end = now_s(CLOCK_THREAD_CPUTIME_ID) + ms * 1e-3;
    while (now_s(CLOCK_THREAD_CPUTIME_ID) < end) {
        volatile char *memory = mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise((void *)memory, BYTES, MADV_NOHUGEPAGE);
        for (size_t at = 0; at < BYTES; at += 4096)
            memory[at] = 1;
        munmap((void *)memory, BYTES);
    }
}

static void nap(double ms)
{
    usleep((useconds_t)(ms * 1e3));
}

/* Does some work, and adds its time to that of its kind. */
static void part(void (*work)(double), double *kind_s)
{
    double begin = now_s(CLOCK_MONOTONIC), cpu = now_s(CLOCK_THREAD_CPUTIME_ID), delay = delay_s();
    work(MS);
    cpu = now_s(CLOCK_THREAD_CPUTIME_ID) - cpu;
    delay = delay_s() - delay;
    *kind_s += cpu;
    no_core_s += delay;
    asleep_s += now_s(CLOCK_MONOTONIC) - begin - cpu - delay;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void *be_busy(void *nothing)
{
    while (!is_over)
        if (is_busy)
            sink += 1;
        else
            usleep(200);
    return nothing;
}

int main(int argc, char **argv)
{
    int rank;
    pthread_t other;
    cpu_set_t own;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CPU_ZERO(&own);
    CPU_SET((size_t)(sched_getcpu() < 0 ? 0 : sched_getcpu()), &own);
    pthread_create(&other, NULL, be_busy, NULL);
    for (int i = 0; i < 60; i++) {
        cpu_set_t all;
        part(compute, &useful_s);
        part(clear, &kernel_s);
        part(nap, &asleep_s);
        sched_getaffinity(0, sizeof all, &all);
        sched_setaffinity(0, sizeof own, &own);
        pthread_setaffinity_np(other, sizeof own, &own);
        is_busy = 1;
        part(compute, &useful_s);
        is_busy = 0;
        sched_setaffinity(0, sizeof all, &all);
    }
    is_over = 1;
    pthread_join(other, NULL);
    FILE *file = truth(rank);
    fprintf(file, "useful %f\nkernel %f\nasleep %f\nno core %f\n", useful_s, kernel_s, asleep_s, no_core_s);
    fclose(file);
    MPI_Finalize();
    return 0;
}
