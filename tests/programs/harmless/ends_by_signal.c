// truth: SIGTERM ends it as without the recorder, and the program finds the system's action: HOW is filter, filter-of-two-steps (it may send itself
// truth: no signal), unseen-filter (likewise, installed by system calls that no library sees), asks, chains (its handler passes on to what was there before),
// truth: chains-itself, calls-it (likewise, found by a system call), child (a fork asks, and is ended), first (a namespace's first process, which the signal does not end)
#define _GNU_SOURCE
#include "calls.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* As the system has it. */
struct action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

static struct action found;
static void (*before)(int);

static void pass_on(int signal_number)
{
    if (before == SIG_IGN)
        return;
    if (before != SIG_DFL)
        before(signal_number);
    signal(signal_number, before);
    raise(signal_number);
}

/* As signal() would put it back, with other flags than it had. */
static void put_back(int signal_number)
{
    found.flags &= 0x04000000;
    syscall(SYS_rt_sigaction, signal_number, &found, NULL, 8);
    raise(signal_number);
}

static void call_found(int signal_number)
{
    if (found.handler == SIG_DFL)
        put_back(signal_number);
    else
        found.handler(signal_number);
}

static void allow_no_signals(int is_seen)
{
    static const int sending[] = {SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo};
    enum { CALLS = sizeof sending / sizeof *sending };
    struct sock_filter rules[2 * CALLS + 2];
    int n = 0;
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < CALLS; i++) {
        rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, sending[i], 0, 1);
        rules[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, rules};
    int failed;
    if (is_seen == 2)
        failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    else if (is_seen)
        failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    else
        failed = syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    if (failed)
        printf("no filter\n");
}

static void say_actions(void)
{
    struct sigaction now;
    for (int signal_number = 1; signal_number < 32; signal_number++)
        if (signal_number != SIGBUS && !sigaction(signal_number, NULL, &now))
            printf("%d:%d,%x ", signal_number, now.sa_handler == SIG_DFL, now.sa_handler == SIG_DFL ? now.sa_flags : 0);
    printf("%d %d\n", signal(SIGINT, SIG_DFL) == SIG_DFL, siginterrupt(SIGTERM, 1));
    fflush(stdout);
}

/* A process that no filter holds back ends this one when it gets a byte. */
static int start_killer(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) || fork())
        return ends[1];
    close(ends[1]);
    if (read(ends[0], &byte, 1) == 1)
        kill(getppid(), SIGTERM);
    _exit(0);
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    int killer = start_killer(), status;
    alarm(20);
    start(&argc, &argv);
    printf("%ld\n", reduce(1500));
    fflush(stdout);
    if (!strncmp(how, "filter", 6))
        allow_no_signals(!strcmp(how, "filter") ? 2 : 1);
    if (!strcmp(how, "unseen-filter"))
        allow_no_signals(0);
    if (!strcmp(how, "asks"))
        say_actions();
    if (!strcmp(how, "chains"))
        before = signal(SIGTERM, pass_on);
    if (!strcmp(how, "chains-itself") || !strcmp(how, "calls-it")) {
        struct action own = {.handler = !strcmp(how, "calls-it") ? call_found : put_back};
        syscall(SYS_rt_sigaction, SIGTERM, NULL, &found, 8);
        own.restorer = found.restorer;
        own.flags = found.flags & 0x04000000;
        struct sigaction seen = {.sa_handler = own.handler, .sa_flags = SA_NODEFER};
        sigaction(SIGTERM, &seen, NULL);
    }
    if (!strcmp(how, "child")) {
        if (fork() == 0) {
            say_actions();
            raise(SIGTERM);
            _exit(0);
        }
        wait(&status);
        printf("the child ended by signal %d\n", WTERMSIG(status));
        fflush(stdout);
    }
    if (write(killer, "k", 1) != 1)
        return 99;
    if (!strcmp(how, "first")) {
        struct timespec second = {1, 0};
        printf("slept %d\n", nanosleep(&second, NULL));
        MPI_Finalize();
        return 0;
    }
    for (;;)
        reduce(1);
}
