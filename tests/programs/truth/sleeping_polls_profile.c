// ranks: 2
// env: LBPROF_SAMPLE=200
// env: LBPROF_MODE=profile
// truth: what sleeping_polls.c does, recorded as sums alone: in each of 11 steps rank 1 waits 40 ms, though it is in no MPI call for most of that time.
// expect: computation[p] = 11 * 0.020 + (p == 0) * 11 * 0.040
// expect: point-to-point[p] = (p == 1) * 11 * 0.040
// expect: load_balance = 40 / 60
// expect: micro_load_balance = 1
// expect: iterations = 11
#include "sleeping_polls.c"
