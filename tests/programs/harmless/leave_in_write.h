/* A signal that comes while the recorder writes to its log, and whose handler leaves by siglongjmp. After "calls.h", with _GNU_SOURCE. */
#include <setjmp.h>
#include <sys/syscall.h>

static volatile sig_atomic_t armed;
static sigjmp_buf back;

/* The C library's, also for the recorder: it raises the signal within a block of the log. */
ssize_t write(int file, const void *bytes, size_t length)
{
    if (armed && length >= 4 && memcmp(bytes, "LBBK", 4) == 0) {
        armed = 0;
        raise(SIGUSR1);
    }
    return syscall(SYS_write, file, bytes, length);
}

static void leave(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}
