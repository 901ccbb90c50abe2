/* A system call filter that ends the process for calls that neither these programs nor their MPI makes, but recorders may. */
#ifndef FORBID_H
#define FORBID_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static const int forbidden[] = {
    SYS_unlink, SYS_getrusage, SYS_rt_sigpending, SYS_rt_sigtimedwait, SYS_readlink, SYS_fallocate, SYS_prctl, SYS_getdents64,
    SYS_perf_event_open, SYS_statx,
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

#endif
