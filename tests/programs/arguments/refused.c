// Calls every function of interpose/calls.table with an argument that is wrong: a null address, a handle that is none, a number
// that is too small or too large, one wrong argument at a time. Each line of the output says what MPI answered.
//
//     refused TABLE OUTCOMES FIRST SKIPPED
//
// OUTCOMES gets a line for each case: its number, function, argument, value, then the error class that MPI gave and how often the
// error handler was called, or the signal that the call ended with: then the next process is to go on with the case behind it (FIRST).
// SKIPPED holds the numbers of cases that are not to be called, for they end the process without the recorder, too.
//
// Where a library that refuses all calls is preloaded (tests/real_programs/arguments.rs), none reaches MPI, and all values are tried. Else those that
// MPI is likely to look at before it uses them.
//
// One rank, so that no call waits for another one. Calls that would wait for something all the same (a message, a connection) are
// given what they wait for, or a communicator that MPI refuses.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum { MOST = 16, PAGE = 4096 };
typedef long (*function_of_words)(long, long, long, long, long, long, long, long, long, long, long, long, long, long);

// A row of the table: a function and the names of its arguments.
struct row {
    char name[64];
    char arguments[MOST][32];
    int count;
};

static FILE *outcomes;
static char *skipped;
static int n_handled, number, first;
// Whether calls are refused: in the library that does so.
static int *refusing;

// What calls are given. The arrays lie between pages that cannot be touched, so that what runs over them harms nothing.
static char *room;
static long *garbage;
static MPI_Comm world;
static MPI_Win window;
static char folder[1024];

// Of the case at hand.
static MPI_Comm comm;
static MPI_File file;
static MPI_Request requests[2];
static MPI_Message message;
static int tag;

static int is(const char *name, const char *words) {
    char list[1024], *rest = list;
    snprintf(list, sizeof list, "%s", words);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        if (!strcmp(word, name)) return 1;
    return 0;
}

// Both names of a function: without the suffix of its twin for large counts.
static int fn(const struct row *row, const char *words) {
    char base[64];
    snprintf(base, sizeof base, "%s", row->name);
    size_t length = strlen(base);
    if (length > 2 && !strcmp(base + length - 2, "_c")) base[length - 2] = 0;
    return is(base, words);
}

static int begins(const struct row *row, const char *prefix) { return !strncmp(row->name, prefix, strlen(prefix)); }

static void on_comm(MPI_Comm *where, int *code, ...) { (void)where, (void)code, n_handled++; }
static void on_win(MPI_Win *where, int *code, ...) { (void)where, (void)code, n_handled++; }
static void on_file(MPI_File *where, int *code, ...) { (void)where, (void)code, n_handled++; }

// An array that ends where a page begins that cannot be read, or one with a page of zeros behind it.
static void *array(int which) { return room + (2 * which + 1) * PAGE; }
static void *buffer(int which) { return (char *)array(which) + PAGE - 64; }

static long word_of(const void *handle, size_t size) {
    long word = 0;
    memcpy(&word, handle, size);
    return word;
}
#define WORD(handle) word_of(&(handle), sizeof(handle))

// How a handle's address is passed, of which the function changes what is there.
static long at(int which, const void *handle, size_t size) {
    memset(array(which), 0, PAGE);
    memcpy(array(which), handle, size);
    return (long)array(which);
}
#define AT(which, handle) at(which, &(handle), sizeof(handle))

static long numbers(int which, int large, int number) {
    for (int i = 0; i < 8; i++) large ? (((MPI_Count *)array(which))[i] = number) : (((int *)array(which))[i] = number);
    return (long)array(which);
}

enum kind { COMM, DATATYPE, OP, GROUP, INFO, WIN, FILE_, REQUEST, MESSAGE, ERRHANDLER, HANDLE_AT, NUMBER, LENGTH, SIZE, NUMBERS, HANDLES, PLACE };

// What kind of argument this is.
static enum kind kind_of(const struct row *row, const char *name) {
    if (is(name, "comm comm_old local_comm peer_comm")) return fn(row, "Comm_free Comm_disconnect") ? HANDLE_AT : COMM;
    if (!strcmp(name, "intercomm")) return fn(row, "Intercomm_merge") ? COMM : PLACE;
    if (is(name, "datatype sendtype recvtype origin_datatype target_datatype result_datatype etype filetype")) return DATATYPE;
    if (!strcmp(name, "op")) return OP;
    if (is(name, "group local_group remote_group")) return GROUP;
    if (!strcmp(name, "info")) return INFO;
    if (!strcmp(name, "errhandler")) return ERRHANDLER;
    if (!strcmp(name, "win")) {
        if (begins(row, "Win_create") || begins(row, "Win_allocate")) return PLACE;
        return fn(row, "Win_free") ? HANDLE_AT : WIN;
    }
    if (!strcmp(name, "fh")) return fn(row, "File_open") ? PLACE : fn(row, "File_close") ? HANDLE_AT : FILE_;
    if (!strcmp(name, "request")) {
        if (fn(row, "Wait Test Request_free Cancel Start")) return HANDLE_AT;
        return fn(row, "Request_get_status Pready Pready_range Pready_list Parrived") ? REQUEST : PLACE;
    }
    if (!strcmp(name, "message")) return fn(row, "Mrecv Imrecv") ? HANDLE_AT : PLACE;
    if (is(name, "array_of_requests sendtypes recvtypes array_of_info")) return HANDLES;
    if (is(name, "recvcounts sendcounts displs sdispls rdispls sources destinations degrees weights sourceweights destweights "
                 "remain_dims periods dims edges array_of_partitions array_of_maxprocs")) return NUMBERS;
    if (!strcmp(name, "index")) return fn(row, "Graph_create") ? NUMBERS : PLACE;
    if (!strcmp(name, "flag")) return fn(row, "File_set_atomicity") ? NUMBER : PLACE;
    if (!strcmp(name, "size")) return begins(row, "Win_") || fn(row, "File_set_size File_preallocate") ? SIZE : PLACE;
    if (!strcmp(name, "offset")) return fn(row, "File_get_position_shared") ? PLACE : SIZE;
    if (is(name, "disp target_disp disp_unit")) return SIZE;
    if (is(name, "count incount length n indegree outdegree nnodes ndims partitions maxprocs sendcount recvcount origin_count "
                 "target_count result_count dest source root target_rank rank remote_leader local_leader partition partition_low "
                 "partition_high fd")) return LENGTH;
    if (is(name, "tag sendtag recvtag assert key color split_type high reorder amode whence lock_type")) return NUMBER;
    return PLACE;
}

// The value of an argument with which the call is good, or as good as it can be.
static long good(const struct row *row, int i) {
    static int byte_displacement;
    const char *name = row->arguments[i];
    int large = row->name[strlen(row->name) - 1] == 'c' && row->name[strlen(row->name) - 2] == '_';
    MPI_Comm none = MPI_COMM_NULL;
    switch (kind_of(row, name)) {
    case COMM: {
        // These would wait for others.
        int waits = !refusing && fn(row, "Intercomm_create Comm_accept Comm_connect Comm_spawn Comm_spawn_multiple");
        return waits ? WORD(none) : WORD(comm);
    }
    case DATATYPE: { MPI_Datatype type = MPI_INT; return WORD(type); }
    case OP: { MPI_Op op = MPI_SUM; return WORD(op); }
    case GROUP: { MPI_Group group; PMPI_Comm_group(comm, &group); return WORD(group); }
    case INFO: { MPI_Info info = MPI_INFO_NULL; return WORD(info); }
    case ERRHANDLER: { MPI_Errhandler handler = MPI_ERRORS_RETURN; return WORD(handler); }
    case WIN: return WORD(window);
    case FILE_: return WORD(file);
    case REQUEST: return WORD(requests[0]);
    case MESSAGE: return WORD(message);
    case HANDLE_AT:
        if (!strcmp(name, "comm")) {
            MPI_Comm own = comm;
            if (!refusing) MPI_Comm_dup(comm, &own);
            return AT(i, own);
        }
        if (!strcmp(name, "win") && !refusing) {
            MPI_Win own;
            MPI_Win_create(array(15), 64, 1, MPI_INFO_NULL, comm, &own);
            return AT(i, own);
        }
        if (!strcmp(name, "win")) return AT(i, window);
        if (!strcmp(name, "fh")) return AT(i, file);
        if (!strcmp(name, "message")) return AT(i, message);
        return AT(i, requests[0]);
    case HANDLES:
        if (!strcmp(name, "array_of_requests")) return AT(i, requests);
        if (!strcmp(name, "array_of_info")) { MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL}; return AT(i, infos); }
        { MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT}; return AT(i, types); }
    case NUMBERS:
        // The displacements of two blocks, from 0 and from 4 on, do not overlap.
        numbers(i, large, is(name, "recvcounts sendcounts dims degrees") ? 1 : 0);
        if (is(name, "displs rdispls sdispls")) {
            byte_displacement = 4;
            if (large) ((MPI_Aint *)array(i))[1] = byte_displacement; else ((int *)array(i))[1] = byte_displacement;
        }
        return (long)array(i);
    case NUMBER:
        if (is(name, "tag sendtag recvtag")) return tag;
        if (!strcmp(name, "amode")) return MPI_MODE_RDWR | MPI_MODE_CREATE;
        if (!strcmp(name, "whence")) return MPI_SEEK_SET;
        if (!strcmp(name, "lock_type")) return MPI_LOCK_EXCLUSIVE;
        return 0;
    case LENGTH:
        if (is(name, "dest source root target_rank rank remote_leader local_leader partition partition_low partition_high")) return 0;
        if (!strcmp(name, "fd")) return -1;
        if (is(name, "count incount") && strstr(row->name, "Start")) return 1;
        if (is(name, "count incount") && i < 1) return 2;
        return 1;
    case SIZE: return !strcmp(name, "target_disp") || !strcmp(name, "offset") ? 0 : 64;
    default: break;
    }
    if (strstr(name, "buf") || strstr(name, "addr") || strstr(name, "base")) return (long)buffer(i);
    if (!strcmp(name, "filename")) { snprintf(array(i), PAGE, "%s/other", folder); return (long)array(i); }
    if (!strcmp(name, "datarep")) { strcpy(array(i), "native"); return (long)array(i); }
    if (is(name, "command stringtag service_name port_name")) { strcpy(array(i), "lbtest"); return (long)array(i); }
    memset(array(i), 0, PAGE);
    return (long)array(i);
}

// The null handle of a kind.
static long null_of(enum kind kind) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Win win = MPI_WIN_NULL;
    MPI_File file = MPI_FILE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
    long nulls[] = {WORD(comm), WORD(datatype), WORD(op), WORD(group), WORD(info), WORD(win), WORD(file), WORD(request), WORD(message),
                    WORD(errhandler)};
    return nulls[kind];
}

// The wrong values for an argument, one after the other; 0: there are no more.
static int bad(const struct row *row, int i, int which, long *value, const char **what) {
    const char *name = row->arguments[i];
    int large = row->name[strlen(row->name) - 1] == 'c' && row->name[strlen(row->name) - 2] == '_';
    enum kind kind = kind_of(row, name);
    int handle = kind <= ERRHANDLER;
    if (kind == SIZE || kind == NUMBER || kind == LENGTH) {
        // A tag that is large and good would wait for a message.
        int n = kind == LENGTH ? 2 : 1;
        if (which >= n + (large && kind == LENGTH)) return 0;
        static const long values[] = {-12345, 0x7fffffff, 1L << 61};
        static const char *const names[] = {"negative", "huge", "immense"};
        *value = values[which], *what = names[which];
        return 1;
    }
    if (which == 0) { *value = 0, *what = "null"; return 1; }
    if (handle && which == 1) { *value = sizeof(MPI_Comm) == 4 ? 0x12345678 : (long)garbage, *what = "garbage"; return sizeof(MPI_Comm) == 4; }
    if (handle && which == 2) { *value = null_of(kind), *what = "null handle"; return 1; }
    if ((kind == HANDLE_AT || kind == HANDLES) && which <= 2) {
        // A null handle of another kind is no handle, either.
        MPI_Comm c = MPI_COMM_NULL; MPI_Win w = MPI_WIN_NULL; MPI_File f = MPI_FILE_NULL; MPI_Request r = MPI_REQUEST_NULL;
        MPI_Message m = MPI_MESSAGE_NULL; MPI_Datatype d = MPI_DATATYPE_NULL; MPI_Info n = MPI_INFO_NULL;
        size_t size = !strcmp(name, "fh") ? sizeof f : sizeof c;
        void *none = !strcmp(name, "comm") ? (void *)&c : !strcmp(name, "win") ? (void *)&w : !strcmp(name, "fh") ? (void *)&f
            : !strcmp(name, "message") ? (void *)&m : !strcmp(name, "array_of_info") ? (void *)&n : strstr(name, "types") ? (void *)&d : (void *)&r;
        long other = size == 4 ? 0x12345678 : (long)garbage;
        *value = which == 1 ? at(i, none, size) : at(i, &other, size);
        *what = which == 1 ? "address of a null handle" : "address of garbage";
        return 1;
    }
    if (kind == NUMBERS && which <= 2) {
        *value = numbers(i, large, which == 1 ? -12345 : 0x7fffffff);
        *what = which == 1 ? "negative numbers" : "huge numbers";
        return 1;
    }
    return 0;
}

// Such a send completes by itself, but not always before it is received.
static void send_to_self(void) {
    static int one = 1;
    MPI_Request request;
    MPI_Isend(&one, 1, MPI_INT, 0, tag, comm, &request);
    MPI_Request_free(&request);
}

// Before a call: what it needs. All of it is made by functions that are recorded, too.
static void prepare(const struct row *row) {
    comm = world, tag = 1 + number % 30000, file = MPI_FILE_NULL, message = MPI_MESSAGE_NULL;
    requests[0] = requests[1] = MPI_REQUEST_NULL;
    if (begins(row, "File_") && !fn(row, "File_open File_delete")) {
        char path[1100];
        snprintf(path, sizeof path, "%s/file", folder);
        MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    }
    if (fn(row, "Start Startall")) {
        for (int i = 0; i < 2; i++) MPI_Recv_init(array(14), 1, MPI_INT, MPI_PROC_NULL, tag, comm, &requests[i]);
    } else if (begins(row, "Wait") || begins(row, "Test") || begins(row, "Request_") || fn(row, "Cancel Pready Pready_range Pready_list Parrived")) {
        for (int i = 0; i < 2; i++) MPI_Irecv(array(14), 1, MPI_INT, 0, tag, comm, &requests[i]);
        for (int i = 0; i < 2; i++) send_to_self();
    } else if (fn(row, "Recv Probe Mprobe Iprobe Improbe Irecv Mrecv Imrecv")) {
        send_to_self();
        if (fn(row, "Mrecv Imrecv")) MPI_Mprobe(0, tag, comm, &message, MPI_STATUS_IGNORE);
    } else if (fn(row, "Send Bsend Rsend Ssend Isend Ibsend Irsend Issend")) {
        MPI_Irecv(array(14), 1, MPI_INT, 0, MPI_ANY_TAG, comm, &requests[0]);
    } else if (fn(row, "Put Get Accumulate Get_accumulate Fetch_and_op Compare_and_swap Rput Rget Raccumulate Rget_accumulate")) {
        MPI_Win_lock_all(0, window);
    }
}

// Takes an operation back that may never complete.
static void drop(MPI_Request *request) {
    int done = 0;
    if (*request == MPI_REQUEST_NULL || PMPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done) return;
    if (PMPI_Cancel(request) == MPI_SUCCESS) PMPI_Wait(request, MPI_STATUS_IGNORE);
}

// After a call that returned: what it made goes.
static void clear(const struct row *row, const long *words, int succeeded) {
    for (int i = 0; succeeded && i < row->count; i++) {
        const char *name = row->arguments[i];
        if (kind_of(row, name) != PLACE || !words[i]) continue;
        if (is(name, "newcomm newintercomm newintracomm comm_cart comm_graph comm_dist_graph") && !begins(row, "Comm_idup")) {
            if (*(MPI_Comm *)words[i] != MPI_COMM_NULL) MPI_Comm_free((MPI_Comm *)words[i]);
        } else if (!strcmp(name, "win")) {
            MPI_Win_free((MPI_Win *)words[i]);
        } else if (!strcmp(name, "fh")) {
            MPI_File_close((MPI_File *)words[i]);
        } else if (!strcmp(name, "request") && fn(row, "Irecv Imrecv Isendrecv Isendrecv_replace")) {
            drop((MPI_Request *)words[i]);
        } else if (!strcmp(name, "request") && !strstr(row->name, "_init") && !begins(row, "Grequest")) {
            int done;
            PMPI_Test((MPI_Request *)words[i], &done, MPI_STATUS_IGNORE);
        }
    }
    if (fn(row, "Send Bsend Rsend Ssend Isend Ibsend Irsend Issend")) drop(&requests[0]);
    if (!succeeded && begins(row, "Wait")) for (int i = 0; i < 2; i++) drop(&requests[i]);
    if (fn(row, "Put Get Accumulate Get_accumulate Fetch_and_op Compare_and_swap Rput Rget Raccumulate Rget_accumulate"))
        MPI_Win_unlock_all(window);
    if (fn(row, "Recv Probe Mprobe Iprobe Improbe Irecv")) {
        // The message is still there, unless it was received.
        int found;
        if (PMPI_Iprobe(0, tag, world, &found, MPI_STATUS_IGNORE) == MPI_SUCCESS && found)
            PMPI_Recv(array(14), 1, MPI_INT, 0, tag, world, MPI_STATUS_IGNORE);
    }
    if (file != MPI_FILE_NULL && !fn(row, "File_close")) MPI_File_close(&file);
}

// What a call that was left here has left of MPI is not to be used any more: another process goes on.
static void on_signal(int signal) {
    fprintf(outcomes, "signal %d\n", signal);
    fflush(outcomes);
    _exit(3);
}

static void alarm_after(int milliseconds) {
    struct itimerval timer = {.it_value = {.tv_usec = milliseconds * 1000}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

// Whether MPI looks at an argument before it uses it, in all that are known. Where one does not, the call crashes, and the next
// process takes long to start.
static int is_looked_at(const struct row *row, int i, const char *what) {
    const char *name = row->arguments[i];
    enum kind kind = kind_of(row, name);
    if (!fn(row, "Send Ssend Recv Isend Irecv Barrier Bcast Gather Gatherv Scatter Scatterv Alltoall Alltoallv Alltoallw Reduce Allreduce "
                 "Wait Test Waitall Testall Waitany Testany Waitsome Testsome Request_free Cancel Start Startall "
                 "Comm_free Comm_disconnect Comm_dup Comm_split Win_free Mrecv Imrecv"))
        return 0;
#ifdef MPICH
    if (kind == NUMBERS || (kind == HANDLES && strstr(name, "types"))) return 0;
#else
    if (strstr(what, "garbage") || fn(row, "Mrecv Imrecv")) return 0;
    if (!strcmp(what, "null") && fn(row, "Comm_free Comm_disconnect Win_free")) return 0;
#ifndef OPEN_MPI
    // MPICH's library of the MPI-5 ABI converts arrays first.
    if (kind == NUMBERS || kind == HANDLES || fn(row, "Waitall Testall Waitany Testany Waitsome Testsome")) return 0;
#endif
#endif
    switch (kind) {
    case DATATYPE: case OP: return !strcmp(what, "null handle") && !fn(row, "Gather Gatherv Scatter Scatterv Alltoallv Alltoallw");
    case COMM: case HANDLE_AT: case HANDLES: return 1;
    case NUMBERS: return !strcmp(what, "null");
    case LENGTH: return is(name, "dest source root") || (!strcmp(what, "negative") && is(name, "count incount") && !strstr(row->name, "educe"));
    case NUMBER: return !strcmp(what, "negative");
    default: return is(name, "request newcomm flag index outcount message array_of_indices");
    }
}

// One case; what came of it goes to the outcomes.
static void try(const struct row *row, function_of_words function, int i, int which) {
    long words[14] = {0}, value = 0;
    const char *what = NULL;
    if (!bad(row, i, which, &value, &what)) return;
    if (!refusing && !is_looked_at(row, i, what)) return;
    fprintf(outcomes, "%d MPI_%s %s %s: ", number, row->name, row->arguments[i], what);
    fflush(outcomes);
    alarm_after(200);
    if (!refusing) prepare(row);
    for (int k = 0; k < row->count; k++) words[k] = good(row, k);
    bad(row, i, which, &words[i], &what);
    // So much data is not there: MPI has to refuse something else.
    int data = !refusing && strstr(row->arguments[i], "count") && is(what, "huge immense");
    for (int k = 0; data && k < row->count; k++) {
        enum kind kind = kind_of(row, row->arguments[k]);
        if (kind == COMM || kind == WIN || kind == FILE_) words[k] = null_of(kind);
    }
    n_handled = 0;
    if (refusing) *refusing = 1;
    int code = (int)function(words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7], words[8], words[9], words[10],
                             words[11], words[12], words[13]);
    int class = -1, handled = n_handled;
    if (refusing) *refusing = 0;
    PMPI_Error_class(code, &class);
    if (!refusing) clear(row, words, code == MPI_SUCCESS);
    alarm_after(0);
    fprintf(outcomes, "class %d, handled %d\n", class, handled);
}

static void try_all(const struct row *row) {
    char name[80], profiling[80];
    snprintf(name, sizeof name, "MPI_%s", row->name);
    snprintf(profiling, sizeof profiling, "PMPI_%s", row->name);
    function_of_words function = (function_of_words)dlsym(RTLD_DEFAULT, name);
    for (int i = 0; i < row->count; i++) {
        for (int which = 0; which < 3; which++, number++) {
            // The recorder has all functions, also those that the MPI library does not have.
            if (!dlsym(RTLD_DEFAULT, profiling) || !function || skipped[number] || number < first) continue;
            try(row, function, i, which);
        }
    }
}

// Reads a row: `Send  c  (buf, count, ...)  ...`; 0: the line is none.
static int parse(char *line, struct row *row, int *large) {
    char twin[8];
    char *open = strchr(line, '('), *close = open ? strchr(open, ')') : NULL;
    if (*line == '#' || !close || sscanf(line, "%60s %7s", row->name, twin) != 2) return 0;
    *large = twin[0] == 'c', *close = 0, row->count = 0;
    for (char *rest = open + 1, *word; (word = strtok_r(rest, ", ", &rest)) && row->count < 14;)
        snprintf(row->arguments[row->count++], 32, "%s", word);
    return 1;
}

int main(int argc, char **argv) {
    char line[2048];
    struct row row;
    int large, periodic = 1, one = 1;
    MPI_Errhandler of_comms, of_wins, of_files;
    MPI_Init(&argc, &argv);
    if (argc < 5) return 2;
    FILE *table = fopen(argv[1], "r"), *skip = fopen(argv[4], "r");
    first = atoi(argv[3]);
    /* A launch that is repeated begins anew. */
    outcomes = fopen(argv[2], first ? "a" : "w");
    refusing = dlsym(RTLD_DEFAULT, "lbtest_refusing");
    if (!table || !outcomes || !getcwd(folder, sizeof folder)) return 2;
    skipped = calloc(1 << 16, 1);
    for (int n; skip && fscanf(skip, "%d", &n) == 1;) skipped[n & 0xffff] = 1;

    MPI_Comm_create_errhandler(on_comm, &of_comms);
    MPI_Win_create_errhandler(on_win, &of_wins);
    MPI_File_create_errhandler(on_file, &of_files);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_comms);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, of_comms);
    MPI_File_set_errhandler(MPI_FILE_NULL, of_files);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &one, &periodic, 0, &world);
    MPI_Comm_set_errhandler(world, of_comms);

    size_t bytes = 34 * PAGE;
    room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 16; i++) mprotect(array(i), PAGE, PROT_READ | PROT_WRITE);
    garbage = calloc(1, 1 << 16);
    MPI_Win_create(array(15), 64, 1, MPI_INFO_NULL, world, &window);
    MPI_Win_set_errhandler(window, of_wins);

    comm = world, tag = 1;
    if (refusing) {
        char path[1100];
        snprintf(path, sizeof path, "%s/file", folder);
        MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
        send_to_self();
        MPI_Mprobe(0, tag, comm, &message, MPI_STATUS_IGNORE);
        for (int i = 0; i < 2; i++) MPI_Irecv(array(14), 1, MPI_INT, 0, tag, comm, &requests[i]);
    }
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
    int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, NULL);
    while (fgets(line, sizeof line, table)) {
        if (!parse(line, &row, &large)) continue;
        try_all(&row);
        if (large) {
            strcat(row.name, "_c");
            try_all(&row);
        }
    }
    fprintf(outcomes, "end\n");
    fclose(outcomes);
    // What was refused may have left MPI in any state.
    _exit(0);
}
