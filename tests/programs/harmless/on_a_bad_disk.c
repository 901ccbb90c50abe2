// ranks: 2
// tool: programs/harmless/bad_disk.c
// buffer: 32K
// problems: Dropped Gap
// maybe: SamplesLost Truncated
// report: 4
// stderr: 2
// end: finalize
// truth: writing the log is interrupted, done in part, slow, or fails half-way, in turn: what was written stays whole, what was not is counted;
// truth: if the block with the definition of MPI_Finalize's call site is among what was not, that is reported, too
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    printf("%ld\n", reduce(20000));
    MPI_Finalize();
    return 0;
}
