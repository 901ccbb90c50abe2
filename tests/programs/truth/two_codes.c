// ranks: 6
// truth: the first half of the ranks runs one code of
// truth: 20 steps, one of them with 60 ms, the others with 30 ms; the others run another in 30 steps, in which each in turn has
// truth: 40 ms and the others 20 ms. Balance over both means nothing, and no iterations are those of both. Both take 1.2 s, so that
// truth: balancing the one alone saves nothing: it waits for the other at the end.
// expect: computation[p] = 20 * 0.030 * (1 + (p == 0)) + ((p == 3) + (p == 4) + (p == 5)) * 0.200
// expect: t_ideal_replay_s = 20 * 0.060
// expect: t_ideal_phase_profile_s = none
// expect: clusters = 2
// expect: cluster 1 load_balance = (60 + 30 + 30) / 3 / 60
// expect: cluster 1 micro_load_balance = 1
// expect: cluster 1 t_ideal_phase_profile_s = 20 * 0.060
// expect: cluster 1 iterations = 20
// expect: cluster 2 load_balance = 1
// expect: cluster 2 micro_load_balance = (10*40 + 20*20) / (30 * 40)
// expect: cluster 2 t_ideal_phase_profile_s = 30 * 0.040
// expect: cluster 2 iterations = 30
// expect: saved[region balanced main] = none
// expect: saved[run balanced in each iteration] = none
// expect: saved[rank as the mean 0] = none
// expect: saved[region balanced main/ocean] = 20 * 0.060 - 30 * 0.040
#include "lbprof.h"

#define STEP_BEGIN(name) LBPROF_ITERATION_BEGIN(name)
#define STEP_END(name) LBPROF_ITERATION_END(name)
#include "two_codes.h"
