// ranks: 4
// truth: a file of its own folder written and read by each call that does; the tag of a record is the file's number
#ifndef TWIN
static int files; /* opened so far: the number of the next one */
static char name[4096];
#define AMODE (MPI_MODE_CREATE | MPI_MODE_RDWR)

#define SOURCE "records/files.c"
#include "twice.h"

static void acts(void);

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_expecting();
    make_communicators();
    activity = "io";
    const char *path = getenv("LBTEST_EXPECT");
    snprintf(name, sizeof name, "%s.data", path ? path : "bare");
    acts();
    BOTH(blocking);
    BOTH(nonblocking);
    BOTH(split);
    if (world.rank == 0)
        PLAIN(File_delete, (name, MPI_INFO_NULL));
    activity = "point-to-point";
    free_communicators();
    printf("%d: done\n", world.rank);
    MPI_Finalize();
    return 0;
}

static void acts(void)
{
    const Known *on = &reversed;
    int number = files++;
    MPI_File file;
    MPI_Offset offset;
    MPI_Info info;
    PLAIN(File_open, (on->comm, name, AMODE, MPI_INFO_NULL, &file), .on = on, .tag = number);
    PLAIN(File_set_size, (file, 0), .on = on, .tag = number);
    PLAIN(File_preallocate, (file, 4096), .on = on, .tag = number);
    PLAIN(File_get_size, (file, &offset), .on = on, .tag = number);
    MPI_Info_create(&info);
    PLAIN(File_set_info, (file, info), .on = on, .tag = number);
    MPI_Info_free(&info);
    PLAIN(File_set_atomicity, (file, 0), .on = on, .tag = number);
    PLAIN(File_set_view, (file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), .on = on, .tag = number);
    PLAIN(File_seek, (file, 3, MPI_SEEK_SET), .on = on, .tag = number);
    PLAIN(File_seek_shared, (file, 5, MPI_SEEK_SET), .on = on, .tag = number);
    PLAIN(File_get_position_shared, (file, &offset), .on = on, .tag = number);
    PLAIN(File_sync, (file), .on = on, .tag = number);
    PLAIN(File_close, (&file), .on = on, .tag = number);
}

#else

static MPI_File TWIN(open_file)(int number)
{
    MPI_File file;
    PLAIN(File_open, (reversed.comm, name, AMODE, MPI_INFO_NULL, &file), .on = &reversed, .tag = number);
    PLAIN(File_set_view, (file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), .on = &reversed, .tag = number);
    return file;
}

static void TWIN(blocking)(void)
{
    const Known *on = &reversed;
    int number = files++, me = on->rank;
    static int out[64], in[64];
    MPI_Status status;
    MPI_File file = TWIN(open_file)(number);
    PLAIN(File_seek, (file, 16 * me, MPI_SEEK_SET), .on = on, .tag = number);
    LARGE(File_write, (file, out, 3, MPI_INT, MPI_STATUS_IGNORE), .on = on, .tag = number, .sent = 12);
    LARGE(File_write_all, (file, out, 4, MPI_INT, MPI_STATUS_IGNORE), .on = on, .tag = number, .sent = 16);
    LARGE(File_write_at, (file, 16 * me + 7, out, 5, MPI_INT, &status), .on = on, .tag = number, .sent = 20);
    LARGE(File_write_at_all, (file, 16 * me, out, 6 + me, MPI_INT, &status), .on = on, .tag = number, .sent = 4 * (6 + me));
    LARGE(File_write_shared, (file, out, 2, MPI_INT, MPI_STATUS_IGNORE), .on = on, .tag = number, .sent = 8);
    LARGE(File_write_ordered, (file, out, 1 + me, MPI_INT, MPI_STATUS_IGNORE), .on = on, .tag = number, .sent = 4 * (1 + me));
    PLAIN(File_sync, (file), .on = on, .tag = number);
    PLAIN(Barrier, (on->comm), .on = on, .as = "synchronization");

    PLAIN(File_seek, (file, 0, MPI_SEEK_SET), .on = on, .tag = number);
    LARGE(File_read, (file, in, 3, MPI_INT, MPI_STATUS_IGNORE), .on = on, .tag = number, .received = 12);
    LARGE(File_read_all, (file, in, 4, MPI_INT, MPI_STATUS_IGNORE), .on = on, .tag = number, .received = 16);
    LARGE(File_read_at, (file, 16 * me, in, 5, MPI_INT, &status), .on = on, .tag = number, .received = 20);
    LARGE(File_read_at_all, (file, 16 * me, in, 6, MPI_INT, &status), .on = on, .tag = number, .received = 24);
    PLAIN(File_seek_shared, (file, 0, MPI_SEEK_SET), .on = on, .tag = number);
    LARGE(File_read_shared, (file, in, 2, MPI_INT, MPI_STATUS_IGNORE), .on = on, .tag = number, .received = 8);
    LARGE(File_read_ordered, (file, in, 1 + me, MPI_INT, MPI_STATUS_IGNORE), .on = on, .tag = number, .received = 4 * (1 + me));

    /* What is asked for beyond the end does not come. */
    PLAIN(Barrier, (on->comm), .on = on, .as = "synchronization");
    PLAIN(File_set_size, (file, 40), .on = on, .tag = number);
    LARGE(File_read_at, (file, 4, in, 20, MPI_INT, MPI_STATUS_IGNORE), .on = on, .tag = number, .received = 24);
    PLAIN(File_close, (&file), .on = on, .tag = number);
}

#define START(function, arguments, bytes_sent, bytes_received)                                                                 \
    do {                                                                                                                       \
        LARGE(function, arguments, .on = on, .tag = number, .sent = bytes_sent);                                               \
        PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = on, .tag = number, .sent = bytes_sent, .received = bytes_received);   \
    } while (0)

static void TWIN(nonblocking)(void)
{
    const Known *on = &reversed;
    int number = files++, me = on->rank;
    static int out[64], in[64];
    MPI_Request request;
    MPI_File file = TWIN(open_file)(number);
    PLAIN(File_seek, (file, 16 * me, MPI_SEEK_SET), .on = on, .tag = number);
    PLAIN(File_seek_shared, (file, 0, MPI_SEEK_SET), .on = on, .tag = number);
    START(File_iwrite, (file, out, 3, MPI_INT, &request), 12, 0);
    START(File_iwrite_all, (file, out, 4, MPI_INT, &request), 16, 0);
    START(File_iwrite_at, (file, 16 * me, out, 5, MPI_INT, &request), 20, 0);
    START(File_iwrite_at_all, (file, 16 * me, out, 6, MPI_INT, &request), 24, 0);
    START(File_iwrite_shared, (file, out, 2, MPI_INT, &request), 8, 0);
    PLAIN(File_sync, (file), .on = on, .tag = number);
    PLAIN(Barrier, (on->comm), .on = on, .as = "synchronization");
    PLAIN(File_seek, (file, 0, MPI_SEEK_SET), .on = on, .tag = number);
    PLAIN(File_seek_shared, (file, 0, MPI_SEEK_SET), .on = on, .tag = number);
    START(File_iread, (file, in, 3, MPI_INT, &request), 0, 12);
    START(File_iread_all, (file, in, 4, MPI_INT, &request), 0, 16);
    START(File_iread_at, (file, 16 * me, in, 5, MPI_INT, &request), 0, 20);
    START(File_iread_at_all, (file, 16 * me, in, 6, MPI_INT, &request), 0, 24);
    START(File_iread_shared, (file, in, 2, MPI_INT, &request), 0, 8);
    PLAIN(File_close, (&file), .on = on, .tag = number);
}
#undef START

/* The begin of a split write says what is to be written, its end what was; the same for reads. */
static void TWIN(split)(void)
{
    const Known *on = &reversed;
    int number = files++, me = on->rank;
    static int out[64], in[64];
    MPI_File file = TWIN(open_file)(number);
    PLAIN(File_seek, (file, 16 * me, MPI_SEEK_SET), .on = on, .tag = number);
    LARGE(File_write_all_begin, (file, out, 3, MPI_INT), .on = on, .tag = number, .sent = 12);
    PLAIN(File_write_all_end, (file, out, MPI_STATUS_IGNORE), .on = on, .tag = number, .sent = 12);
    LARGE(File_write_at_all_begin, (file, 16 * me, out, 4, MPI_INT), .on = on, .tag = number, .sent = 16);
    PLAIN(File_write_at_all_end, (file, out, MPI_STATUS_IGNORE), .on = on, .tag = number, .sent = 16);
    LARGE(File_write_ordered_begin, (file, out, 5, MPI_INT), .on = on, .tag = number, .sent = 20);
    PLAIN(File_write_ordered_end, (file, out, MPI_STATUS_IGNORE), .on = on, .tag = number, .sent = 20);
    PLAIN(File_sync, (file), .on = on, .tag = number);
    PLAIN(Barrier, (on->comm), .on = on, .as = "synchronization");
    PLAIN(File_seek, (file, 0, MPI_SEEK_SET), .on = on, .tag = number);
    PLAIN(File_seek_shared, (file, 0, MPI_SEEK_SET), .on = on, .tag = number);
    LARGE(File_read_all_begin, (file, in, 3, MPI_INT), .on = on, .tag = number);
    PLAIN(File_read_all_end, (file, in, MPI_STATUS_IGNORE), .on = on, .tag = number, .received = 12);
    LARGE(File_read_at_all_begin, (file, 0, in, 4, MPI_INT), .on = on, .tag = number);
    PLAIN(File_read_at_all_end, (file, in, MPI_STATUS_IGNORE), .on = on, .tag = number, .received = 16);
    LARGE(File_read_ordered_begin, (file, in, 5, MPI_INT), .on = on, .tag = number);
    PLAIN(File_read_ordered_end, (file, in, MPI_STATUS_IGNORE), .on = on, .tag = number, .received = 20);
    PLAIN(File_close, (&file), .on = on, .tag = number);
}
#endif
