// ranks: 4
// truth: iterative solvers as compilers optimize them, by the first argument, a letter: the number of steps where calls show them, else that of stages or
// truth: inner iterations, with the doubt that several of them are a step, because the code has a loop around them.
// kind: j 60 each step is an exchange and a sweep, every fourth has a residual
// kind: k 60 the same with a residual in every tenth
// kind: c 40 conjugate gradients: an exchange and two sums in each
// kind: w 40 a step of Runge and Kutta: four stages, each with an exchange, written out; a sum in every tenth
// kind: r 160 the same 40 steps by a loop of four stages, without a sum: calls show stages
// doubt: r period
// kind: s 12 the same by a loop of 60 steps, a sum in every fifth: calls show rounds of 20 stages
// doubt: s period
// kind: b 120 60 steps by a function that makes two half sweeps with an exchange each: calls show half sweeps
// doubt: b period
// kind: i 130 20 steps of 5 to 8 inner iterations, each with an exchange and a residual
// doubt: i period
#include <mpi.h>
#include <time.h>

#pragma GCC optimize("O3")

enum { N = 256 };

static int rank, size, up, down;
static double u[N + 2], v[N + 2], rates[4][N + 2];

static void rest(int us)
{
    struct timespec time = {0, us * 1000L};
    nanosleep(&time, 0);
}

static void exchange(double *values)
{
    MPI_Request requests[4];
    MPI_Irecv(values + N + 1, 1, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(values, 1, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(values + 1, 1, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(values + N, 1, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static double sum(double value)
{
    double all;
    MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static double sweep(const double *from, double *to, int us)
{
    double change = 0;
    for (int i = 1; i <= N; i++) {
        to[i] = 0.5 * (from[i - 1] + from[i + 1]);
        change += (to[i] - from[i]) * (to[i] - from[i]);
    }
    rest(rank == size / 2 ? 2 * us : us);
    return change;
}

static void jacobi(int every)
{
    for (int step = 0; step < 60; step++) {
        double *from = step % 2 ? v : u, *to = step % 2 ? u : v;
        exchange(from);
        double change = sweep(from, to, 1000);
        if (step % every == every - 1 && sum(change) < 0)
            break;
    }
}

static void conjugate_gradients(void)
{
    for (double step = 0, residual = 1; step < 40; step++) {
        exchange(u);
        double product = sum(sweep(u, v, 1000));
        rest(300);
        residual = sum(residual + product);
    }
}

static void advance(const double *rate, double factor)
{
    for (int i = 1; i <= N; i++)
        v[i] = u[i] + factor * rate[i];
}

static void finish_step(void)
{
    for (int i = 1; i <= N; i++)
        u[i] += 1e-3 * (rates[0][i] + 2 * rates[1][i] + 2 * rates[2][i] + rates[3][i]);
}

static void stages_written_out(void)
{
    for (int step = 0; step < 40; step++) {
        exchange(u);
        sweep(u, rates[0], 500);
        advance(rates[0], 0.5);
        exchange(v);
        sweep(v, rates[1], 500);
        advance(rates[1], 0.5);
        exchange(v);
        sweep(v, rates[2], 500);
        advance(rates[2], 1);
        exchange(v);
        sweep(v, rates[3], 500);
        finish_step();
        if (step % 10 == 9)
            sum(u[1]);
    }
}

static void loop_of_stages(int steps, int every)
{
    for (int step = 0; step < steps; step++) {
#pragma GCC unroll 1
        for (int stage = 0; stage < 4; stage++) {
            double *values = stage ? v : u;
            exchange(values);
            sweep(values, rates[stage], 500);
            advance(rates[stage], stage == 2 ? 1 : 0.5);
        }
        finish_step();
        if (every && step % every == every - 1)
            sum(u[1]);
    }
}

static __attribute__((noinline)) void sweep_twice(void)
{
#pragma GCC unroll 1
    for (int half = 0; half < 2; half++) {
        exchange(u);
        sweep(u, v, 500);
    }
}

static void half_sweeps(void)
{
    for (int step = 0; step < 60; step++)
        sweep_twice();
}

static void implicit_steps(void)
{
    for (int step = 0; step < 20; step++) {
        for (int i = 0; i < 5 + step % 4; i++) {
            exchange(u);
            if (sum(sweep(u, v, 500)) < 0)
                break;
        }
        rest(500);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = (rank + size - 1) % size, down = (rank + 1) % size;
    switch (argc > 1 ? argv[1][0] : 'j') {
    case 'k': jacobi(10); break;
    case 'c': conjugate_gradients(); break;
    case 'w': stages_written_out(); break;
    case 'r': loop_of_stages(40, 0); break;
    case 's': loop_of_stages(60, 5); break;
    case 'b': half_sweeps(); break;
    case 'i': implicit_steps(); break;
    default: jacobi(4);
    }
    MPI_Finalize();
    return 0;
}
