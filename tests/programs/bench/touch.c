// Marks rounds of MPI calls for touched-lines, which counts the cache lines and pages that one round touches; scripts/bench runs it, on one rank.
//
//   touch KIND N      KIND as in rounds.h; N: rounds
//
// A round lies between two breakpoints, so that it can run under touched-lines alone.

#include "rounds.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    const struct kind *kind = argc == 3 ? kind_named(argv[1]) : NULL;
    if (!kind) {
        fprintf(stderr, "usage: touch KIND ROUNDS\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    void (*round)(void) = kind->round;
    for (long i = 0; i < atol(argv[2]); i++) {
        __asm__ volatile("int3" ::: "memory");
        round();
        __asm__ volatile("int3" ::: "memory");
    }
    MPI_Finalize();
    return 0;
}
