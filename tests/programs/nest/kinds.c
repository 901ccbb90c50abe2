// ranks: 4
// truth: programs whose loops are hard to find in their calls, by the first argument, a letter, with the number of iterations of their main loop.
// kind: a 60 the collective that ends a step is left out in every tenth
// kind: b 8 a cycle has 3 to 13 tracking steps
// each: b 3 13
// kind: c 100 messages only, and a line of output in every tenth step
// kind: d 40 one solver of 40 iterations is called from two places, which are two loops
// kind: e 20 subcycling: each step of a level calls itself for two of the next
// kind: f 0 an event loop: workers ask a master for tasks of different length, one of them is slower
// kind: g 19 a collective of all ranks ends a cycle, in which ranks make different numbers of exchanges
// kind: h 40 each rank sends to another partner in each step
// kind: i 40 the set-up takes longer than the loop
// kind: j 120 one of three branches ends a step, in some steps none
// kind: k 200 messages along three axes by one function, and a line of output in every seventh step
// kind: l 25 a cycle goes down and up levels by functions that call each other
// kind: m 0 an event loop of all ranks: each sends to others at random, and handles what comes by its tag
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static int rank, size, left, right;
static double in[1000], out[1000];

static void compute(int us)
{
    struct timespec time = {0, us * 1000L};
    nanosleep(&time, 0);
}

__attribute__((noinline)) static void exchange(int n)
{
    MPI_Request requests[4];
    MPI_Irecv(in, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + 500, n, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out + 500, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

__attribute__((noinline)) static double sum(double value)
{
    double all;
    MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void left_out_at_times(void)
{
    for (int step = 0; step < 60; step++) {
        compute(2000);
        exchange(400);
        compute(1000);
        if (step % 10 != 9)
            sum(step);
    }
}

__attribute__((noinline)) static void track(int steps)
{
    for (int step = 0; step < steps; step++) {
        compute(1000);
        exchange(200);
        sum(step);
    }
}

static void cycles(void)
{
    for (int cycle = 0; cycle < 8; cycle++) {
        MPI_Bcast(out, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        compute(3000);
        track(3 + cycle * 7 % 11);
        compute(2000);
        MPI_Reduce(out, in, 100, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}

static void output_at_times(void)
{
    for (int step = 0; step < 100; step++) {
        compute(1500);
        exchange(400);
        if (step % 10 == 9) {
            double energy = step, all;
            MPI_Reduce(&energy, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        }
    }
}

__attribute__((noinline)) static void solve(void)
{
    double rho = sum(1);
    for (int iteration = 0; iteration < 40; iteration++) {
        exchange(300);
        compute(1000);
        rho += sum(rho);
        compute(500);
        rho += sum(rho);
    }
}

static void two_solves(void)
{
    solve();
    compute(5000);
    MPI_Bcast(out, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    solve();
}

__attribute__((noinline)) static void advance(int level)
{
    exchange(100 << level);
    compute(1000);
    for (int sub = 0; sub < 2 && level < 2; sub++)
        advance(level + 1);
    if (level > 0)
        sum(level);
}

static void subcycling(void)
{
    for (int step = 0; step < 20; step++) {
        compute(500);
        advance(0);
    }
}

static void events(void)
{
    int task = 0, n_done = 0;
    MPI_Status status;
    if (rank == 0)
        while (n_done < size - 1) {
            int what = task < 150 ? task++ : -1;
            MPI_Recv(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
            MPI_Send(&what, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD);
            n_done += what < 0;
        }
    else
        while (task >= 0) {
            MPI_Send(out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
            MPI_Recv(&task, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &status);
            if (task >= 0)
                compute((500 + task * 37 % 11 * 300) * (rank == 1 ? 2 : 1));
        }
}

static void uneven_cycles(void)
{
    for (int cycle = 0; cycle < 19; cycle++) {
        for (int level = 0; level < 3; level++) {
            /* Neighbours have different numbers of parts on a level. */
            int n = 1 + (rank + level) % 2 + (rank + level + 1) % 2;
            for (int part = 0; part < n + (rank / 2 + cycle) % 2; part++)
                compute(300);
            for (int part = 0; part < n; part++)
                MPI_Sendrecv(out, 50, MPI_DOUBLE, rank ^ 1, 0, in, 50, MPI_DOUBLE, rank ^ 1, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
            if (rank < 2 && level == 1)
                for (int part = 0; part < 2 + cycle % 3; part++)
                    MPI_Sendrecv(out, 50, MPI_DOUBLE, rank ^ 1, 0, in, 50, MPI_DOUBLE, rank ^ 1, 0, MPI_COMM_WORLD,
                                 MPI_STATUS_IGNORE);
        }
        sum(cycle);
    }
}

static void random_partners(void)
{
    unsigned seed = 7;
    for (int step = 0; step < 40; step++) {
        seed = seed * 1103515245 + 12345;
        int shift = 1 + (int)(seed >> 16) % (size - 1);
        compute(2000);
        MPI_Request request;
        MPI_Isend(out, 300, MPI_DOUBLE, (rank + shift) % size, 0, MPI_COMM_WORLD, &request);
        MPI_Recv(in, 300, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void long_set_up(void)
{
    for (int part = 0; part < 3; part++) {
        compute(40000);
        MPI_Bcast(out, 100 << part, MPI_DOUBLE, part, MPI_COMM_WORLD);
    }
    compute(50000);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < 40; step++) {
        compute(rank == 1 ? 1500 : 500);
        exchange(400);
        sum(step);
    }
}

static void several_branches(void)
{
    for (int step = 0; step < 120; step++) {
        exchange(400);
        compute(1000);
        exchange(300);
        compute(500);
        if (step % 3 == 0)
            sum(step);
        else if (step % 7 == 0)
            MPI_Bcast(out, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        else if (step % 11 == 0)
            MPI_Allgather(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    }
}

__attribute__((noinline)) static void forces(void)
{
    for (int axis = 0; axis < 3; axis++) {
        MPI_Sendrecv(out, 300, MPI_DOUBLE, right, axis, in, 300, MPI_DOUBLE, left, axis, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, 300, MPI_DOUBLE, left, axis, in, 300, MPI_DOUBLE, right, axis, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    compute(1000);
}

static void axes(void)
{
    for (int step = 0; step < 200; step++) {
        forces();
        if (step % 7 == 6)
            sum(step);
    }
}

static void cycle(int level);

__attribute__((noinline)) static void coarser(int level)
{
    if (level < 4)
        cycle(level + 1);
    else
        sum(level);
}

__attribute__((noinline)) static void cycle(int level)
{
    exchange(400 >> level);
    compute(800 >> level);
    coarser(level);
    exchange(400 >> level);
}

static void mutual_recursion(void)
{
    for (int step = 0; step < 25; step++) {
        cycle(0);
        sum(step);
    }
}

static void free_events(void)
{
    unsigned seed = rank * 77 + 5;
    int to_send = 120 + rank * 30, n_ended = 0, what[32];
    MPI_Status status;
    while (n_ended < size - 1 || to_send >= 0) {
        int has_come = 0;
        if (to_send > 0) {
            compute(100);
            seed = seed * 1103515245 + 12345;
            int tag = (int)(seed >> 20) % 3;
            MPI_Send(what, 1 + 7 * tag, MPI_INT, (rank + 1 + (int)(seed >> 16) % (size - 1)) % size, tag, MPI_COMM_WORLD);
        } else if (to_send == 0) {
            for (int other = 0; other < size; other++)
                if (other != rank)
                    MPI_Send(what, 0, MPI_INT, other, 9, MPI_COMM_WORLD);
        } else {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            has_come = 1;
        }
        if (to_send >= 0) {
            to_send--;
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &has_come, &status);
        }
        if (has_come) {
            MPI_Recv(what, 32, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
            n_ended += status.MPI_TAG == 9;
            compute(200 + status.MPI_TAG * 300);
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size, right = (rank + 1) % size;
    switch (argc > 1 ? argv[1][0] : 'a') {
    case 'a': left_out_at_times(); break;
    case 'b': cycles(); break;
    case 'c': output_at_times(); break;
    case 'd': two_solves(); break;
    case 'e': subcycling(); break;
    case 'f': events(); break;
    case 'g': uneven_cycles(); break;
    case 'h': random_partners(); break;
    case 'j': several_branches(); break;
    case 'k': axes(); break;
    case 'l': mutual_recursion(); break;
    case 'm': free_events(); break;
    default: long_set_up();
    }
    MPI_Finalize();
    return 0;
}
