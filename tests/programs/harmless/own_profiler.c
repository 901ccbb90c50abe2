// ranks: 2
// records: Allreduce 1000
// end: finalize
// truth: the program profiles itself, by SIGPROF and by perf events of its own: it gets its signals and samples, and the recorder its own
#define _GNU_SOURCE
#include "calls.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>

static volatile sig_atomic_t signals;

static void on_profile(int signal)
{
    (void)signal;
    signals++;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    struct sigaction action = {.sa_handler = on_profile, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, 0);
    struct itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_PROF, &often, 0);
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = 1000000, .sample_type = PERF_SAMPLE_IP, .exclude_kernel = 1, .exclude_hv = 1,
    };
    int event = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    struct perf_event_mmap_page *page = mmap(0, 5 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (page == MAP_FAILED)
        return 2;
    long sum = reduce(1000);
    /* Until both have come. */
    volatile double x = 1;
    while (signals < 50 || *(volatile __u64 *)&page->data_head < 50 * 16)
        x = x * 1.0000001;
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &never, 0);
    printf("%ld, descriptor %d\n", sum, event < 100);
    MPI_Finalize();
    return 0;
}
