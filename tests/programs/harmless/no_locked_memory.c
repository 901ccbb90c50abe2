// ranks: 1
// wrapper: setpriv --bounding-set=-all --inh-caps=-all sh -c ulimit_-l_0;exec_"$@" sh
// records: Allreduce 1000
// end: finalize
// problems: NotSampled
// truth: the program's own events have taken all memory that its user may lock: there are no samples, which the report says, and nothing else changes
#define _GNU_SOURCE
#include "calls.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* Maps an event with so many pages for samples; whether there was memory for it. */
static int take(size_t pages)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = 1000000000, .sample_type = PERF_SAMPLE_IP, .exclude_kernel = 1, .exclude_hv = 1,
    };
    int event = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    if (event < 0)
        exit(2);
    void *page = mmap(0, (pages + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    close(event);
    return page != MAP_FAILED;
}

int main(int argc, char **argv)
{
    /* 512 MiB are far more than a user may lock. */
    size_t taken = 0;
    for (size_t pages = 1024; pages > 0; pages /= 2)
        while (take(pages))
            if ((taken += pages) > 131072)
                return 3;
    start(&argc, &argv);
    printf("%ld\n", reduce(1000));
    MPI_Finalize();
    return 0;
}
