// ranks: 1
// problems: Paused PhaseMismatch
// maybe: UnevenPause
// end: finalize
// truth: MPI_Pcontrol takes any level, with and without further arguments, and errno stays
#include "calls.h"
#include <errno.h>

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int levels[] = {1, 0, 1, 2, 3, 4, 5, -5, -1, 100, -100, 2147483647, -2147483647 - 1};
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++) {
        errno = 77;
        int plain = MPI_Pcontrol(levels[i]), further = MPI_Pcontrol(levels[i], "a label", 3.5, &rank);
        printf("%d: %d %d, errno %d\n", levels[i], plain, further, errno);
    }
    printf("%ld\n", reduce(10));
    MPI_Finalize();
    return 0;
}
