/* Uses functions of later standards if the MPI has them, which a weak reference tells, and older ones if not, as mpi4py does. */
#include <mpi.h>
#include <stdio.h>

#define WEAK __attribute__((weak))

WEAK int MPI_Sendrecv_c(const void *, MPI_Count, MPI_Datatype, int, int, void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
WEAK int MPI_Isend_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
WEAK int MPI_Send_init_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
WEAK int MPI_Allgatherv_c(const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count[], const MPI_Aint[], MPI_Datatype, MPI_Comm);
WEAK int MPI_Iallgatherv_c(const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count[], const MPI_Aint[], MPI_Datatype, MPI_Comm, MPI_Request *);
WEAK int MPI_Get_count_c(const MPI_Status *, MPI_Datatype, MPI_Count *);
WEAK int MPI_Buffer_detach_c(void *, MPI_Count *);
WEAK int MPI_Comm_flush_buffer(MPI_Comm);
#if MPI_VERSION < 4
int MPI_Session_finalize(void *);
#endif
#pragma weak MPI_Session_finalize
WEAK int MPI_Bcast(void *, int, MPI_Datatype, int, MPI_Comm);
WEAK void mpi_bcast_c_f08_(void);
WEAK void mpi_session_finalize_(void);
WEAK void mpi_comm_flush_buffer_(void);
WEAK void MPI_No_such_function(void);

/* The same in a table, whose words the loader fills by another kind of relocation. */
static void *volatile const table[] = {
    (void *)MPI_Sendrecv_c, (void *)MPI_Isend_c, (void *)MPI_Comm_flush_buffer, (void *)mpi_comm_flush_buffer_, (void *)MPI_Bcast,
};

#define HAS(function) printf("%s %s\n", #function, (void *volatile){(void *)function} ? "yes" : "no")

/* The sum of what arrives. */
static int exchange(int rank, int size)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size, sum = 0, in = -1, all[16];
    MPI_Status status;
    MPI_Request requests[2];
    if (rank == 0) {
        HAS(MPI_Sendrecv_c);
        HAS(MPI_Isend_c);
        HAS(MPI_Send_init_c);
        HAS(MPI_Allgatherv_c);
        HAS(MPI_Iallgatherv_c);
        HAS(MPI_Get_count_c);
        HAS(MPI_Buffer_detach_c);
        HAS(MPI_Comm_flush_buffer);
        HAS(MPI_Session_finalize);
        HAS(MPI_Bcast);
        HAS(mpi_bcast_c_f08_);
        HAS(mpi_session_finalize_);
        HAS(mpi_comm_flush_buffer_);
        HAS(MPI_No_such_function);
        for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
            printf("table %u %s\n", i, table[i] ? "yes" : "no");
    }

    if (MPI_Sendrecv_c)
        MPI_Sendrecv_c(&rank, 1, MPI_INT, next, 1, &in, 1, MPI_INT, before, 1, MPI_COMM_WORLD, &status);
    else
        MPI_Sendrecv(&rank, 1, MPI_INT, next, 1, &in, 1, MPI_INT, before, 1, MPI_COMM_WORLD, &status);
    sum += in;
    if (MPI_Get_count_c) {
        MPI_Count count = 0;
        MPI_Get_count_c(&status, MPI_INT, &count);
        sum += 100 * (int)count;
    } else {
        int count = 0;
        MPI_Get_count(&status, MPI_INT, &count);
        sum += 100 * count;
    }

    MPI_Irecv(&in, 1, MPI_INT, before, 2, MPI_COMM_WORLD, &requests[0]);
    if (MPI_Isend_c)
        MPI_Isend_c(&rank, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[1]);
    else
        MPI_Isend(&rank, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    sum += in;

    MPI_Recv_init(&in, 1, MPI_INT, before, 3, MPI_COMM_WORLD, &requests[0]);
    if (MPI_Send_init_c)
        MPI_Send_init_c(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[1]);
    else
        MPI_Send_init(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        in = -1;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        sum += in;
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);

    MPI_Count counts_c[16];
    MPI_Aint displs_c[16];
    int counts[16], displs[16];
    for (int i = 0; i < size; i++)
        counts_c[i] = counts[i] = 1, displs_c[i] = displs[i] = i;
    if (MPI_Allgatherv_c)
        MPI_Allgatherv_c(&rank, 1, MPI_INT, all, counts_c, displs_c, MPI_INT, MPI_COMM_WORLD);
    else
        MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        sum += (i + 1) * all[i];
    if (MPI_Iallgatherv_c)
        MPI_Iallgatherv_c(&sum, 1, MPI_INT, all, counts_c, displs_c, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    else
        MPI_Iallgatherv(&sum, 1, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++)
        sum += all[i];
    return sum;
}
