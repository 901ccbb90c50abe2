// ranks: 2
// records: Allreduce 3000
// maybe: NotClosed Unfinished
// truth: both ranks exit(3) without MPI_Finalize; the launcher may kill the later one
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    reduce(3000);
    exit(3);
}
