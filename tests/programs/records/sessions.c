// ranks: 4
// mpi: -openmpi
// why: sessions are new in MPI 4.0; Open MPI has them since 5.0
// truth: a program without MPI_Init: two sessions, a communicator of all and an inter-communicator from groups, in the first session
#include "expect.h"

int main(void)
{
    MPI_Session session, second;
    MPI_Group all, mine, others;
    MPI_Comm comm;
    check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "Session_init");
    check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second), "Session_init");
    check(MPI_Group_from_session_pset(session, "mpi://WORLD", &all), "Group_from_session_pset");
    MPI_Group_rank(all, &world.rank);
    MPI_Group_size(all, &world.size);
    const char *path = getenv("LBTEST_EXPECT");
    if (path) {
        char name[4096];
        snprintf(name, sizeof name, "%s.%d", path, world.rank);
        lines = fopen(name, "w");
    }
    activity = "management";
    /* World ranks are those of mpi://WORLD; the communicator has them in the same order. */
    check(MPI_Comm_create_from_group(all, "lbprof.test.all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), "Comm_create_from_group");
    Known on = {.comm = comm, .label = "all", .rank = world.rank, .size = world.size, .peers = world.size, .to_world = {0, 1, 2, 3}};
    PART(Comm_create_from_group, .on = &on);
    int right = (on.rank + 1) % on.size, left = (on.rank + on.size - 1) % on.size, out = 0, in;
    PLAIN(Sendrecv, (&out, 1, MPI_INT, right, 2, &in, 1, MPI_INT, left, 2, comm, MPI_STATUS_IGNORE), .on = &on, .peer = right,
          .tag = 2, .sent = 4, .as = "point-to-point");
    PART(Received, .on = &on, .peer = left, .tag = 2, .received = 4, .as = "point-to-point");

    int even = world.rank % 2 == 0;
    MPI_Group_incl(all, 2, even ? (int[]){0, 2} : (int[]){1, 3}, &mine);
    MPI_Group_incl(all, 2, even ? (int[]){1, 3} : (int[]){0, 2}, &others);
    check(MPI_Intercomm_create_from_groups(mine, 0, others, 0, "lbprof.test.inter", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
          "Intercomm_create_from_groups");
    Known between = {.comm = comm, .label = "between", .rank = world.rank / 2, .size = 2, .peers = 2};
    between.to_world[0] = even ? 1 : 0;
    between.to_world[1] = even ? 3 : 2;
    PART(Intercomm_create_from_groups, .on = &between);
    PLAIN(Sendrecv,
          (&out, 1, MPI_INT, between.rank, 3, &in, 1, MPI_INT, between.rank, 3, comm, MPI_STATUS_IGNORE), .on = &between,
          .peer = between.rank, .tag = 3, .sent = 4, .as = "point-to-point");
    PART(Received, .on = &between, .peer = between.rank, .tag = 3, .received = 4, .as = "point-to-point");
    PLAIN(Comm_disconnect, (&between.comm), .on = &between);

    /* The first session to end does not end the recording. */
    check(MPI_Session_finalize(&second), "Session_finalize");
    PLAIN(Barrier, (on.comm), .on = &on, .as = "synchronization");
    PLAIN(Comm_disconnect, (&on.comm), .on = &on);
    MPI_Group_free(&all);
    MPI_Group_free(&mine);
    MPI_Group_free(&others);
    printf("%d: done\n", world.rank);
    check(MPI_Session_finalize(&session), "Session_finalize");
    return 0;
}
