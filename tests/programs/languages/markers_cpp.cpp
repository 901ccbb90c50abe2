// ranks: 2
// problems: Paused
// maybe: UnevenPause
// truth: as markers_c, in C++, by scopes
#include <lbprof.h>
#include <mpi.h>
#include <cstdio>
#include <stdexcept>

static void balance()
{
    lbprof::phase in_balance("balance", LBPROF_CONTROL);
    LBPROF_RECORD(0);
    MPI_Barrier(MPI_COMM_WORLD);
    LBPROF_RECORD(1);
    // The phase ends by an exception, too.
    throw std::runtime_error("balanced");
}

int main(int argc, char **argv)
{
    int rank;
    LBPROF_PARAM("before MPI", 0.5);
    {
        lbprof::phase in_all("all");
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        LBPROF_PARAM("n", 42);
        {
            lbprof::phase in_setup("setup", LBPROF_SERIAL);
        }
        for (int i = 0; i < 3; i++) {
            lbprof::iteration in_step("step");
            {
                lbprof::phase in_force("force");
                MPI_Barrier(MPI_COMM_WORLD);
                LBPROF_WORK(100 * i, 10);
                LBPROF_COUNT("pairs", 1.5 * i + rank);
            }
            try {
                balance();
            } catch (const std::runtime_error &) {
            }
        }
        LBPROF_COUNT("pairs", -1);
    }
    std::printf("%d: done\n", rank);
    MPI_Finalize();
    LBPROF_PHASE_BEGIN("after MPI");
    LBPROF_PHASE_END("after MPI");
    return 0;
}
