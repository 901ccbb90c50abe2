//! Thresholds of the conclusions that the report draws from its figures.

thresholds! {
    /// Share of the run outside of the window from which on it is worth a line.
    MIN_TIME_OUTSIDE_MPI: f64 = 0.05, unit "of the run", validated "tests/real_programs/first_contact.rs";

    /// Share of the program's time from which on a function is a row: calls with less are no regions, either.
    MIN_FUNCTION_IN_CALL_TREE: f64 = 0.005, unit "of time", validated "report/tests/call_tree.rs";

    /// Share of the largest excess from which on a part is listed.
    MIN_EXCESS_OF_PART: f64 = 0.25, unit "of the largest excess", validated "report/tests/reports.rs";

    /// Share of the run between `MPI_Init` and `MPI_Finalize` below which set-up is the answer.
    MAX_RUN_OF_SET_UP: f64 = 0.5, unit "of the run", validated "report/tests/situations.rs";

    /// Share of a rank's computation in a region that all others together may have for the rank to work there alone.
    MAX_WORK_OF_OTHERS: f64 = 0.05, unit "of a rank's computation", validated "report/tests/situations.rs";

    /// Share of an excess from which on it is one of sleep or I/O.
    MIN_EXCESS_ASLEEP: f64 = 0.5, unit "of an excess", validated "report/tests/situations.rs";

    /// Seconds that a page fault takes at most: a page of 4 KiB is cleared in less than a microsecond, in a virtual machine in a few.
    MAX_TIME_OF_PAGE_FAULT_S: f64 = 1e-5, unit "s", validated "report/src/findings/imbalance/kernel_work.rs";

    /// Bytes from which on a rank accesses storage enough to name it: more than the logs of most runs.
    MIN_BYTES_OF_SOLE_RANK: u64 = 16_000_000, unit "bytes", validated "report/src/findings/files/sole_rank.rs";

    /// Share of what all ranks write, or read, from which on one does so alone.
    MIN_SHARE_OF_SOLE_RANK: f64 = 0.9, unit "of the bytes of all ranks", validated "report/src/findings/files/sole_rank.rs";

    /// Share of a loss from which on one rank causes it.
    MIN_LOSS_OF_ONE_RANK: f64 = 0.9, unit "of a loss", validated "report/tests/situations.rs";

    /// Share of what the judged ranks lose that waiting for a coordinator's computation must have for that to be the answer.
    MIN_LOSS_TO_COORDINATOR: f64 = 0.3, unit "of what is lost", validated "report/tests/situations.rs";

    /// Requests that one answer of a coordinator may be for: one that sends less only takes messages.
    MAX_REQUESTS_PER_ANSWER: u64 = 4, unit "requests", validated "report/tests/situations.rs";

    /// Bytes a call up to which messages are small.
    MAX_BYTES_OF_SMALL_MESSAGE: u64 = 4096, unit "bytes", validated "report/tests/situations.rs";

    /// Seconds that a small message costs at most, besides waiting for other ranks: a slow network takes tens of microseconds, a collective of many ranks several times that.
    MAX_TIME_OF_SMALL_MESSAGE_S: f64 = 3e-4, unit "s", validated "report/tests/situations.rs";

    /// Calls of a rank from which on they are many.
    MIN_MANY_CALLS: u64 = 500, unit "calls of a rank", validated "report/tests/situations.rs";

    /// Bytes a call from which on messages are large.
    MIN_BYTES_OF_LARGE_MESSAGE: u64 = 65_536, unit "bytes", validated "report/tests/situations.rs";

    /// Iterations that a rank is the slowest one after another, on average, from which on a slow rank moves.
    MIN_ITERATIONS_OF_TURN: usize = 3, unit "iterations", validated "report/tests/situations.rs";

    /// Seconds of a reduction of a few bytes, besides waiting, from which on it is more than passing on data.
    MIN_LONG_REDUCTION_S: f64 = 1e-3, unit "s", validated "report/tests/situations.rs";

    /// Share of the elapsed time by which ranks must differ in an activity for that to matter.
    MIN_SPREAD_OF_ACTIVITY: f64 = 0.02, unit "of the elapsed time", validated "report/tests/dispersion.rs";

    /// ID_P from which on a rank deviates: that part of its time it divides differently.
    MIN_DEVIATION_OF_RANK: f64 = 0.05, unit "ID_P", validated "report/tests/dispersion.rs";

    /// Share of time from which on a piece of code of a cluster is worth naming.
    MIN_TIME_OF_CLUSTER_CODE: f64 = 0.01, unit "of time", validated "report/tests/reports.rs";

    /// Share of the elapsed time from which on the ideal time's uncertainty is too large to say what is lost to what.
    MIN_UNCERTAIN_IDEAL_TIME: f64 = 0.05, unit "of the elapsed time", validated "report/src/balance/efficiency.rs";

    /// Share of a cluster's computation below which its waiting for other clusters is not reported.
    MIN_WAITING_FOR_OTHER_CLUSTERS: f64 = 0.01, unit "of a cluster's computation", validated "report/tests/reports.rs";

    /// Seconds that are nothing but rounding.
    ROUNDING_OF_TIMES_S: f64 = 1e-9, unit "s", validated "report/tests/reports.rs";

    /// Share of the longest rank's excess from which on another rank computes as long.
    MIN_EXCESS_OF_EQUAL_RANK: f64 = 0.9, unit "of the largest excess", validated "report/tests/situations.rs";

    /// Share of the elapsed time from which on different ranks are slow in different parts of an iteration.
    MIN_IMBALANCE_IN_PARTS: f64 = 0.01, unit "of the elapsed time", validated "report/tests/situations.rs";

    /// Load balance from which on ranks are called balanced.
    GOOD_LOAD_BALANCE: f64 = 0.97, unit "load balance", validated "report/tests/situations.rs";

    /// Share of the slowest rank's computation up to which it exceeds the mean by noise alone.
    MAX_EXCESS_BY_NOISE: f64 = 0.01, unit "of the rank's computation", validated "report/tests/reports.rs";

    /// Share of the core time from which on a loss is named.
    MIN_THREAD_LOSS: f64 = 0.01, unit "of core time", validated "tests/statements/threads.rs";

    /// Share of serial computation from which on a function is named.
    MIN_FUNCTION_OF_SERIAL_CODE: f64 = 0.3, unit "of serial computation", validated "tests/statements/threads.rs";

    /// Share of its cores' time that a rank's pools of threads use from which on more threads than cores is too many.
    MIN_USE_OF_BOUND_CORES: f64 = 0.8, unit "of the cores' time", validated "report/tests/situations.rs";

    /// Efficiency from which on nothing is worth gaining.
    GOOD_CORE_EFFICIENCY: f64 = 0.95, unit "efficiency", validated "tests/statements/threads.rs";

    /// Utilization from which on a pool is listed: others are threads that help MPI and other libraries.
    MIN_POOL_UTILIZATION: f64 = 0.01, unit "utilization", validated "report/src/threads/thread_pools.rs";

    /// Share of a rank's time, or of its computation, from which on it is said first that the rank had no core, or slept.
    MIN_TIME_OF_FIRST_DOUBT: f64 = 1.0 / 3.0, unit "of a rank's time", validated "report/tests/doubts.rs";

    /// Share of the elapsed time below which a rank's computation is not looked at.
    MIN_DOUBTED_COMPUTATION: f64 = 0.1, unit "of the elapsed time", validated "report/tests/doubts.rs";

    /// Share of what is lost from which on it matters that it may be less, or more.
    MIN_DOUBTED_LOSS: f64 = 0.01, unit "of what is lost", validated "report/tests/doubts.rs";

    /// Share of the elapsed time from which on the work of other threads matters.
    MIN_WORK_OF_OTHER_THREADS: f64 = 0.05, unit "of the elapsed time", validated "report/tests/doubts.rs";

    /// Calls of the rank that makes most, MPI_Finalize included, up to which nothing is said of how ranks depend on each other.
    MAX_CALLS_WITHOUT_DEPENDENCE: u64 = 2, unit "calls", validated "report/tests/doubts.rs";

    /// Minimum number of calls in a run that is shorter than [`MAX_SHORT_RUN_S`].
    MIN_CALLS_OF_SHORT_RUN: u64 = 20, unit "calls", validated "report/tests/doubts.rs";

    /// Seconds below which a run's figures say no more than its start and end.
    MAX_SHORT_RUN_S: f64 = 0.01, unit "s", validated "report/tests/doubts.rs";

    /// Share of the excess of the slowest iteration, or of the upper decile of all, from which on another one is slow, too.
    MIN_EXCESS_OF_SLOW_ITERATION: f64 = 0.3, unit "of a slow iteration", validated "report/src/time/excess_iterations.rs";

    /// Share of the whole excess that the slow iterations must have.
    MIN_EXCESS_OF_SLOW_ITERATIONS: f64 = 0.9, unit "of the whole excess", validated "report/src/time/excess_iterations.rs";

    /// Share of the iterations up to which slow ones are some of them.
    MAX_SLOW_ITERATIONS: f64 = 0.6, unit "of the iterations", validated "report/src/time/excess_iterations.rs";

    /// Share of the iterations up to which slow ones that follow no order are some of them: more may be noise.
    MAX_UNORDERED_SLOW_ITERATIONS: f64 = 0.25, unit "of the iterations", validated "report/src/time/excess_iterations.rs";

    /// Fewest iterations to judge by.
    MIN_ITERATIONS_TO_JUDGE: usize = 10, unit "iterations", validated "report/src/time/excess_iterations.rs";

    /// Share of the iterations between the first and the last slow one that must be slow for them to be a range, or of every 5th of them for that to be
    /// their order.
    MIN_SLOW_IN_RANGE: f64 = 0.85, unit "of a range", validated "report/src/time/excess_iterations.rs";

    /// Share of the elapsed time from which on a loss is reported.
    MIN_LOSS: f64 = 0.01, unit "of the elapsed time", validated "report/tests/losses.rs";

    /// Share of what is lost to communication from which on it is not said what an ideal network saves of the rest: ranks may wait there for functions that
    /// MPI calls on other ranks.
    MIN_LOSS_TO_CALLBACKS: f64 = 0.1, unit "of the loss to communication", validated "report/tests/losses.rs";

    /// Share of what the rank that is waited for most causes, above which another rank also counts as a major cause.
    MIN_CAUSE_OF_MAJOR_RANK: f64 = 0.5, unit "of the largest cause", validated "report/tests/losses.rs";

    /// Calls of a rank at a place, over the mean of all ranks, from which on waiting for these calls is waiting for that rank.
    MIN_CALLS_OF_ONE_RANK: f64 = 2.0, unit "factor", validated "report/tests/losses.rs";

    /// Share of what is lost to communication that waiting for one rank's calls must have for that to be the cause.
    MIN_LOSS_TO_ONE_RANKS_CALLS: f64 = 0.5, unit "of the loss to communication", validated "report/tests/losses.rs";

    /// Share of the time below which a loop may not be what a program does mainly.
    MIN_COVERAGE_OF_MAIN_LOOP: f64 = 0.5, unit "of time", validated "tests/statements/places.rs";

    /// Least share of the iterations that carry about as much.
    MIN_EQUAL_AMOUNTS: f64 = 0.9, unit "of the iterations", validated "report/src/time/loops.rs";

    /// Largest share of other calls in the iterations.
    MAX_OTHER_CALLS: f64 = 0.2, unit "of the calls", validated "report/src/time/loops.rs";

    /// More than a function that exchanges with neighbours may have alone: a receive, a send, and one that waits.
    MIN_KINDS_OF_CALLS: usize = 4, unit "kinds", validated "report/src/time/loops.rs";

    /// Ranks that differ by this factor in their iterations have other ones.
    MAX_FACTOR_OF_ITERATIONS: f64 = 1.02, unit "factor", validated "report/src/time/loops.rs";

    /// Share of a loop's time, and of what is computed in it, from which on most of it is in a loop within it.
    MIN_TIME_OF_INNER_LOOP: f64 = 0.5, unit "of the loop's time", validated "report/src/time/loops.rs";

    /// Minimum gain of balance in each iteration, relative to any other change, for it to come first.
    MIN_FACTOR_OF_EACH_ITERATION: f64 = 1.2, unit "factor", validated "report/tests/reports.rs";

    /// Share of the run's time that a change of the work must save at least to be shown.
    MIN_SHOWN_SAVING: f64 = 1e-4, unit "of the run's time", validated "report/tests/reports.rs";

    /// Share of its time that a master computes at most to count as idle.
    MAX_COMPUTATION_OF_IDLE_MASTER: f64 = 0.25, unit "of its time", validated "report/tests/situations.rs";

    /// Share of all computation that tasks from a counter must have for the ranks that take them to be a pool of workers.
    MIN_TASKS_OF_POOL: f64 = 0.8, unit "of all computation", validated "report/tests/situations.rs";

    /// Messages of a master to each worker, at least, on average.
    MIN_MESSAGES_OF_MASTER: u64 = 2, unit "messages per worker", validated "report/tests/situations.rs";

    /// Share by which two counts of messages may differ: some may have been dropped, or be of set-up.
    MAX_DIFFERENCE_OF_MESSAGES: f64 = 0.1, unit "of the count", validated "report/tests/situations.rs";

    /// Share of a rank's excess over the mean that its last tasks must have at least to be its cause.
    MIN_EXCESS_OF_LAST_TASKS: f64 = 0.8, unit "of a rank's excess", validated "report/tests/situations.rs";

    /// The multiple of the mean task from which on a task is long.
    MIN_FACTOR_OF_LONG_TASK: f64 = 1.5, unit "of the mean task", validated "report/tests/situations.rs";

    /// Share of a rank's excess over the mean that its whole group must have for the group to be the cause.
    MIN_EXCESS_OF_GROUP: f64 = 0.5, unit "of a rank's excess", validated "report/tests/situations.rs";

    /// Share of what is lost that time in calls on windows must have for waiting for their targets to be the answer.
    MIN_LOSS_TO_WINDOWS: f64 = 0.5, unit "of what is lost", validated "report/tests/situations.rs";

    /// Share of what is lost that waiting for targets of windows must have for it to be the answer.
    MIN_WAITING_FOR_TARGETS: f64 = 0.2, unit "of what is lost", validated "report/tests/situations.rs";

    /// Share of what is lost from which on work that is divided evenly would regain enough for this to be the answer, and not waiting for targets of windows:
    /// who waits for a target would wait for its work elsewhere.
    MIN_REGAINED_BY_EVEN_WORK: f64 = 0.5, unit "of what is lost", validated "report/tests/situations.rs";

    /// Share of what is lost that waiting for locks of windows must have for it to be the answer. Much more of it may be waiting for ranks that wait for a lock.
    MIN_WAITING_FOR_LOCKS: f64 = 0.15, unit "of what is lost", validated "report/tests/situations.rs";

    /// Share of what is lost that code which runs while a rank holds a lock of a window must cause for that to be the answer.
    MIN_LOSS_TO_LOCKED_CODE: f64 = 0.5, unit "of what is lost", validated "report/tests/situations.rs";

    /// Share of the waiting for locks from which on code that causes it is code that runs while a rank holds one.
    MIN_WAITING_FOR_LOCKED_CODE: f64 = 0.05, unit "of waiting for locks", validated "report/tests/situations.rs";

    /// Share of the calls of a place up to which the longest ones are rare.
    MAX_RARE_CALLS: f64 = 0.01, unit "of the calls of a place", validated "report/tests/situations.rs";

    /// Rare delays from which on they are no chance.
    MIN_RARE_DELAYS: u64 = 3, unit "calls", validated "report/tests/situations.rs";

    /// Share of the time in calls, besides waiting for other ranks, that rare delays must have.
    MIN_TIME_OF_RARE_DELAYS: f64 = 0.5, unit "of the time in calls", validated "report/tests/situations.rs";

    /// Share of the elapsed time from the first rare delay to the last: less is one event, such as the first exchange of messages.
    MIN_SPAN_OF_RARE_DELAYS: f64 = 0.25, unit "of the elapsed time", validated "report/tests/situations.rs";

    /// Bytes of a delayed call, over the mean of its place: calls that carry more take longer.
    MAX_BYTES_OF_DELAYED_CALL: f64 = 2.0, unit "factor", validated "report/src/losses/rare_delays.rs";

    /// Excess over the mean before the main loop, or after it, from which on that is a loss of its own.
    MIN_EXCESS_OUTSIDE_OF_LOOP: f64 = 0.03, unit "of the elapsed time", validated "report/tests/situations.rs";

    /// Work before the main loop, or after it, up to which it may be a step of a chain: the first call of the loop's first iteration may be missing, or the
    /// last call of its last one.
    MAX_STEP_OUTSIDE_OF_LOOP: f64 = 1.25, unit "of the rank's mean computation in an iteration", validated "report/tests/situations.rs";

    /// Computation that windows of time may attribute to the wrong side of an end of the main loop.
    MAX_ERROR_OF_TIME_WINDOWS: f64 = 0.02, unit "of the elapsed time", validated "report/tests/situations.rs";

    /// Share of the mean work at the start that a rank must have had to get empty.
    MIN_WORK_OF_EMPTIED_RANK: f64 = 0.5, unit "of the mean work", validated "report/src/losses/emptied_ranks.rs";

    /// Share of its work at the start up to which a rank is empty.
    MAX_WORK_OF_EMPTY_RANK: f64 = 0.1, unit "of its work at the start", validated "report/src/losses/emptied_ranks.rs";

    /// Share of the work of ranks that get empty which the ranks that compute longest must get.
    MIN_TAKEN_WORK: f64 = 0.5, unit "of the work of emptied ranks", validated "report/src/losses/emptied_ranks.rs";

    /// Share of its computation for which a thread that calls MPI is on a core at most, to wait for other threads outside of MPI.
    MAX_COMPUTATION_OF_WAITING_THREAD: f64 = 0.25, unit "of its computation", validated "report/tests/situations.rs";

    /// CPU time of pools of threads, of the computation of the threads that wait for them, from which on they do the work: where cores are scarce, waiting takes longer than work.
    MIN_WORK_OF_POOLS: f64 = 1.0 / 3.0, unit "of the computation", validated "report/tests/situations.rs";

    /// Utilization up to which threads of a pool have no work for most of the time.
    MAX_UTILIZATION_OF_STARVED_POOL: f64 = 0.5, unit "utilization", validated "report/tests/situations.rs";

    /// Work of a rank's threads against the mean of all ranks, from which on it is uneven.
    MIN_EXCESS_OF_POOL: f64 = 1.1, unit "factor", validated "report/tests/situations.rs";

    /// Share of the waiting for computation that a rank with code of its own must cause for it to be a master that the others wait for.
    MIN_CAUSE_OF_MASTER: f64 = 0.5, unit "of the waiting for computation", validated "report/tests/situations.rs";

    /// Share of all waiting that must be for messages for ranks to wait for messages of a master.
    MIN_WAITING_FOR_MASTER: f64 = 0.5, unit "of all waiting", validated "report/tests/situations.rs";
}
