/* Makes ranks that wait sleep for a moment when nothing arrives, so that more ranks than cores wait without delaying those that
 * work, and without being delayed by each other. Open MPI yields while it waits, which is not enough on a busy machine; MPICH
 * over UCX only spins. It is preloaded in bare and recorded runs alike. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/prctl.h>
#include <time.h>

enum { IDLE_POLLS = 200 };

/* The system may add 50 microseconds to each sleep, unless it is set not to. */
__attribute__((constructor)) static void sleep_exactly(void)
{
    prctl(PR_SET_TIMERSLACK, 1);
}

static void rest(void)
{
    struct timespec moment = {0, 50000};
    nanosleep(&moment, 0);
}

int sched_yield(void)
{
    rest();
    return 0;
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*next)(void *);
    static __thread int idle;
    if (!next)
        next = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (!next) {
        /* MPI was loaded privately. */
        void *ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
        next = (unsigned (*)(void *))dlsym(ucp, "ucp_worker_progress");
    }
    unsigned progressed = next(worker);
    if (progressed)
        idle = 0;
    else if (++idle > IDLE_POLLS)
        rest();
    return progressed;
}
