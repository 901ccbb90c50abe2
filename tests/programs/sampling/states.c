// link: -pthread
// ranks: 2
// states: their shares of computation
// truth: in each of 60 steps, or as many as its first argument says, for at most as many seconds as its second says, a rank computes for 10 ms, has new memory cleared by the kernel for 10 ms, reads a file for 10 ms, sleeps
// truth: for 10 ms, is stopped by another process for 10 ms, and computes for 10 ms beside another thread on the same core; between them both meet. The program
// truth: measures each by its CPU time and the scheduler's figures
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

#define MS 10
#define BYTES (1 << 22)

/* Seconds in user space, in the kernel, asleep, stopped, and without a core. */
static double useful_s, kernel_s, asleep_s, stopped_s, no_core_s;
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

/* Reads a file that is in memory, again and again. */
static void read_file(double ms)
{
    static char buffer[1 << 18];
    double end = now_s(CLOCK_THREAD_CPUTIME_ID) + ms * 1e-3;
    while (now_s(CLOCK_THREAD_CPUTIME_ID) < end) {
        FILE *file = fopen("/proc/self/exe", "rb");
        setvbuf(file, NULL, _IONBF, 0);
        while (fread(buffer, 1, sizeof buffer, file) == sizeof buffer)
            ;
        fclose(file);
    }
}

static int to_stopper;

/* A process that stops the calling one for so many milliseconds for each byte it reads. */
static void start_stopper(void)
{
    int ends[2];
    if (pipe(ends) || fork())
        return (void)(to_stopper = ends[1], close(ends[0]));
    unsigned char ms;
    close(ends[1]);
    while (read(ends[0], &ms, 1) == 1) {
        // By then the other one computes.
        usleep(1000);
        kill(getppid(), SIGSTOP);
        usleep(ms * 1000);
        kill(getppid(), SIGCONT);
    }
    _exit(0);
}

/* Computes until it has been stopped for so long, without system calls. On a busy machine it may be stopped while it still asks for that. */
static void be_stopped(double ms)
{
    unsigned char how_long = (unsigned char)ms;
    double last = now_s(CLOCK_MONOTONIC);
    if (write(to_stopper, &how_long, 1) != 1)
        exit(2);
    for (double now = now_s(CLOCK_MONOTONIC); now - last < ms * 0.9e-3; now = now_s(CLOCK_MONOTONIC)) {
        last = now;
        for (int i = 0; i < 20000; i++)
            sink = sink * 0.999 + 1e-9;
    }
}

static void nap(double ms)
{
    usleep((useconds_t)(ms * 1e3));
}

/* Does some work, and adds its time on a core to that of its kind, and its time asleep likewise. */
static void part(void (*work)(double), double *kind_s, double *off_core_s)
{
    double begin = now_s(CLOCK_MONOTONIC), cpu = now_s(CLOCK_THREAD_CPUTIME_ID), delay = delay_s();
    work(MS);
    cpu = now_s(CLOCK_THREAD_CPUTIME_ID) - cpu;
    delay = delay_s() - delay;
    *kind_s += cpu;
    no_core_s += delay;
    *off_core_s += now_s(CLOCK_MONOTONIC) - begin - cpu - delay;
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
    int rank, steps = argc > 1 ? atoi(argv[1]) : 60, goes_on = 1;
    double limit_s = argc > 2 ? atof(argv[2]) : 0;
    pthread_t other;
    cpu_set_t allowed, own;
    start_stopper();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* Each rank has another core, as far as there are. */
    sched_getaffinity(0, sizeof allowed, &allowed);
    CPU_ZERO(&own);
    for (int cpu = 0, nth = rank % CPU_COUNT(&allowed); cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &allowed) && nth-- == 0)
            CPU_SET((size_t)cpu, &own);
    pthread_create(&other, NULL, be_busy, NULL);
    double begin_s = now_s(CLOCK_MONOTONIC);
    for (int i = 0; i < steps && goes_on; i++) {
        cpu_set_t all;
        part(compute, &useful_s, &asleep_s);
        part(clear, &kernel_s, &asleep_s);
        part(read_file, &kernel_s, &asleep_s);
        part(nap, &asleep_s, &asleep_s);
        part(be_stopped, &useful_s, &stopped_s);
        sched_getaffinity(0, sizeof all, &all);
        sched_setaffinity(0, sizeof own, &own);
        pthread_setaffinity_np(other, sizeof own, &own);
        is_busy = 1;
        part(compute, &useful_s, &asleep_s);
        is_busy = 0;
        sched_setaffinity(0, sizeof all, &all);
        if (limit_s > 0) {
            goes_on = now_s(CLOCK_MONOTONIC) - begin_s < limit_s;
            MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
    }
    is_over = 1;
    pthread_join(other, NULL);
    close(to_stopper);
    FILE *file = truth(rank);
    fprintf(file, "useful %f\nkernel %f\nasleep %f\nstopped %f\nno core %f\n", useful_s, kernel_s, asleep_s, stopped_s, no_core_s);
    fclose(file);
    MPI_Finalize();
    return 0;
}
