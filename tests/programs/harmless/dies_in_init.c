/* A preloaded tool that kills rank 1 when the recorder is about to write the header of its log, half a second after the other ranks: the launcher ends these,
 * too, and they are to have recorded something. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t write(int file, const void *bytes, size_t length)
{
    static ssize_t (*next)(int, const void *, size_t);
    if (!next)
        next = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    const char *rank = getenv("PMI_RANK");
    rank = rank ? rank : getenv("OMPI_COMM_WORLD_RANK");
    if (length >= 8 && rank && atoi(rank) == 1 && memcmp(bytes, "LBPROFLG", 8) == 0) {
        usleep(500000);
        kill(getpid(), SIGKILL);
    }
    return next(file, bytes, length);
}
