// ranks: 1
// link: -lpthread
// buffer: 32K
// records: Allreduce 5700
// end: finalize
// exit-status: none
// problems: ThreadLost
// report: 4
// stderr: 1
// truth: the program puts itself under a system call filter that ends it for calls that it does not make itself: the recorder makes none
// truth: of them from then on. Further threads cannot be recorded, which is said
#include "calls.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static const int forbidden[] = {
    SYS_unlink, SYS_getrusage, SYS_rt_sigpending, SYS_rt_sigtimedwait, SYS_readlink, SYS_fallocate, SYS_prctl, SYS_getdents64,
#ifndef MPICH
    /* MPICH opens files in MPI_Finalize. */
    SYS_openat, SYS_open,
#endif
};

static void forbid(void)
{
    enum { CALLS = sizeof forbidden / sizeof *forbidden };
    struct sock_filter rules[2 * CALLS + 2];
    int n = 0;
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < CALLS; i++) {
        rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden[i], 0, 1);
        rules[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    }
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        printf("no filter\n");
}

static void *other_thread(void *nothing)
{
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_SELF);
    return nothing;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long sum = reduce(700);
    forbid();
    sum += reduce(2000);
    /* What is asked once a second. */
    usleep(1100000);
    sum += reduce(3000);
    pthread_t thread;
    pthread_create(&thread, 0, other_thread, 0);
    pthread_join(thread, 0);
    printf("%ld\n", sum);
    fflush(stdout);
    MPI_Finalize();
    return 3;
}
