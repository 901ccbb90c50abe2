// Threads that no run-time library reports. A pool of 2 std::thread is there before MPI_Init; in each of 10 steps one of them works for 20 ms of CPU time, the other for
// 5 ms, while the first thread waits for both. Then the first thread computes for 5 ms, and 2 threads of the C library's live for 10 ms each.
// Each thread adds its CPU time by its own clock to that of its pool. Written at the end, to $LBTEST_TRUTH.<rank>, one line each:
//     THREADS STARTED CPU_SECONDS NAME
//     elapsed SECONDS        from MPI_Init to MPI_Finalize
// ranks: 1
// link: -pthread
#include <mpi.h>
#include <pthread.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>

enum { STEPS = 10, THREADS = 2 };

static double clock_s(clockid_t clock)
{
    timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static volatile double spun;

/* Computes for so much CPU time of the thread, most of it in user space. */
static double compute(double ms)
{
    double begin_s = clock_s(CLOCK_THREAD_CPUTIME_ID), took_s;
    do {
        double x = 1;
        for (int i = 0; i < 20000; i++)
            x = x * 1.0000001 + 1e-9;
        spun = x;
        took_s = clock_s(CLOCK_THREAD_CPUTIME_ID) - begin_s;
    } while (took_s < 1e-3 * ms);
    return took_s;
}

static std::mutex lock;
static std::condition_variable turn;
static int step, done;
static double pool_s, born_s;

struct Worker {
    void operator()(int number) const
    {
        for (int own = 1; own <= STEPS; own++) {
            {
                std::unique_lock<std::mutex> held(lock);
                turn.wait(held, [own] { return step >= own; });
            }
            double took_s = compute(number == 0 ? 20 : 5);
            std::lock_guard<std::mutex> held(lock);
            pool_s += took_s;
            done++;
            turn.notify_all();
        }
    }
};

static void *live_shortly(void *)
{
    double took_s = compute(10);
    std::lock_guard<std::mutex> held(lock);
    born_s += took_s;
    return nullptr;
}

int main(int argc, char **argv)
{
    std::thread workers[THREADS];
    for (int i = 0; i < THREADS; i++)
        workers[i] = std::thread(Worker(), i);
    int level, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double begin_s = clock_s(CLOCK_MONOTONIC);
    for (int i = 1; i <= STEPS; i++) {
        {
            std::unique_lock<std::mutex> held(lock);
            step = i;
            turn.notify_all();
            turn.wait(held, [i] { return done == THREADS * i; });
        }
        compute(5);
        pthread_t born[THREADS];
        for (pthread_t &one : born)
            pthread_create(&one, nullptr, live_shortly, nullptr);
        for (pthread_t one : born)
            pthread_join(one, nullptr);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    double elapsed_s = clock_s(CLOCK_MONOTONIC) - begin_s;
    for (std::thread &one : workers)
        one.join();
    if (const char *path = std::getenv("LBTEST_TRUTH")) {
        FILE *out = std::fopen((std::string(path) + "." + std::to_string(rank)).c_str(), "w");
        std::fprintf(out, "%d %d %.6f std::thread of Worker\n", THREADS, THREADS, pool_s);
        std::fprintf(out, "%d %d %.6f live_shortly\n", THREADS, THREADS * STEPS, born_s);
        std::fprintf(out, "elapsed %.6f\n", elapsed_s);
        std::fclose(out);
    }
    MPI_Finalize();
    return 0;
}
