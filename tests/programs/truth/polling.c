// ranks: 2
// truth: in each of 16 steps rank 0 works 60 ms and rank 1 works 20 ms; both send to the other, and wait for what the other sends, in each
// truth: step in another way: step 0 by MPI_Waitall, steps 1 to 13 by polling, MPI_Test among them with 2 us of work between the polls, and
// truth: with the polls in a function that also probes for what never comes, in step 12 with completions of nothing active between. All these are waits of 40 ms of rank 1 for rank 0. In the last two
// truth: steps rank 1 polls for progress: it works another 40 ms in pieces of 4 ms, with a poll that finds nothing between them. That is work: no
// truth: poll succeeds in the end, though it sleeps for its work.
// expect: computation[p] = 16 * 0.020 + (p == 0) * 16 * 0.040 + (p == 1) * 2 * 0.040
// expect: point-to-point[p] = (p == 1) * 14 * 0.040
// expect: waits[late sender] = 14 * 0.040
// expect: waits_for[1][0] = 14 * 0.040
// expect: caused[main/step][0] = 14 * 0.040
// expect: by_class.message_delay = 0
// expect: load_balance = (960 + 400) / 2 / 960
// expect: micro_load_balance = 1
// expect: t_ideal_replay_s = 16 * 0.060
// expect: saved[ideal network] = 0
// expect: iterations = 16
// expect: violations = 0
// expect: events_above[5000] = 0
#include "lbprof.h"
#include "work.h"

enum { STEPS = 16, DATA = 3, NEVER = 4 };

static MPI_Request to, from[2], prepared;
static int other, mine, theirs[3];

/* Nothing but time: no work.h, whose schedule these few microseconds are no part of. */
static void spin_us(double us)
{
    for (double end_s = now_s() + 1e-6 * us; now_s() < end_s;) {
    }
}

static void receive(void)
{
    MPI_Irecv(theirs, 1, MPI_INT, other, DATA, MPI_COMM_WORLD, from);
}

/* A completion that returns at once: none of its requests is active. */
static void complete_nothing(int which)
{
    MPI_Request none[2] = {MPI_REQUEST_NULL, prepared};
    int flag, index, count, indices[2];
    MPI_Status statuses[2];
    switch (which) {
    case 0: MPI_Wait(none, MPI_STATUS_IGNORE); break;
    case 1: MPI_Wait(none + 1, MPI_STATUS_IGNORE); break;
    case 2: MPI_Waitall(2, none, statuses); break;
    case 3: MPI_Waitany(2, none, &index, MPI_STATUS_IGNORE); break;
    case 4: MPI_Waitsome(2, none, &count, indices, statuses); break;
    case 5: MPI_Test(none, &flag, MPI_STATUS_IGNORE); break;
    case 6: MPI_Testall(2, none, &flag, statuses); break;
    default: MPI_Testsome(2, none, &count, indices, statuses); break;
    }
}

/* Waits for the other's message, in a way of the step's own. */
static void poll_for_message(int step)
{
    int flag = 0, count = 0, index, indices[2], found;
    MPI_Message message;
    MPI_Request two[2];
    if (step != 2 && step != 3)
        receive();
    switch (step) {
    case 1:
        while (!flag)
            MPI_Test(from, &flag, MPI_STATUS_IGNORE);
        break;
    case 2:
        while (!flag)
            MPI_Iprobe(other, DATA, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Recv(theirs, 1, MPI_INT, other, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case 3:
        while (!flag)
            MPI_Improbe(MPI_ANY_SOURCE, DATA, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(theirs, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        break;
    case 4:
        while (!flag)
            MPI_Testall(1, from, &flag, MPI_STATUSES_IGNORE);
        break;
    case 5:
        /* The send is complete at some time, the receive later. */
        two[0] = to, two[1] = from[0], to = MPI_REQUEST_NULL;
        for (int done = 0; done < 2; done += flag)
            MPI_Testany(2, two, &index, &flag, MPI_STATUS_IGNORE);
        break;
    case 6:
        two[0] = to, two[1] = from[0], to = MPI_REQUEST_NULL;
        for (int done = 0; done < 2; done += count)
            MPI_Testsome(2, two, &count, indices, MPI_STATUSES_IGNORE);
        break;
    case 7:
        while (!flag)
            MPI_Request_get_status(from[0], &flag, MPI_STATUS_IGNORE);
        MPI_Wait(from, MPI_STATUS_IGNORE);
        break;
    case 8:
        while (!flag) {
            MPI_Test(from, &flag, MPI_STATUS_IGNORE);
            if (!flag)
                spin_us(2);
        }
        break;
    case 9:
        while (!flag) {
            MPI_Test(from, &flag, MPI_STATUS_IGNORE);
            MPI_Iprobe(MPI_ANY_SOURCE, NEVER, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        }
        break;
    case 10:
        /* It gives up after some polls, and waits. */
        for (int i = 0; i < 1000 && !flag; i++)
            MPI_Test(from, &flag, MPI_STATUS_IGNORE);
        if (!flag)
            MPI_Wait(from, MPI_STATUS_IGNORE);
        break;
    case 11:
        /* Two receives of one array, polled one after the other; only one of them is for now. */
        MPI_Irecv(theirs + 1, 1, MPI_INT, other, NEVER, MPI_COMM_WORLD, from + 1);
        for (int done = 0; !done;)
            for (int i = 0; i < 2 && !done; i++) {
                MPI_Test(&from[i], &flag, MPI_STATUS_IGNORE);
                done = flag && i == 0;
            }
        MPI_Cancel(from + 1);
        MPI_Wait(from + 1, MPI_STATUS_IGNORE);
        break;
    case 12:
        for (int i = 0; !flag; i++) {
            MPI_Test(from, &flag, MPI_STATUS_IGNORE);
            complete_nothing(i / 1000 % 8);
        }
        break;
    default:
        while (!flag) {
            MPI_Test(from, &flag, MPI_STATUS_IGNORE);
            if (!flag)
                spin_us(0.2);
        }
        break;
    }
}

int main(int argc, char **argv)
{
    int rank, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    MPI_Recv_init(theirs + 2, 1, MPI_INT, other, NEVER, MPI_COMM_WORLD, &prepared);
    begin_schedule();
    for (int k = 0; k < STEPS; k++) {
        LBPROF_ITERATION_BEGIN("step");
        work(rank == 0 ? 60 : 20, 60 * k + (rank == 0 ? 60 : 20));
        MPI_Isend(&mine, 1, MPI_INT, other, DATA, MPI_COMM_WORLD, &to);
        if (k == 0) {
            receive();
            MPI_Waitall(1, from, MPI_STATUSES_IGNORE);
        } else if (k < STEPS - 2) {
            poll_for_message(k);
        } else {
            receive();
            flag = 0;
            for (int i = 0; i < 10 && rank == 1; i++) {
                work(4, 60 * k + 20 + 4 * (i + 1));
                if (!flag && i < 9)
                    MPI_Test(from, &flag, MPI_STATUS_IGNORE);
            }
            MPI_Wait(from, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&to, MPI_STATUS_IGNORE);
        LBPROF_ITERATION_END("step");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    end_schedule();
    MPI_Request_free(&prepared);
    MPI_Finalize();
    return 0;
}
