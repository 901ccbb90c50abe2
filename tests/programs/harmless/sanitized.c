// ranks: 1
// link: -fsanitize=address
// env: LD_PRELOAD=
// env: ASAN_OPTIONS=detect_leaks=0
// records: Allreduce 1000
// end: finalize
// truth: the program is built with the address sanitizer, whose runtime ends it where a library is preloaded before the runtime, unless
// truth: it is set not to
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    printf("%ld\n", reduce(1000));
    MPI_Finalize();
    return 0;
}
