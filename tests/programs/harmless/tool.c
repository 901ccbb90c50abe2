/* A tool that wraps a function and passes it on, by the next definition or the standard's own name. Where LBTEST_CLAMP is set,
 * the process can open no files from the end of PMPI_Init on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int tool_calls_seen;

int PMPI_Allreduce(void *from, void *to, int count, void *datatype, void *op, void *comm)
{
    static int (*next)(void *, void *, int, void *, void *, void *);
    if (!next)
        next = (int (*)(void *, void *, int, void *, void *, void *))dlsym(RTLD_NEXT, "PMPI_Allreduce");
    tool_calls_seen++;
    return next(from, to, count, datatype, op, comm);
}

int MPI_Allreduce(void *from, void *to, int count, void *datatype, void *op, void *comm)
{
    return PMPI_Allreduce(from, to, count, datatype, op, comm);
}

void tool_clamp(void)
{
    int free = open("/dev/null", O_RDONLY);
    close(free);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)free;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int PMPI_Init(int *argc, char ***argv)
{
    int (*next)(int *, char ***) = (int (*)(int *, char ***))dlsym(RTLD_NEXT, "PMPI_Init");
    int result = next(argc, argv);
    if (getenv("LBTEST_CLAMP"))
        tool_clamp();
    return result;
}

int MPI_Init(int *argc, char ***argv)
{
    return PMPI_Init(argc, argv);
}
