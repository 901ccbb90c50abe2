// ranks: 2
// end: finalize
// truth: with MPI_ERRORS_RETURN every error reaches the program as the MPI gave it
#include "calls.h"

static void tell(const char *what, int code)
{
    int class = -1, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Error_class(code, &class);
    MPI_Error_string(class, text, &length);
    if (rank == 0)
        printf("%s: class %d, %s\n", what, class, text);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int data[16] = {0};
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    tell("send to a rank that is not there", MPI_Send(data, 1, MPI_INT, size + 3, 1, MPI_COMM_WORLD));
    tell("receive from one", MPI_Recv(data, 1, MPI_INT, size + 3, 1, MPI_COMM_WORLD, &status));
    tell("start a receive from one", MPI_Irecv(data, 1, MPI_INT, size + 3, 1, MPI_COMM_WORLD, &request));
    tell("a negative count", MPI_Send(data, -1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    tell("a negative tag", MPI_Send(data, 1, MPI_INT, 0, -7, MPI_COMM_WORLD));
    tell("no datatype", MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD));
    tell("no communicator", MPI_Send(data, 1, MPI_INT, 0, 1, MPI_COMM_NULL));
    tell("a barrier on none", MPI_Barrier(MPI_COMM_NULL));
    tell("a root that is not there", MPI_Bcast(data, 1, MPI_INT, size + 3, MPI_COMM_WORLD));
    tell("splitting no communicator", MPI_Comm_dup(MPI_COMM_NULL, &(MPI_Comm){0}));
    if (rank == 0) {
        MPI_Request pair[2];
        MPI_Status both[2];
        MPI_Sendrecv(data, 8, MPI_INT, 0, 2, data + 8, 8, MPI_INT, 0, 2, MPI_COMM_WORLD, &status);
        MPI_Isend(data, 8, MPI_INT, 0, 3, MPI_COMM_SELF, &pair[0]);
        MPI_Irecv(data + 8, 2, MPI_INT, 0, 3, MPI_COMM_SELF, &pair[1]);
        int code = MPI_Waitall(2, pair, both);
        tell("a message that is too long", code);
        int class = 0;
        if (code == MPI_ERR_IN_STATUS) {
            MPI_Error_class(both[1].MPI_ERROR, &class);
            printf("in its status: class %d\n", class);
        }
        int flag = -1;
        MPI_Request null = MPI_REQUEST_NULL;
        printf("testing no request: %d", MPI_Test(&null, &flag, &status));
        printf(", flag %d, source %d\n", flag, status.MPI_SOURCE == MPI_ANY_SOURCE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
