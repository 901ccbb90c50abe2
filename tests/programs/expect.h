/* A program says what the record of each of its calls must hold, as it makes them: one line a record, in the file
 * $LBTEST_EXPECT.<rank>, and nothing where that variable is not set. support/expected.rs compares.
 *
 *     PLAIN(Barrier, (MPI_COMM_WORLD), .on = &world, .as = "synchronization");
 *     LARGE(Send, (buffer, 3, MPI_INT, right, 7, reversed.comm), .on = &reversed, .peer = right, .tag = 7, .sent = 12);
 *
 * call MPI_Barrier, and MPI_Send or MPI_Send_c, whichever this pass is about (see twice.h). PART says that a part of the call
 * follows. What is not named is absent, or 0 bytes. */
#ifndef EXPECT_H
#define EXPECT_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A communicator, and who is who in it. */
typedef struct {
    MPI_Comm comm;
    const char *label; /* the same on all members, different for each communicator */
    int rank;          /* of this process, in the local group */
    int size;          /* of the local group */
    int peers;         /* ranks that can be addressed: the remote group's of an inter-communicator */
    int to_world[64];  /* world ranks of those, MPI_UNDEFINED outside of MPI_COMM_WORLD */
} Known;

typedef struct {
    const Known *on;
    int peer, tag; /* peer: rank in the communicator */
    long long sent, received;
    const char *as;    /* activity; NULL: the one in `activity` */
    const char *flags; /* joined by commas; NULL: none. "group=1+2": the call was given the group of these ranks of the world */
} Expectation;

#define ABSENT (-9999)

/* The flags of a completion call that has no active request. */
#define INACTIVE "inactive,nothing"

static FILE *lines;
static Known world, self;
static const char *activity = "point-to-point";

static void check(int code, const char *call)
{
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        fprintf(stderr, "%s: %s\n", call, text);
        abort();
    }
}

static void expect(const char *function, Expectation e)
{
    if (!lines)
        return;
    fprintf(lines, "%s ", function);
    int to_world = e.on && e.peer >= 0 && e.peer < e.on->peers ? e.on->to_world[e.peer] : MPI_UNDEFINED;
    if (to_world >= 0)
        fprintf(lines, "%d ", to_world);
    else
        fprintf(lines, "- ");
    if (e.tag != ABSENT)
        fprintf(lines, "%d ", e.tag);
    else
        fprintf(lines, "- ");
    fprintf(lines, "%lld %lld ", e.sent, e.received);
    if (e.on)
        fprintf(lines, "%d %s ", e.on->peers, e.on->label);
    else
        fprintf(lines, "- - ");
    fprintf(lines, "%s %s\n", e.as ? e.as : activity, e.flags ? e.flags : "-");
    fflush(lines);
}

#define EXPECTED(...) ((Expectation){.peer = ABSENT, .tag = ABSENT, __VA_ARGS__})
#define PART(part, ...) expect(#part, EXPECTED(__VA_ARGS__))
#define PLAIN(function, arguments, ...)                                                                                        \
    do {                                                                                                                       \
        check(MPI_##function arguments, #function);                                                                            \
        expect(#function, EXPECTED(__VA_ARGS__));                                                                              \
    } while (0)
#define LARGE(function, arguments, ...)                                                                                        \
    do {                                                                                                                       \
        check(TWIN(MPI_##function) arguments, #function);                                                                      \
        expect(#function SUFFIX, EXPECTED(__VA_ARGS__));                                                                       \
    } while (0)

/* Who is who, by calls that are not recorded. */
static Known known(MPI_Comm comm, const char *label)
{
    Known known = {.comm = comm, .label = label};
    int inter;
    MPI_Group group, all;
    MPI_Comm_rank(comm, &known.rank);
    MPI_Comm_size(comm, &known.size);
    MPI_Comm_test_inter(comm, &inter);
    if (inter)
        MPI_Comm_remote_group(comm, &group);
    else
        MPI_Comm_group(comm, &group);
    MPI_Group_size(group, &known.peers);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int ranks[64];
    for (int i = 0; i < 64; i++)
        ranks[i] = i;
    MPI_Group_translate_ranks(group, known.peers, ranks, all, known.to_world);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    return known;
}

/* Begins after MPI_Init: who we are, the file. */
static void begin_expecting(void)
{
    world = known(MPI_COMM_WORLD, "world");
    /* Each process has its own MPI_COMM_SELF, so it has no label. */
    self = known(MPI_COMM_SELF, "-");
    const char *path = getenv("LBTEST_EXPECT");
    if (path) {
        char name[4096];
        snprintf(name, sizeof name, "%s.%d", path, world.rank);
        lines = fopen(name, "w");
        if (!lines) {
            perror(name);
            abort();
        }
    }
}

/* MPI_COMM_WORLD in reverse order, halves of even and of odd ranks, and the inter-communicator between the halves. */
static Known reversed, half, inter;

static void make_communicators(void)
{
    const char *before = activity;
    activity = "management";
    MPI_Comm comm;
    PLAIN(Comm_split, (MPI_COMM_WORLD, 0, -world.rank, &comm), .on = &world);
    reversed = known(comm, "reversed");
    PLAIN(Comm_split, (MPI_COMM_WORLD, world.rank % 2, world.rank, &comm), .on = &world);
    half = known(comm, world.rank % 2 ? "odd" : "even");
    PLAIN(Intercomm_create, (half.comm, 0, MPI_COMM_WORLD, 1 - world.rank % 2, 11, &comm), .on = &half);
    inter = known(comm, "inter");
    activity = before;
}

static void free_communicators(void)
{
    const char *before = activity;
    activity = "management";
    PLAIN(Comm_free, (&inter.comm), .on = &inter);
    PLAIN(Comm_free, (&half.comm), .on = &half);
    PLAIN(Comm_free, (&reversed.comm), .on = &reversed);
    activity = before;
}

#endif
