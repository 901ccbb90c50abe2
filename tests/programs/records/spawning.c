// ranks: 2
// mpi: -mpich
// why: the MPICH of Debian, over UCX, cannot connect, join or spawn
// env: I_MPI_SPAWN=on
// why: without, Intel MPI takes shared memory alone on one host
// truth: the ranks start two more of this program, and then one and one; they talk to each. The new ones are not of the same world, so they
// truth: have no rank in it.
#include "expect.h"

/* What the parents say, a started rank answers. */
static int child(MPI_Comm parent)
{
    int number;
    MPI_Recv(&number, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    number++;
    MPI_Send(&number, 1, MPI_INT, 0, 1, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

static void talk(MPI_Comm comm, const char *label)
{
    Known on = known(comm, label);
    for (int i = 0; i < on.peers && world.rank == 0; i++) {
        int number = i;
        PLAIN(Send, (&number, 1, MPI_INT, i, 1, comm), .on = &on, .peer = i, .tag = 1, .sent = 4, .as = "point-to-point");
        PLAIN(Recv, (&number, 1, MPI_INT, i, 1, comm, MPI_STATUS_IGNORE), .on = &on, .peer = i, .tag = 1, .received = 4,
              .as = "point-to-point");
        printf("child %d of %s says %d\n", i, label, number);
    }
    PLAIN(Comm_disconnect, (&on.comm), .on = &on);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return child(parent);
    begin_expecting();
    activity = "management";
    PLAIN(Comm_spawn, (argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm, MPI_ERRCODES_IGNORE), .on = &world);
    talk(comm, "spawned");
    char *commands[] = {argv[0], argv[0]};
    int counts[] = {1, 1}, codes[2];
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    PLAIN(Comm_spawn_multiple, (2, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD, &comm, codes), .on = &world);
    talk(comm, "spawned-multiple");
    printf("%d: done\n", world.rank);
    MPI_Finalize();
    return 0;
}
