// ranks: 1
// records: Allreduce 2500
// problems: Unfinished
// end: finalize
// truth: C++ exceptions leave MPI calls from every kind of function that MPI calls back: reduction operations, error handlers, attribute
// truth: functions, generalised requests; calls go on being recorded
#include <stdexcept>

#include "calls.h"

static void throwing_op(void *, void *, int *, MPI_Datatype *) { throw std::runtime_error("operation"); }
static int throwing_copy(MPI_Comm, int, void *, void *, void *, int *) { throw std::runtime_error("copy"); }
static int throwing_query(void *, MPI_Status *) { throw std::runtime_error("query"); }
static int throwing_free(void *) { throw std::runtime_error("free"); }
static int throwing_cancel(void *, int) { throw std::runtime_error("cancel"); }
static void comm_errors(MPI_Comm *, int *, ...) { throw std::runtime_error("communicator"); }
static void file_errors(MPI_File *, int *, ...) { throw std::runtime_error("file"); }
static int no_free(void *) { return 0; }

static int throwing_delete(MPI_Comm, int, void *, void *)
{
    static int times;
    if (!times++)
        throw std::runtime_error("delete");
    return 0;
}

static int query(void *, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return 0;
}

template <class Call> static void attempt(Call call)
{
    try {
        call();
        printf("returned\n");
    } catch (std::exception &error) {
        printf("%s\n", error.what());
    }
    reduce(250);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    reduce(250);
    attempt([] {
        MPI_Op op;
        int some[2] = {1, 2}, others[2] = {3, 4};
        MPI_Op_create(throwing_op, 1, &op);
        MPI_Reduce_local(some, others, 2, MPI_INT, op);
    });
    attempt([&] {
        MPI_Errhandler handler;
        MPI_Comm other;
        int data = 0;
        MPI_Comm_dup(own, &other);
        MPI_Comm_create_errhandler(comm_errors, &handler);
        MPI_Comm_set_errhandler(other, handler);
        MPI_Send(&data, 1, MPI_INT, 99, 0, other);
    });
    attempt([] {
        MPI_Errhandler handler;
        MPI_File file;
        MPI_File_create_errhandler(file_errors, &handler);
        MPI_File_set_errhandler(MPI_FILE_NULL, handler);
        MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    });
    attempt([] {
        MPI_Request request;
        MPI_Grequest_start(throwing_query, no_free, throwing_cancel, nullptr, &request);
        MPI_Grequest_complete(request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
    attempt([] {
        MPI_Request request;
        MPI_Grequest_start(query, throwing_free, throwing_cancel, nullptr, &request);
        MPI_Grequest_complete(request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
    attempt([] {
        MPI_Request request;
        MPI_Grequest_start(query, no_free, throwing_cancel, nullptr, &request);
        MPI_Cancel(&request);
    });
    attempt([&] {
        MPI_Comm copy;
        int key;
        MPI_Comm_create_keyval(throwing_copy, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
        MPI_Comm_set_attr(own, key, nullptr);
        MPI_Comm_dup(own, &copy);
    });
    attempt([] {
        MPI_Comm comm;
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, throwing_delete, &key, nullptr);
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Comm_set_attr(comm, key, nullptr);
        MPI_Comm_free(&comm);
    });
    printf("%ld\n", reduce(250));
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
