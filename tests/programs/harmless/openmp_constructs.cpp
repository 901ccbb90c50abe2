// ranks: 2
// link: -fopenmp
// env: OMP_CANCELLATION=true
// env: OMP_WAIT_POLICY=passive
// env: OMP_MAX_ACTIVE_LEVELS=2
// end: finalize
// truth: the constructs of OpenMP that call the run-time library give the results that they should: reductions by tasks, sections, copyprivate,
// truth: ordered, critical, locks, tasks with objects, dependences, events, taskloops, taskgroups, cancellation, exceptions and longjmp inside of
// truth: a region, teams that change, inner regions, two threads that start regions, and a child of a fork in between
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <csetjmp>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <mpi.h>
#include <omp.h>

static int failures = 0;

static void check(bool holds, const char *what)
{
    if (!holds) {
        printf("wrong: %s\n", what);
        failures++;
    }
}

/* An argument of a task that must be copied by its own function. */
struct Argument {
    std::string text;
    long number;
    explicit Argument(long number) : text(200, 'a'), number(number) {}
    Argument(const Argument &other) : text(other.text), number(other.number) {}
};

static void loops()
{
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(2)
    for (int i = 0; i < 100; i++)
        sum += i;
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : sum) num_threads(2)
    for (int i = 0; i < 100; i++)
        sum += i;
#pragma omp parallel for schedule(guided) reduction(+ : sum) num_threads(2)
    for (int i = 0; i < 100; i++)
        sum += i;
#pragma omp parallel for schedule(runtime) reduction(+ : sum) num_threads(2)
    for (int i = 0; i < 100; i++)
        sum += i;
    check(sum == 4 * 4950, "loops");
    std::string order;
#pragma omp parallel for ordered schedule(dynamic) num_threads(2)
    for (int i = 0; i < 10; i++) {
#pragma omp ordered
        order += char('0' + i);
    }
    check(order == "0123456789", "ordered");
    int cells[8][8] = {};
#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(2)
    for (int i = 1; i < 8; i++) {
#pragma omp ordered depend(sink : i - 1)
        cells[i][0] = cells[i - 1][0] + 1;
#pragma omp ordered depend(source)
    }
    check(cells[7][0] == 7, "doacross");
}

static void sections_and_locks()
{
    long sum = 0;
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
#pragma omp atomic
        sum += 1;
#pragma omp section
#pragma omp atomic
        sum += 2;
    }
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(2)
    {
        int shared = 0;
#pragma omp single copyprivate(shared)
        shared = 5;
#pragma omp critical
        sum += shared;
#pragma omp critical(named)
        sum += shared;
        omp_set_lock(&lock);
        sum += 1;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        sum += 1;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
    }
    check(sum == 3 + 2 * 12, "sections, single, critical and locks");
}

static void tasks()
{
    long sum = 0, chain = 0;
    omp_event_handle_t event;
#pragma omp parallel num_threads(2) shared(sum, chain, event)
#pragma omp single
    {
        for (int i = 0; i < 20; i++) {
            Argument argument(i);
#pragma omp task firstprivate(argument)
#pragma omp atomic
            sum += argument.number + long(argument.text.size());
        }
#pragma omp taskwait
        for (int i = 0; i < 10; i++) {
#pragma omp task depend(inout : chain) priority(i)
            chain = chain * 2 + 1;
        }
#pragma omp task depend(inout : chain) if (0)
        chain += 1;
#pragma omp taskgroup
        {
#pragma omp task
            {
#pragma omp task final(1)
#pragma omp atomic
                sum += 1;
            }
        }
#pragma omp taskyield
#pragma omp task detach(event)
#pragma omp atomic
        sum += 1;
        omp_fulfill_event(event);
    }
    check(sum == 190 + 20 * 200 + 2 && chain == 1024, "tasks");
    sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp taskloop grainsize(3)
        for (int i = 0; i < 100; i++)
#pragma omp atomic
            sum += i;
#pragma omp taskloop num_tasks(7) reduction(+ : sum)
        for (unsigned long long i = 0; i < 100; i++)
            sum += long(i);
    }
    check(sum == 2 * 4950, "taskloops");
    sum = 0;
#pragma omp parallel num_threads(2) reduction(task, + : sum)
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : sum)
        sum += i;
    }
    check(sum == 45, "reduction by tasks");
}

__attribute__((noinline)) static int jump()
{
    std::jmp_buf place;
    volatile int times = 0;
    if (!setjmp(place)) {
        times = 1;
        longjmp(place, 1);
    }
    return times;
}

static void leaves()
{
    int caught = 0, jumped = 0, found = 0;
#pragma omp parallel num_threads(2) reduction(+ : caught, jumped)
    {
        try {
            throw std::runtime_error("inside");
        } catch (const std::exception &) {
            caught++;
        }
        jumped += jump();
    }
#pragma omp parallel num_threads(2)
    {
#pragma omp for
        for (int i = 0; i < 1000; i++) {
            if (i == 10) {
#pragma omp atomic write
                found = 1;
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
#ifndef __clang__
        /* LLVM's run-time library, version 14, hangs in it, without lbprof too. */
#pragma omp cancel parallel
#endif
    }
    check(caught == 2, "exceptions"); check(jumped == 2, "jumps"); check(found == 1, "cancellation");
}

static void teams()
{
    int members = 0;
    for (int n = 1; n <= 5; n++) {
        omp_set_num_threads(n);
#pragma omp parallel reduction(+ : members)
        members++;
    }
#pragma omp parallel if (0) reduction(+ : members)
    members++;
#pragma omp parallel num_threads(2) reduction(+ : members)
    {
#pragma omp parallel num_threads(2) reduction(+ : members)
        {
#pragma omp barrier
            members++;
        }
    }
    check(members == 15 + 1 + 4, "teams");
    long others = 0, own = 0;
    std::thread other([&] {
        for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(2) reduction(+ : others)
            others++;
        }
    });
    for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(2) reduction(+ : own)
        own++;
    }
    other.join();
    check(others == 40 && own == 40, "two threads that start regions");
}

static void forks()
{
    pid_t child = fork();
    if (!child)
        _exit(7);
    int status = 0;
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "a child");
}

int main(int argc, char **argv)
{
    int level, all = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    for (int round = 0; round < 10; round++) {
        loops();
        sections_and_locks();
        tasks();
        leaves();
        teams();
        forks();
    }
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%s\n", all ? "wrong" : "right");
    MPI_Finalize();
    return all != 0;
}
