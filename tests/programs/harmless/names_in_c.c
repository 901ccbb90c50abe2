/* A library in C whose own functions are called as MPI's in Fortran are, with other arguments: numbers, vectors, more than there are registers for. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct wide { long words[6]; };

double mpi_send(double a, double b, int c, double d, double e, double f, double g, double h, double i, double j, long k)
{
    return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h + 19 * i + 23 * j + 29 * k;
}

int mpi_recv(char *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

struct wide MPI_BCAST(struct wide a, int by)
{
    for (int i = 0; i < 6; i++)
        a.words[i] += by;
    return a;
}

int mpi_finalize(int code) { return code + 1; }

#ifdef __x86_64__
typedef double four __attribute__((vector_size(32)));
__attribute__((target("avx"))) four mpi_reduce(four a, four b) { return a + 2 * b; }

__attribute__((target("avx"))) static double add_vectors(void)
{
    volatile double one = 1;
    four a = {one, 2 * one, 3 * one, 4 * one}, b = {5 * one, 6 * one, 7 * one, 8 * one};
    four c = mpi_reduce(a, b);
    return c[0] + 3 * c[1] + 5 * c[2] + 7 * c[3];
}
#endif

/* Twice each: the second call finds the way known. */
void use_names_in_c(void)
{
    for (int i = 0; i < 2; i++) {
        char text[64];
        struct wide a = {{1, 2, 3, 4, 5, 6}};
        int length = mpi_recv(text, "%g %d %g", 1.5, 2, 3.5);
        a = MPI_BCAST(a, 10);
        double sum = 0;
#ifdef __x86_64__
        if (__builtin_cpu_supports("avx"))
            sum = add_vectors();
#endif
        printf("%g, %d: %s, %ld, %d, %g\n", mpi_send(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), length, text, a.words[0] + a.words[5], mpi_finalize(i), sum);
    }
}
