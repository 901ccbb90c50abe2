// ranks: 1
// buffer: 32K
// records: Allreduce 6000
// end: finalize
// truth: the program closes all files that it did not open, and opens its own under their numbers; nothing else gets into them
#include "calls.h"
#include <fcntl.h>
#include <sys/stat.h>

enum { MOST = 1024 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long sum = reduce(2000);
    /* The MPI's own connections stay, for without them the program could not go on. */
    for (int fd = 3; fd < MOST; fd++) {
        struct stat stat;
        if (!fstat(fd, &stat) && S_ISREG(stat.st_mode) && stat.st_nlink)
            close(fd);
    }
    char name[64];
    snprintf(name, sizeof name, "closes_files.%d", (int)getpid());
    int own = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    unlink(name);
    if (write(own, "mine", 4) != 4)
        abort();
    for (int fd = 3; fd < MOST; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            dup2(own, fd);
    sum += reduce(2000);
    /* Closed once more, and the same by other numbers. */
    for (int fd = 3; fd < MOST; fd++) {
        struct stat stat;
        if (fd != own && !fstat(fd, &stat) && S_ISREG(stat.st_mode))
            close(fd);
    }
    sum += reduce(2000);
    struct stat stat;
    fstat(own, &stat);
    printf("%ld, the file has %ld bytes\n", sum, (long)stat.st_size);
    MPI_Finalize();
    fstat(own, &stat);
    printf("and then %ld\n", (long)stat.st_size);
    return 0;
}
