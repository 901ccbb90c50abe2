/* The laboratory's work: who works how long in each step and part of it, as it is and with a change built in.
 *
 * A step has one part or two. Ranks sleep for their work, by which no rank needs a core; what a sleep takes too long, the next ones of that rank make
 * up for. */
#ifndef LABORATORY_PLAN_H
#define LABORATORY_PLAN_H

#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PARTS = 2, SLICE = 4 };

static const double LEAST_MS = 6, EXCESS_MS = 12, SECOND_MS = 4;

static int rank, size, steps;

/* --- patterns: milliseconds of a rank's work in a part of a step --- */

static double slow_at_end(int r, int k, int part)
{
    (void)k, (void)part;
    return LEAST_MS + (r == size - 1 ? EXCESS_MS : 0);
}

static double slow_in_middle(int r, int k, int part)
{
    (void)k, (void)part;
    return LEAST_MS + (r == size / 2 ? EXCESS_MS : 0);
}

/* Excesses of 2 to 1. */
static double two_slow(int r, int k, int part)
{
    (void)k, (void)part;
    return LEAST_MS + (r == size - 1 ? EXCESS_MS : r == size / 2 - 1 ? EXCESS_MS / 2 : 0);
}

/* Each rank is slow for some steps. */
static double moving(int r, int k, int part)
{
    (void)part;
    return LEAST_MS + (r == k / SLICE % size ? EXCESS_MS : 0);
}

static double in_first_part(int r, int k, int part)
{
    (void)k;
    return part == 1 ? SECOND_MS : LEAST_MS + (r == size - 1 ? EXCESS_MS : 0);
}

/* Another rank is slow in each part. */
static double opposed(int r, int k, int part)
{
    (void)k;
    return LEAST_MS + (r == (part == 0 ? size - 1 : 0) ? EXCESS_MS : 0);
}

static double by_chance(int r, int k, int part)
{
    unsigned hash = (unsigned)(r * 7919 + k * 104729 + part * 1299709 + 12345);
    hash = (hash ^ hash >> 15) * 2246822519u;
    hash = (hash ^ hash >> 13) * 3266489917u;
    return LEAST_MS + EXCESS_MS * ((hash >> 8) % 1000) / 1000;
}

static double even(int r, int k, int part)
{
    (void)r, (void)k, (void)part;
    return LEAST_MS + EXCESS_MS / 4;
}

static const struct {
    const char *name;
    double (*ms)(int r, int k, int part);
    int parts;
} PATTERNS[] = {
    {"end", slow_at_end, 1},      {"middle", slow_in_middle, 1}, {"two", two_slow, 1}, {"moving", moving, 1},
    {"first", in_first_part, 2}, {"opposed", opposed, 2},       {"chance", by_chance, 1},
    {"even", even, 1},
};

static double (*pattern_ms)(int r, int k, int part);
static int parts;

/* A rank's work in all steps. */
static double in_all_ms(int r)
{
    double ms = 0;
    for (int k = 0; k < steps; k++)
        for (int part = 0; part < parts; part++)
            ms += pattern_ms(r, k, part);
    return ms;
}

static int longest_rank(void)
{
    int longest = 0;
    for (int r = 1; r < size; r++)
        longest = in_all_ms(r) > in_all_ms(longest) ? r : longest;
    return longest;
}

/* --- changes: milliseconds of this rank's work with the change --- */

static double as_is(int k, int part)
{
    return pattern_ms(rank, k, part);
}

/* The mean of the ranks in the same part of the same step. */
static double even_each(int k, int part)
{
    double ms = 0;
    for (int r = 0; r < size; r++)
        ms += pattern_ms(r, k, part);
    return ms / size;
}

/* The mean of the ranks in the same part of all steps, in each of which it has the same share of its work as before. */
static double even_parts(int k, int part)
{
    double own_ms = 0, all_ms = 0;
    for (int each = 0; each < steps; each++)
        for (int r = 0; r < size; r++) {
            all_ms += pattern_ms(r, each, part);
            own_ms += r == rank ? pattern_ms(r, each, part) : 0;
        }
    return pattern_ms(rank, k, part) * all_ms / size / own_ms;
}

/* The rank that works longest does no more than the mean in any part, and the others what they did. */
static double longest_cut(int k, int part)
{
    double cut_ms = even_parts(k, part), own_ms = as_is(k, part);
    return rank == longest_rank() && cut_ms < own_ms ? cut_ms : own_ms;
}

static const struct {
    const char *name;
    double (*ms)(int k, int part);
} CHANGES[] = {{"as-is", as_is}, {"cut", longest_cut}, {"parts", even_parts}, {"each", even_each}};

static double (*change_ms)(int k, int part);

/* --- work --- */

static double ahead_s; /* by how much this rank has slept too long so far */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void rest(double ms)
{
    double from_s = now_s(), end_s = from_s + 1e-3 * ms - ahead_s;
    struct timespec end = {(time_t)end_s, (long)(1e9 * (end_s - (double)(time_t)end_s))};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, 0) == EINTR) {
    }
    ahead_s += now_s() - from_s - 1e-3 * ms;
    if (ahead_s > 1e-3 * ms)
        ahead_s = 1e-3 * ms;
}

static __attribute__((noinline)) void first_part(int k)
{
    rest(change_ms(k, 0));
}

/* The same in quarters, after each of which it calls `between`. */
static __attribute__((noinline)) void first_part_in_quarters(int k, void (*between)(void))
{
    for (int quarter = 0; quarter < 4; quarter++) {
        rest(change_ms(k, 0) / 4);
        between();
    }
}

static __attribute__((noinline)) void second_part(int k)
{
    rest(change_ms(k, 1));
}

#endif
