// Times rounds of MPI calls of a program whose own data have just filled the caches; scripts/bench runs it bare and recorded, on one rank.
//
//   cold KIND N KILOBYTES      KIND as in rounds.h; N: rounds; before each the program updates a line in each 64 bytes of so much memory
//
// Prints the median of the nanoseconds of a round, without its updates.

#include "rounds.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

static int compare(const void *a, const void *b) {
    unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;
    return (x > y) - (x < y);
}

static double monotonic_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    const struct kind *kind = argc == 4 ? kind_named(argv[1]) : NULL;
    long rounds = argc == 4 ? atol(argv[2]) : 0;
    size_t bytes = argc == 4 ? 1024 * (size_t)atol(argv[3]) : 0;
    if (!kind || rounds < 1 || bytes == 0) {
        fprintf(stderr, "usage: cold KIND ROUNDS KILOBYTES\n");
        return 2;
    }
    volatile char *swept = malloc(bytes);
    unsigned long long *took = malloc((size_t)rounds * sizeof *took);
    if (!swept || !took) return 1;
    memset((char *)swept, 1, bytes);
    MPI_Init(&argc, &argv);
    double began_ns = monotonic_ns();
    unsigned long long began = __rdtsc();
    for (long i = 0; i < rounds; i++) {
        for (size_t k = 0; k < bytes; k += 64) swept[k]++;
        _mm_mfence();
        unsigned long long before = __rdtsc();
        kind->round();
        _mm_lfence();
        took[i] = __rdtsc() - before;
    }
    double ns_per_tick = (monotonic_ns() - began_ns) / (double)(__rdtsc() - began);
    qsort(took, (size_t)rounds, sizeof *took, compare);
    printf("%.1f\n", ns_per_tick * (double)took[rounds / 2]);
    MPI_Finalize();
    return 0;
}
