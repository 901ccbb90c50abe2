// truth: in each of 20 steps both ranks work in `exchange`: before its second barrier for 10 ms, if the argument is `early`, else after it for 13 ms, and for 1 ms
// truth: in the other place. So 60 ms more are one reason, computation in `exchange`, where −180 ms and +240 ms by the calls around would be two.
#include "work.h"

#include <string.h>

static void exchange(int step, int is_early)
{
    double step_ms = is_early ? 11 : 14, begin_ms = step * step_ms, early_ms = is_early ? 10 : 1;
    MPI_Barrier(MPI_COMM_WORLD);
    work(early_ms, begin_ms + early_ms);
    MPI_Barrier(MPI_COMM_WORLD);
    work(step_ms - early_ms, begin_ms + step_ms);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_schedule();
    for (int step = 0; step < 20; step++)
        exchange(step, argc > 1 && !strcmp(argv[1], "early"));
    end_schedule();
    MPI_Finalize();
    return 0;
}
