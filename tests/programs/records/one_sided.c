// ranks: 4
// truth: windows of each kind on a communicator whose ranks are not those of the world; transfers under fences, under post and
// truth: start, under locks; the tag of a record is the window's number, and records of post and start name their groups
#ifndef TWIN
static int windows; /* made so far: the number of the next one */

#define SOURCE "records/one_sided.c"
#include "twice.h"

static void synchronisation(void);

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_expecting();
    make_communicators();
    activity = "one-sided";
    BOTH(transfers);
    synchronisation();
    activity = "point-to-point";
    free_communicators();
    printf("%d: done\n", world.rank);
    MPI_Finalize();
    return 0;
}

static void synchronisation(void)
{
    const Known *on = &reversed;
    int right = (on->rank + 1) % on->size, left = (on->rank + on->size - 1) % on->size, flag;
    int *memory, value = 0, result = 0, one = 1, number = windows++;
    MPI_Group group, rights, lefts;
    MPI_Win win;
    MPI_Info info;
    char of_rights[32], of_lefts[32];
    snprintf(of_rights, sizeof of_rights, "group=%d", on->to_world[right]);
    snprintf(of_lefts, sizeof of_lefts, "group=%d", on->to_world[left]);
    MPI_Comm_group(on->comm, &group);
    MPI_Group_incl(group, 1, &right, &rights);
    MPI_Group_incl(group, 1, &left, &lefts);

    PLAIN(Win_allocate, (64, 4, MPI_INFO_NULL, on->comm, &memory, &win), .on = on, .tag = number);
    MPI_Info_create(&info);
    PLAIN(Win_set_info, (win, info), .on = on, .tag = number);
    MPI_Info_free(&info);

    /* Left exposes, right is written to. */
    PLAIN(Win_post, (lefts, 0, win), .on = on, .tag = number, .flags = of_lefts);
    PLAIN(Win_start, (rights, 0, win), .on = on, .tag = number, .flags = of_rights);
    PLAIN(Put, (&value, 1, MPI_INT, right, 0, 1, MPI_INT, win), .on = on, .peer = right, .tag = number, .sent = 4);
    PLAIN(Win_complete, (win), .on = on, .tag = number);
    PLAIN(Win_wait, (win), .on = on, .tag = number);
    PLAIN(Win_post, (lefts, 0, win), .on = on, .tag = number, .flags = of_lefts);
    PLAIN(Win_start, (rights, 0, win), .on = on, .tag = number, .flags = of_rights);
    PLAIN(Win_complete, (win), .on = on, .tag = number);
    for (flag = 0; !flag;)
        check(MPI_Win_test(win, &flag), "Win_test");
    PART(Win_test, .on = on, .tag = number);
    /* Of two neighbours; those of two ranks are other ones with the same handle, maybe. */
    MPI_Group_free(&lefts);
    MPI_Group_incl(group, 2, (int[]){left, right}, &lefts);
    snprintf(of_rights, sizeof of_rights, "group=%d+%d", on->to_world[left], on->to_world[right]);
    PLAIN(Win_post, (lefts, 0, win), .on = on, .tag = number, .flags = of_rights);
    PLAIN(Win_start, (lefts, 0, win), .on = on, .tag = number, .flags = of_rights);
    PLAIN(Win_complete, (win), .on = on, .tag = number);
    PLAIN(Win_wait, (win), .on = on, .tag = number);

    PLAIN(Win_lock, (MPI_LOCK_EXCLUSIVE, right, 0, win), .on = on, .peer = right, .tag = number, .flags = "exclusive");
    PLAIN(Win_unlock, (right, win), .on = on, .peer = right, .tag = number);
    PLAIN(Win_lock, (MPI_LOCK_SHARED, right, 0, win), .on = on, .peer = right, .tag = number);
    PLAIN(Fetch_and_op, (&one, &result, MPI_INT, right, 1, MPI_SUM, win), .on = on, .peer = right, .tag = number, .sent = 4,
          .received = 4);
    PLAIN(Win_flush, (right, win), .on = on, .peer = right, .tag = number);
    PLAIN(Compare_and_swap, (&one, &value, &result, MPI_INT, right, 2, win), .on = on, .peer = right, .tag = number, .sent = 4,
          .received = 4);
    /* Nothing goes there with MPI_NO_OP, nothing goes or comes with MPI_PROC_NULL. */
    PLAIN(Fetch_and_op, (NULL, &result, MPI_INT, right, 1, MPI_NO_OP, win), .on = on, .peer = right, .tag = number, .received = 4);
    PLAIN(Get_accumulate, (NULL, 0, MPI_INT, &result, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_NO_OP, win), .on = on, .peer = right,
          .tag = number, .received = 4);
    PLAIN(Put, (&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win), .on = on, .tag = number, .flags = "nothing");
    PLAIN(Get, (&result, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win), .on = on, .tag = number, .flags = "nothing");
    PLAIN(Fetch_and_op, (&one, &result, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, win), .on = on, .tag = number, .flags = "nothing");
    PLAIN(Win_flush_local, (right, win), .on = on, .peer = right, .tag = number);
    PLAIN(Win_unlock, (right, win), .on = on, .peer = right, .tag = number);
    PLAIN(Win_lock_all, (0, win), .on = on, .tag = number);
    PLAIN(Put, (&value, 1, MPI_INT, left, 3, 1, MPI_INT, win), .on = on, .peer = left, .tag = number, .sent = 4);
    PLAIN(Win_flush_local_all, (win), .on = on, .tag = number);
    PLAIN(Win_flush_all, (win), .on = on, .tag = number);
    PLAIN(Win_sync, (win), .on = on, .tag = number);
    PLAIN(Win_unlock_all, (win), .on = on, .tag = number);
    PLAIN(Win_free, (&win), .on = on, .tag = number);

    number = windows++;
    PLAIN(Win_create_dynamic, (MPI_INFO_NULL, on->comm, &win), .on = on, .tag = number);
    PLAIN(Win_free, (&win), .on = on, .tag = number);
    MPI_Group_free(&group);
    MPI_Group_free(&rights);
    MPI_Group_free(&lefts);
}

#else

static void TWIN(transfers)(void)
{
    const Known *on = &reversed;
    int right = (on->rank + 1) % on->size, *shared, number = windows++;
    static int memory[64], out[64], in[64];
    MPI_Win win;
    MPI_Request request;

    LARGE(Win_create, (memory, sizeof memory, 4, MPI_INFO_NULL, on->comm, &win), .on = on, .tag = number);
    PLAIN(Win_fence, (0, win), .on = on, .tag = number);
    LARGE(Put, (out, 3, MPI_INT, right, 0, 3, MPI_INT, win), .on = on, .peer = right, .tag = number, .sent = 12);
    LARGE(Accumulate, (out, 4, MPI_INT, right, 8, 4, MPI_INT, MPI_SUM, win), .on = on, .peer = right, .tag = number, .sent = 16);
    PLAIN(Win_fence, (0, win), .on = on, .tag = number);
    LARGE(Get, (in, 5, MPI_INT, right, 16, 5, MPI_INT, win), .on = on, .peer = right, .tag = number, .received = 20);
    LARGE(Get_accumulate, (out, 6, MPI_INT, in + 8, 6, MPI_INT, right, 32, 6, MPI_INT, MPI_SUM, win), .on = on, .peer = right,
          .tag = number, .sent = 24, .received = 24);
    PLAIN(Win_fence, (0, win), .on = on, .tag = number);
    PLAIN(Win_free, (&win), .on = on, .tag = number);

    /* With requests; their waits belong to one-sided communication, too. */
    number = windows++;
    LARGE(Win_allocate, (256, 4, MPI_INFO_NULL, on->comm, &shared, &win), .on = on, .tag = number);
    PLAIN(Win_lock_all, (0, win), .on = on, .tag = number);
    LARGE(Rput, (out, 3, MPI_INT, right, 0, 3, MPI_INT, win, &request), .on = on, .peer = right, .tag = number, .sent = 12);
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = on, .peer = right, .tag = number, .sent = 12);
    LARGE(Rget, (in, 4, MPI_INT, right, 8, 4, MPI_INT, win, &request), .on = on, .peer = right, .tag = number, .received = 16);
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = on, .peer = right, .tag = number);
    LARGE(Raccumulate, (out, 5, MPI_INT, right, 16, 5, MPI_INT, MPI_SUM, win, &request), .on = on, .peer = right, .tag = number,
          .sent = 20);
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = on, .peer = right, .tag = number, .sent = 20);
    LARGE(Rget_accumulate, (out, 6, MPI_INT, in, 6, MPI_INT, right, 32, 6, MPI_INT, MPI_SUM, win, &request), .on = on,
          .peer = right, .tag = number, .sent = 24, .received = 24);
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = on, .peer = right, .tag = number, .sent = 24);
    PLAIN(Win_unlock_all, (win), .on = on, .tag = number);
    PLAIN(Win_free, (&win), .on = on, .tag = number);

    number = windows++;
    LARGE(Win_allocate_shared, (64, 4, MPI_INFO_NULL, on->comm, &shared, &win), .on = on, .tag = number);
    PLAIN(Win_fence, (0, win), .on = on, .tag = number);
    PLAIN(Win_free, (&win), .on = on, .tag = number);
}
#endif
