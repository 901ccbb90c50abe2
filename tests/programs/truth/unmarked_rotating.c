// ranks: 4
// truth: rotating.c without its markers. In step k of 8, rank k mod P works 200 ms, the others 50 ms; a barrier ends each step. Over
// truth: the run all work alike, in each step one is slow: the load is balanced, the micro load is not.
// expect: computation[p] = 8/P * 0.200 + (8 - 8/P) * 0.050
// expect: load_balance = 1
// expect: micro_load_balance = (8/P * 0.200 + (8 - 8/P) * 0.050) / (8 * 0.200)
// expect: t_ideal_phase_profile_s = 8 * 0.200
// expect: iterations = 8
#define LBPROF_DISABLE
#include "rotating.c"
