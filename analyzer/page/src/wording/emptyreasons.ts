// Reasons why panels are empty, with advice, that several panels share.

/** Waits, timeline and predictions need the events of each call. */
export const NOT_REPLAYED = "Single calls were not replayed: they were recorded as sums (record with LBPROF_MODE=events), or --no-blocking was given (make the page without it).";

/** Nothing can be said of a run without a call. */
export const NO_CALLS = "No calls of MPI were recorded: the program made none, LBPROF_MODE=off was set, or nothing lies in the selection (make the page without it).";
