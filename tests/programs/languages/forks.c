// ranks: 2
// env: UCX_LOG_LEVEL=fatal
// env: OMPI_MCA_mpi_warn_on_fork=0
// buffer: 32K
// records: Allreduce 2400
// end: finalize
// truth: children that exit, return through exit functions, are killed, mark phases, or become another program; none of it is the parent's
#include <lbprof.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(int how)
{
    LBPROF_PHASE_BEGIN("child");
    for (int i = 0; i < 2000; i++)
        LBPROF_COUNT("child", i);
    switch (how) {
    case 0:
        exit(10);
    case 1:
        _exit(11);
    case 2:
        execl("/bin/sh", "sh", "-c", "exit 12", (char *)0);
        _exit(99);
    case 3:
        raise(SIGKILL);
        break;
    default:
        /* A child of a child. */
        if (fork() == 0)
            exit(0);
        wait(0);
        LBPROF_PHASE_END("child");
        exit(13);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    long sum = 0;
    for (int how = 0; how < 8; how++) {
        for (int i = 0; i < 300; i++) {
            int all;
            MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            sum += all;
        }
        int status = 0;
        if (how < 5) {
            fflush(stdout);
            pid_t pid = fork();
            if (pid == 0)
                child(how);
            waitpid(pid, &status, 0);
        } else if (how == 5) {
            status = system("exit 14");
        } else if (how == 6) {
            pid_t pid = vfork();
            if (pid == 0)
                _exit(15);
            waitpid(pid, &status, 0);
        }
        printf("%d: %d %d\n", how, WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    }
    printf("%ld\n", sum);
    MPI_Finalize();
    return 0;
}
