// ranks: 2
// env: LBPROF_SAMPLE=200
// truth: in each of 11 steps rank 0 works 60 ms and rank 1 works 20 ms, then rank 1 polls for the message of rank 0 and sleeps between the polls, in
// truth: each step in another way: in usleep, nanosleep, select, poll, at a condition variable, for 0.05 to 1 ms; in step 5 it yields its core. Though rank 1
// truth: is in no MPI call then, all this is waiting, 40 ms in each step.
// expect: computation[p] = 11 * 0.020 + (p == 0) * 11 * 0.040
// expect: point-to-point[p] = (p == 1) * 11 * 0.040
// expect: waits[late sender] = 11 * 0.040
// expect: caused[main/step][0] = 11 * 0.040
// expect: load_balance = 40 / 60
// expect: micro_load_balance = 1
// expect: iterations = 11
#include "lbprof.h"
#include "work.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/select.h>
#include <unistd.h>

enum { STEPS = 11, DATA = 3, NEVER = 4 };

static MPI_Request to, from;
static int other, mine, theirs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void sleep_at_condition(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += 1000000;
    if (end.tv_nsec >= 1000000000)
        end.tv_sec++, end.tv_nsec -= 1000000000;
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&never, &mutex, &end);
    pthread_mutex_unlock(&mutex);
}

static void sleep_between_polls(int way)
{
    struct timespec half = {0, 500000};
    struct timeval brief = {0, 300};
    switch (way) {
    case 1: nanosleep(&half, NULL); break;
    case 2: select(0, NULL, NULL, NULL, &brief); break;
    case 3: poll(NULL, 0, 1); break;
    case 4: clock_nanosleep(CLOCK_MONOTONIC, 0, &half, NULL); break;
    case 5: sched_yield(); break;
    case 8: sleep_at_condition(); break;
    default: usleep(way == 0 ? 50 : 200); break;
    }
}

/* A function of its own around the poll, as libraries have it. */
static int has_arrived(void)
{
    int flag;
    MPI_Test(&from, &flag, MPI_STATUS_IGNORE);
    return flag;
}

/* Whether the message has come. It is received in the end where the poll does not do so itself. */
static int has_come(int way)
{
    int flag = 0, index, count = 0;
    MPI_Message message;
    switch (way) {
    case 1: MPI_Testany(1, &from, &index, &flag, MPI_STATUS_IGNORE); return flag;
    case 2: MPI_Testsome(1, &from, &count, &index, MPI_STATUSES_IGNORE); return count;
    case 3: MPI_Iprobe(other, DATA, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); break;
    case 4:
        MPI_Improbe(MPI_ANY_SOURCE, DATA, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
        if (flag)
            MPI_Mrecv(&theirs, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        return flag;
    case 5: MPI_Testall(1, &from, &flag, MPI_STATUSES_IGNORE); return flag;
    case 6:
        for (int tag = NEVER; tag >= DATA && !flag; tag--)
            MPI_Iprobe(other, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        break;
    case 7: return has_arrived();
    case 9:
        MPI_Request_get_status(from, &flag, MPI_STATUS_IGNORE);
        if (flag)
            MPI_Wait(&from, MPI_STATUS_IGNORE);
        return flag;
    default: MPI_Test(&from, &flag, MPI_STATUS_IGNORE); return flag;
    }
    if (flag)
        MPI_Recv(&theirs, 1, MPI_INT, other, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return flag;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    begin_schedule();
    for (int k = 0; k < STEPS; k++) {
        int probes = k == 3 || k == 4 || k == 6;
        LBPROF_ITERATION_BEGIN("step");
        work(rank == 0 ? 60 : 20, 60 * k + (rank == 0 ? 60 : 20));
        MPI_Isend(&mine, 1, MPI_INT, other, DATA, MPI_COMM_WORLD, &to);
        if (rank == 0) {
            MPI_Recv(&theirs, 1, MPI_INT, other, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            if (!probes)
                MPI_Irecv(&theirs, 1, MPI_INT, other, DATA, MPI_COMM_WORLD, &from);
            while (!has_come(k))
                sleep_between_polls(k);
        }
        MPI_Wait(&to, MPI_STATUS_IGNORE);
        LBPROF_ITERATION_END("step");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    end_schedule();
    MPI_Finalize();
    return 0;
}
