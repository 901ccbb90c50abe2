// ranks: 4
// mpi: -mpich -mpich5
// why: the MPICH of Debian, over UCX, cannot connect, join or spawn; the address of an MPICH 5 over UCX does not fit into its
// why: 256 characters of a port name (into the 1024 of the MPI-5 ABI it does)
// env: I_MPI_SPAWN=on
// why: without, Intel MPI takes shared memory alone on one host
// truth: the odd ranks connect to the even ones through a port and a published name; ranks 0 and 1 join over a socket
#include "expect.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static void talk(const Known *on)
{
    int out = 0, in;
    PLAIN(Sendrecv, (&out, 1, MPI_INT, on->rank, 6, &in, 1, MPI_INT, on->rank, 6, on->comm, MPI_STATUS_IGNORE), .on = on,
          .peer = on->rank, .tag = 6, .sent = 4, .as = "point-to-point");
    PART(Received, .on = on, .peer = on->rank, .tag = 6, .received = 4, .as = "point-to-point");
}

static void over_a_port(void)
{
    char port[MPI_MAX_PORT_NAME] = "", service[64];
    MPI_Comm comm;
    snprintf(service, sizeof service, "lbprof-test-%ld", (long)(world.rank == 0 ? getpid() : 0));
    PLAIN(Bcast, (service, sizeof service, MPI_CHAR, 0, MPI_COMM_WORLD), .on = &world, .peer = 0, .as = "collective",
          .sent = world.rank == 0 ? 64 : 0, .received = world.rank == 0 ? 0 : 64);
    if (world.rank == 0) {
        PLAIN(Open_port, (MPI_INFO_NULL, port));
        PLAIN(Publish_name, (service, MPI_INFO_NULL, port));
    }
    PLAIN(Barrier, (MPI_COMM_WORLD), .on = &world, .as = "synchronization");
    if (world.rank == 1)
        PLAIN(Lookup_name, (service, MPI_INFO_NULL, port));
    if (world.rank % 2 == 0)
        PLAIN(Comm_accept, (port, MPI_INFO_NULL, 0, half.comm, &comm), .on = &half);
    else
        PLAIN(Comm_connect, (port, MPI_INFO_NULL, 0, half.comm, &comm), .on = &half);
    Known connected = known(comm, "connected");
    talk(&connected);
    PLAIN(Comm_disconnect, (&connected.comm), .on = &connected);
    if (world.rank == 0) {
        PLAIN(Unpublish_name, (service, MPI_INFO_NULL, port));
        PLAIN(Close_port, (port));
    }
}

static void over_a_socket(void)
{
    MPI_Comm comm;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (world.rank == 0) {
        if (bind(fd, (struct sockaddr *)&address, length) || listen(fd, 1) || getsockname(fd, (struct sockaddr *)&address, &length))
            abort();
        PLAIN(Send, (&address.sin_port, 2, MPI_BYTE, 1, 3, MPI_COMM_WORLD), .on = &world, .peer = 1, .tag = 3, .sent = 2,
              .as = "point-to-point");
        fd = accept(fd, NULL, NULL);
    } else {
        PLAIN(Recv, (&address.sin_port, 2, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE), .on = &world, .peer = 0, .tag = 3,
              .received = 2, .as = "point-to-point");
        if (connect(fd, (struct sockaddr *)&address, length))
            abort();
    }
    check(MPI_Comm_join(fd, &comm), "Comm_join");
    Known joined = known(comm, "joined");
    PART(Comm_join, .on = &joined);
    talk(&joined);
    PLAIN(Comm_disconnect, (&joined.comm), .on = &joined);
    close(fd);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_expecting();
    make_communicators();
    activity = "management";
    over_a_port();
    if (world.rank < 2)
        over_a_socket();
    free_communicators();
    printf("%d: done\n", world.rank);
    MPI_Finalize();
    return 0;
}
