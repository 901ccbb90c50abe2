// ranks: 4
// truth: communicators made in every way, used, and freed, so that MPI gives their handles again; each has one id on all its members
// truth: and another than all others, also where the members are the same
#include "expect.h"

/* Who is where is right, and the communicator is the same for all. */
static void use(const Known *on)
{
    int next = (on->rank + 1) % on->size, before = (on->rank + on->size - 1) % on->size, out = 1, in;
    PLAIN(Allreduce, (&out, &in, 1, MPI_INT, MPI_SUM, on->comm), .on = on, .sent = 4, .received = 4, .as = "collective");
    PLAIN(Sendrecv, (&out, 1, MPI_INT, next, 5, &in, 1, MPI_INT, before, 5, on->comm, MPI_STATUS_IGNORE), .on = on, .peer = next,
          .tag = 5, .sent = 4, .as = "point-to-point");
    PART(Received, .on = on, .peer = before, .tag = 5, .received = 4, .as = "point-to-point");
}

static void use_and_free(MPI_Comm comm, const char *label)
{
    Known on = known(comm, label);
    use(&on);
    PLAIN(Comm_free, (&on.comm), .on = &on);
}

static void duplicates(void)
{
    MPI_Comm comm;
    MPI_Request request, requests[2];
    MPI_Info info;
    MPI_Info_create(&info);
    PLAIN(Comm_dup, (reversed.comm, &comm), .on = &reversed);
    use_and_free(comm, "duplicate");
    PLAIN(Comm_dup_with_info, (reversed.comm, info, &comm), .on = &reversed);
    Known kept = known(comm, "duplicate-with-info");
    use(&kept);
    PLAIN(Comm_set_info, (comm, info), .on = &kept);
    PLAIN(Comm_idup, (kept.comm, &comm, &request), .on = &kept);
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = &kept);
    use_and_free(comm, "later-duplicate");
#if MPI_VERSION >= 4
    PLAIN(Comm_idup_with_info, (kept.comm, info, &comm, &request), .on = &kept);
    PLAIN(Wait, (&request, MPI_STATUS_IGNORE), .on = &kept);
    use_and_free(comm, "later-duplicate-with-info");
#endif
    /* Two on the way at once. */
    MPI_Comm two[2];
    PLAIN(Comm_idup, (kept.comm, &two[0], &requests[0]), .on = &kept);
    PLAIN(Comm_idup, (kept.comm, &two[1], &requests[1]), .on = &kept);
    PLAIN(Waitall, (2, requests, MPI_STATUSES_IGNORE), .on = &kept);
    PART(Completed, .on = &kept);
    PART(Completed, .on = &kept);
    use_and_free(two[1], "second-of-two");
    use_and_free(two[0], "first-of-two");
    PLAIN(Comm_disconnect, (&kept.comm), .on = &kept);
    MPI_Info_free(&info);
}

static void parts(void)
{
    MPI_Comm comm;
    MPI_Group all, some;
    static const char *labels[] = {"create-0", "create-1", "create-2", "create-3", "create-4", "create-5"};
    MPI_Comm_group(reversed.comm, &all);
    /* The same members again and again, so that MPI may give the same handle; not all take part in what is made. */
    for (int i = 0; i < 6; i++) {
        MPI_Group_incl(all, 3, i % 2 ? (int[]){2, 0, 1} : (int[]){3, 1, 2}, &some);
        PLAIN(Comm_create, (reversed.comm, some, &comm), .on = &reversed);
        if (comm != MPI_COMM_NULL)
            use_and_free(comm, labels[i]);
        MPI_Group_free(&some);
    }
    MPI_Group_incl(all, 2, (int[]){2, 1}, &some);
    int within;
    MPI_Group_rank(some, &within);
    for (int i = 0; i < 2 && within != MPI_UNDEFINED; i++) {
        PLAIN(Comm_create_group, (reversed.comm, some, 3, &comm), .on = &reversed);
        use_and_free(comm, i ? "within-again" : "within");
    }
    MPI_Group_free(&some);
    /* Its members made others meanwhile; what all make next is the same for all. */
    PLAIN(Comm_dup, (reversed.comm, &comm), .on = &reversed);
    use_and_free(comm, "after-within");

    PLAIN(Comm_split, (MPI_COMM_WORLD, world.rank == 2 ? MPI_UNDEFINED : 0, 0, &comm), .on = &world);
    if (comm != MPI_COMM_NULL)
        use_and_free(comm, "without-2");
    PLAIN(Comm_split_type, (MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -world.rank, MPI_INFO_NULL, &comm), .on = &world);
    use_and_free(comm, "shared");
    PLAIN(Intercomm_merge, (inter.comm, world.rank % 2 == 0, &comm), .on = &inter);
    use_and_free(comm, "merged");
    PLAIN(Comm_dup, (inter.comm, &comm), .on = &inter);
    Known other = known(comm, "inter-duplicate");
    int out = 0, in;
    PLAIN(Sendrecv, (&out, 1, MPI_INT, 1 - inter.rank, 6, &in, 1, MPI_INT, 1 - inter.rank, 6, comm, MPI_STATUS_IGNORE),
          .on = &other, .peer = 1 - inter.rank, .tag = 6, .sent = 4, .as = "point-to-point");
    PART(Received, .on = &other, .peer = 1 - inter.rank, .tag = 6, .received = 4, .as = "point-to-point");
    PLAIN(Comm_free, (&other.comm), .on = &other);
    MPI_Group_free(&all);
}

static void topologies(void)
{
    MPI_Comm comm, row;
    PLAIN(Cart_create, (reversed.comm, 2, (int[]){2, 2}, (int[]){0, 1}, 0, &comm), .on = &reversed);
    Known grid = known(comm, "grid");
    use(&grid);
    PLAIN(Cart_sub, (comm, (int[]){0, 1}, &row), .on = &grid);
    use_and_free(row, grid.rank < 2 ? "row-0" : "row-1");
    PLAIN(Comm_free, (&grid.comm), .on = &grid);
    /* A ring. */
    PLAIN(Graph_create, (reversed.comm, 4, (int[]){2, 4, 6, 8}, (int[]){1, 3, 0, 2, 1, 3, 2, 0}, 0, &comm), .on = &reversed);
    use_and_free(comm, "graph");
    int me = reversed.rank, next = (me + 1) % 4, before = (me + 3) % 4;
    PLAIN(Dist_graph_create, (reversed.comm, 1, &me, (int[]){1}, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm), .on = &reversed);
    use_and_free(comm, "distributed-graph");
    PLAIN(Dist_graph_create_adjacent,
          (reversed.comm, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm), .on = &reversed);
    use_and_free(comm, "adjacent-graph");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin_expecting();
    make_communicators();
    activity = "management";
    duplicates();
    parts();
    topologies();
    free_communicators();
    printf("%d: done\n", world.rank);
    MPI_Finalize();
    return 0;
}
