// ranks: 1
// mpi: openmpi
// link: -O1 -fno-optimize-sibling-calls
// Each call comes by a path of its own: for each bit of its number, the lowest first, zero() or one() calls the next function. First all numbers of
// 10 bits, three times, with the number as their tag; then 9,000 numbers of 24 bits, hardly one of them twice, with the tag 5000.
#include <mpi.h>

#define NOINLINE __attribute__((noinline))
#define GOES_ON __asm__ volatile("")

static int tag;

static void zero(int bits, long number);
static void one(int bits, long number);

NOINLINE static void helper(void) {
    int sent = 1, received;
    MPI_Sendrecv(&sent, 1, MPI_INT, 0, tag, &received, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    GOES_ON;
}

#define NEXT(bits, number)                                                                                             \
    do {                                                                                                               \
        if ((bits) == 0)                                                                                               \
            helper();                                                                                                  \
        else if ((number) & 1)                                                                                         \
            one((bits) - 1, (number) >> 1);                                                                            \
        else                                                                                                           \
            zero((bits) - 1, (number) >> 1);                                                                           \
        GOES_ON;                                                                                                       \
    } while (0)

NOINLINE static void zero(int bits, long number) { NEXT(bits, number); }
NOINLINE static void one(int bits, long number) { NEXT(bits, number); }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int round = 0; round < 3; round++)
        for (tag = 0; tag < 1 << 10; tag++)
            NEXT(10, tag);
    tag = 5000;
    unsigned long random = 1;
    for (int call = 0; call < 9000; call++) {
        random = random * 6364136223846793005ul + 1442695040888963407ul;
        NEXT(24, (long)(random >> 40));
    }
    MPI_Finalize();
    return 0;
}
