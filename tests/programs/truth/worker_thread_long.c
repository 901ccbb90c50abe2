// ranks: 2
// env: LBPROF_SUMMARY=off
// truth: what worker_thread.c does, recorded without summaries of the threads, as the log of a thread with many records is: the rank's time is that of the
// truth: threads that call MPI while main sleeps.
// expect: computation[p] = 20 * 0.020 + (p == 0) * 20 * 0.020
// expect: point-to-point[p] = (p == 1) * 20 * 0.020
// expect: waits[late sender] = 20 * 0.020
// expect: load_balance = 30 / 40
// expect: iterations = 20
// expect: violations = 0
// says-not: Nothing to gain
#include "worker_thread.c"
