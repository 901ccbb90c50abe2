/* An MPI of one rank with the binary interface of MPICH, of which nothing takes any time: under it a program can be started and
   ended thousands of times in some seconds. It goes in place of libmpich.so.12. Only what such programs and the recorder call is there.
   Each function has two names, MPI_X being weak, as in a real MPI. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUP 0x48000000
#define FUNCTION(name, arguments)                                                                                      \
    int PMPI_##name arguments;                                                                                         \
    __attribute__((weak, alias("PMPI_" #name))) int MPI_##name arguments;                                              \
    int PMPI_##name arguments

static int initialized, finalized;

FUNCTION(Init, (int *argc, char ***argv))
{
    (void)argc, (void)argv;
    initialized = 1;
    return 0;
}

FUNCTION(Init_thread, (int *argc, char ***argv, int required, int *provided))
{
    (void)argc, (void)argv;
    initialized = 1;
    *provided = required;
    return 0;
}

FUNCTION(Initialized, (int *flag))
{
    *flag = initialized;
    return 0;
}

FUNCTION(Finalize, (void))
{
    finalized = 1;
    return 0;
}

FUNCTION(Abort, (int comm, int code))
{
    (void)comm;
    _exit(code);
}

FUNCTION(Comm_rank, (int comm, int *rank))
{
    (void)comm;
    *rank = 0;
    return 0;
}

FUNCTION(Comm_size, (int comm, int *size))
{
    (void)comm;
    *size = 1;
    return 0;
}

FUNCTION(Comm_group, (int comm, int *group))
{
    (void)comm;
    *group = GROUP;
    return 0;
}

FUNCTION(Group_free, (int *group))
{
    *group = 0x08000000;
    return 0;
}

FUNCTION(Group_size, (int group, int *size))
{
    (void)group;
    *size = 1;
    return 0;
}

FUNCTION(Group_translate_ranks, (int from, int n, const int ranks[], int to, int translated[]))
{
    (void)from, (void)to;
    memcpy(translated, ranks, (size_t)n * sizeof *ranks);
    return 0;
}

FUNCTION(Comm_test_inter, (int comm, int *flag))
{
    (void)comm;
    *flag = 0;
    return 0;
}

FUNCTION(Topo_test, (int comm, int *status))
{
    (void)comm;
    *status = -32766; /* MPI_UNDEFINED */
    return 0;
}

FUNCTION(Comm_split, (int comm, int color, int key, int *made))
{
    (void)comm, (void)color, (void)key;
    *made = 0x44000001;
    return 0;
}

FUNCTION(Comm_free, (int *comm))
{
    *comm = 0x04000000;
    return 0;
}

FUNCTION(Get_library_version, (char *version, int *length))
{
    strcpy(version, "instant MPI of the tests");
    *length = (int)strlen(version);
    return 0;
}

FUNCTION(Allreduce, (const void *send, void *receive, int count, int datatype, int op, int comm))
{
    (void)send, (void)receive, (void)count, (void)datatype, (void)op, (void)comm;
    return 0;
}

FUNCTION(Gather, (const void *send, int n, int type, void *receive, int n_receive, int type_receive, int root, int comm))
{
    (void)n_receive, (void)type_receive, (void)root, (void)comm;
    memcpy(receive, send, (size_t)n * (size_t)(type >> 8 & 255));
    return 0;
}

FUNCTION(Bcast, (void *buffer, int count, int datatype, int root, int comm))
{
    (void)buffer, (void)count, (void)datatype, (void)root, (void)comm;
    return 0;
}
