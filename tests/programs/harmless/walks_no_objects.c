// ranks: 1
// link: -rdynamic -ldl
// records: Barrier 64
// end: finalize
// truth: 64 calls, each by another path: none walks over the loaded objects, for that takes the loader's lock, which a fork in another thread would
// truth: leave taken in the child. The program has a function of that name itself, which counts
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>

#include "calls.h"

typedef int Visit(struct dl_phdr_info *, size_t, void *);

static volatile int counts, walks;

int dl_iterate_phdr(Visit *visit, void *data)
{
    static int (*next)(Visit *, void *);
    if (!next)
        next = (int (*)(Visit *, void *))dlsym(RTLD_NEXT, "dl_iterate_phdr");
    walks += counts;
    return next(visit, data);
}

static __attribute__((noinline)) void go(int depth, int bits);

static __attribute__((noinline)) void left(int depth, int bits)
{
    go(depth - 1, bits >> 1);
    __asm__ volatile("");
}

static __attribute__((noinline)) void right(int depth, int bits)
{
    go(depth - 1, bits >> 1);
    __asm__ volatile("");
}

static void go(int depth, int bits)
{
    if (depth == 0)
        MPI_Barrier(MPI_COMM_SELF);
    else if (bits & 1)
        left(depth, bits);
    else
        right(depth, bits);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    counts = 1;
    for (int bits = 0; bits < 64; bits++)
        go(6, bits);
    counts = 0;
    printf("%d walks\n", walks);
    MPI_Finalize();
    return 0;
}
