// ranks: 2
// link: -ldl -lpthread -g -O2 -fno-inline -fno-optimize-sibling-calls
// Each call has a tag; a line `path:` names the functions from the outermost one to that which calls MPI for it;
// `?` is one or several of the C library or without a name, `!` what is not known.
// path: 101 main > one > helper
// path: 102 main > two > helper
// path: 103 main > two > helper
// path: 104 main > helper
// path: 110 main > down > helper
// path: 111 main > down > down > helper
// path: 112 main > down > down > down > helper
// path: 120 main > of_any_size > helper
// path: 121 main > of_any_size > of_any_size > helper
// path: 130 main > ? > compare > helper
// path: 140 thread > helper
// path: 141 thread > of_any_size > helper
// path: 150 coroutine > of_any_size > helper
// path: 151 coroutine > helper
// path: 160 main > jumps > leave > helper
// path: 161 main > jumps > helper
// path: 170 main > plugins > first_plugin > helper
// path: 171 main > plugins > second_plugin > helper
// path: 180 main > interrupted > ? > handle > helper
// path: 190 main > aligned > helper
// path: 191 main > aligned > of_any_size > helper
// path: 200 ! > ? > helper
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static int rank, size;
static jmp_buf back;
// Threads and signals add to it at the same time.
static _Atomic int sink;

/* All calls come from here, as in programs that wrap MPI. */
void helper(int tag)
{
    int out = tag, in;
    MPI_Sendrecv(&out, 1, MPI_INT, rank, tag, &in, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sink += in;
}

void one(void)
{
    helper(101);
    sink++;
}

void two(void)
{
    helper(102);
    helper(103);
    sink++;
}

void down(int levels, int tag)
{
    if (levels)
        down(levels - 1, tag);
    else
        helper(tag);
    sink++;
}

void of_any_size(int bytes, int levels, int tag)
{
    volatile char *room = alloca(bytes);
    room[0] = room[bytes - 1] = 1;
    if (levels)
        of_any_size(bytes + 48, levels - 1, tag);
    else
        helper(tag);
    sink += room[0];
}

typedef float wide __attribute__((vector_size(64), aligned(64)));

void aligned(int bytes, int tag)
{
    volatile wide values[2] = {{1}, {2}};
    if (bytes)
        of_any_size(bytes, 0, tag);
    else
        helper(tag);
    sink += (int)values[1][0];
}

int compare(const void *a, const void *b)
{
    helper(130);
    return *(const int *)a - *(const int *)b;
}

void *thread(void *argument)
{
    for (int i = 0; i < 20; i++) {
        helper(140);
        of_any_size(16 + 16 * i, 0, 141);
    }
    return argument;
}

static ucontext_t scheduler, coroutines[2];

/* Stacks change in turn; the second one has hardly more room than it needs. */
void coroutine(int which)
{
    for (int i = 0; i < 30; i++) {
        if (which)
            helper(151);
        else
            of_any_size(16 + 32 * (i % 9), 0, 150);
        swapcontext(&coroutines[which], &scheduler);
    }
}

void leave(int i)
{
    helper(160);
    if (i % 2)
        longjmp(back, 1);
    sink++;
}

void jumps(int i)
{
    if (!setjmp(back))
        leave(i);
    helper(161);
}

/* Two libraries of one layout: each is loaded where the other one was. One is found by a path relative to where the process is then. */
void plugins(void)
{
    const char *folder = getenv("PLUGINS");
    for (int i = 0; i < 100; i++) {
        char path[4096];
        const char *name = i % 2 ? "second_plugin" : "first_plugin";
        snprintf(path, sizeof path, "%s/%s.so", i % 2 ? "." : folder, name);
        if (chdir(folder))
            exit(2);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        void (*call)(void (*)(int), int);
        *(void **)&call = dlsym(library, name);
        call(helper, i % 2 ? 171 : 170);
        dlclose(library);
    }
}

void make_plugin(const char *name)
{
    char command[8192];
    const char *folder = getenv("PLUGINS");
    snprintf(command, sizeof command,
             "printf 'volatile int sink; void %s(void (*f)(int), int tag) { f(tag); sink++; }' | gcc -g -O2 -shared -fPIC -x c -o %s/%s.so -", name,
             folder, name);
    if (system(command))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

void handle(int number)
{
    sink += number;
    helper(180);
}

void interrupted(void)
{
    for (int i = 0; i < 20; i++)
        raise(SIGUSR1);
}

/* Code made at run time, for which there are no tables: push %rbp; mov %rsp,%rbp; call *%rsi; pop %rbp; ret */
void without_tables(void)
{
    static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3};
    void *made = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(made, code, sizeof code);
    void (*call)(int, void (*)(int));
    *(void **)&call = made;
    for (int i = 0; i < 10; i++)
        call(200, helper);
    munmap(made, 4096);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!rank) {
        make_plugin("first_plugin");
        make_plugin("second_plugin");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 50; i++) {
        one();
        two();
        helper(104);
        down(i % 3, 110 + i % 3);
        of_any_size(16 + 16 * (i * 7 % 23), i % 2, 120 + i % 2);
        jumps(i);
        aligned(i % 2 * (16 + i * 48), 190 + i % 2);
    }
    int numbers[] = {5, 2, 8, 1};
    qsort(numbers, 4, sizeof *numbers, compare);
    signal(SIGUSR1, handle);
    interrupted();
    plugins();
    without_tables();

    static char stacks[2][65536];
    for (int i = 0; i < 2; i++) {
        getcontext(&coroutines[i]);
        coroutines[i].uc_stack.ss_sp = stacks[i];
        coroutines[i].uc_stack.ss_size = sizeof stacks[i];
        coroutines[i].uc_link = &scheduler;
        makecontext(&coroutines[i], (void (*)(void))coroutine, 1, i);
    }
    for (int i = 0; i < 60; i++)
        swapcontext(&scheduler, &coroutines[i % 2]);

    if (provided == MPI_THREAD_MULTIPLE) {
        pthread_t threads[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&threads[i], 0, thread, 0);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], 0);
    }
    printf("%d: %d\n", rank, sink);
    MPI_Finalize();
    return 0;
}
