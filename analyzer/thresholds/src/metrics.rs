//! Thresholds that decide which figures of ranks, threads and iterations are worth a word.

thresholds! {
    /// Fraction of the run for which the first thread must sleep, and another one record, for that one to take its place.
    MIN_SLEEP_OF_FIRST_THREAD: f64 = 0.5, unit "of the run", validated "tests/statements/truth.rs, worker_thread and worker_thread_long";

    /// Fraction of a thread's time below which long gaps between polls do not matter.
    MIN_LONG_POLL_GAPS: f64 = 0.002, unit "of a thread's time", validated "tests/statements/truth.rs, sleeping_polls";

    /// The time from which on a first look is taken where the user does not say what he wants.
    MIN_TIME_OF_FIRST_LOOK_S: f64 = 60.0, unit "s", validated "lb-report/tests/first_look.rs";

    /// Share of its time from which on a rank's recorder disturbs what it records.
    MIN_DISTURBANCE: f64 = 0.02, unit "of a rank's time", validated "analysis/src/metrics/findings.rs";

    /// Standard errors from which on a difference is significant.
    MIN_STANDARD_ERRORS: f64 = 2.0, unit "standard errors", validated "tests/statements/sampling.rs";

    /// Share of the run from which on pauses that differ between ranks matter.
    MIN_UNEVEN_PAUSES: f64 = 0.01, unit "of the run", validated "analysis/src/metrics/findings.rs";

    /// Share of its time from which on it matters what a rank's time between polls is.
    MIN_UNCLEAR_POLL_TIME: f64 = 0.005, unit "of a rank's time", validated "tests/statements/truth.rs, sleeping_polls";

    /// Seconds between MPI_Init and MPI_Finalize from which on it is odd that no call was seen; a program that only starts and ends MPI takes less, also where
    /// its ranks have no cores. The recorder says it from then on, too.
    MIN_TIME_WITHOUT_CALLS_S: f64 = 1.0, unit "s", validated "tests/real_programs/first_contact.rs";

    /// Share of the largest excess from which on a function within another one has it.
    MIN_EXCESS_OF_INNER_FUNCTION: f64 = 0.8, unit "of the largest excess", validated "analysis/src/metrics/sampled/functions.rs";

    /// Share of a loop's computation, by samples, from which on the loop lies in the function around it. At the loop's begin and end samples may
    /// miss it.
    MAX_COMPUTATION_OUTSIDE_OF_LOOP: f64 = 0.05, unit "of a loop's computation", validated "analysis/src/metrics/sampled/code_tree/mod.rs";

    /// Share of the computation in a function that samples alone may place there for its load balance to be known: of many ranks' estimates one is far too
    /// long.
    MAX_ESTIMATE_IN_BALANCE: f64 = 0.1, unit "of a function's computation", validated "analysis/src/metrics/sampled/code_tree/mod.rs";

    /// Factor by which an ideal time may exceed the elapsed time: clocks of different hosts may differ, and times are rounded.
    MAX_IDEAL_TIME: f64 = 1.005, unit "of the elapsed time", validated "analysis/src/metrics/spread/load_balance.rs";

    /// Robust standard deviations above the median from which on a value is an outlier. One of 30,000 values of a normal distribution lies that far above:
    /// thousands of ranks that differ by noise alone have none, mostly.
    MIN_DEVIATIONS_OF_OUTLIER: f64 = 4.0, unit "robust standard deviations", validated "analysis/src/metrics/spread/outliers.rs";

    /// The share of the median by which an outlier lies above it at least, however little the others differ.
    MIN_DISTANCE_OF_OUTLIER: f64 = 0.01, unit "of the median", validated "analysis/src/metrics/spread/outliers.rs";

    /// Seconds below which a difference of times is but rounding: clocks have nanoseconds.
    CLOCK_RESOLUTION_S: f64 = 0.5e-9, unit "s", validated "analysis/src/metrics/overhead.rs";

    /// Involuntary context switches a second from which on others ran on a thread's core.
    MIN_SWITCHES_PER_S: f64 = 10.0, unit "1/s", validated "analysis/src/metrics/sampled/preemption.rs";

    /// Involuntary context switches a second above which MPI's own yields are what is counted.
    MAX_SWITCHES_PER_S: f64 = 2000.0, unit "1/s", validated "analysis/src/metrics/sampled/preemption.rs";

    /// Share of the computation that must have been delayed for a rank to be called preempted.
    MIN_PREEMPTED_COMPUTATION: f64 = 0.05, unit "of computation", validated "analysis/src/metrics/sampled/preemption.rs";

    /// Minimum share of the rank's time that must have been delayed: a rank that hardly computes loses nothing by it.
    MIN_PREEMPTED_TIME: f64 = 0.005, unit "of a rank's time", validated "analysis/src/metrics/sampled/preemption.rs";

    /// Least time between two samples of usage that is judged, in seconds; shorter runs prove nothing.
    MIN_JUDGED_INTERVAL_S: f64 = 0.1, unit "s", validated "analysis/src/metrics/sampled/preemption.rs";

    /// Share of a rank's window, and of its computation, for which the switches of its first thread have to be known, so that its computation is split by state.
    MIN_KNOWN_SWITCHES: f64 = 0.5, unit "of a rank's time", validated "analysis/src/metrics/sampled/core_time.rs";

    /// Least time observed for `without_core`, in seconds: the system counts time without a core to the nanosecond.
    MIN_OBSERVED_WITHOUT_CORE_S: f64 = 0.01, unit "s", validated "analysis/src/metrics/sampled/preemption.rs";

    /// Share of a rank's time without a core from which on its waits say something about the machine as much as of the program.
    MIN_TIME_WITHOUT_CORE: f64 = 0.2, unit "of a rank's time", validated "analysis/src/metrics/sampled/preemption.rs";

    /// Share of a rank's time that teams of a size take at least where that is its number of cores.
    MIN_TEAM_TIME: f64 = 0.01, unit "of a rank's time", validated "analysis/src/metrics/threads.rs";

    /// Probability below which a finding is no chance.
    MAX_CHANCE_OF_TREND: f64 = 1e-4, unit "probability", validated "analysis/src/metrics/spread/trend.rs";

    /// Least iterations of which anything is said.
    MIN_ITERATIONS_OF_TREND: usize = 10, unit "iterations", validated "analysis/src/metrics/spread/trend.rs";

    /// Most blocks of consecutive iterations that a trend is sought in. So what only lasts for less than a 24th of the run, whatever its own order, is no
    /// trend.
    MAX_BLOCKS_OF_TREND: usize = 24, unit "blocks", validated "analysis/src/metrics/spread/trend.rs";

    /// Quotient of the numbers of calls from which on they are many more.
    MIN_FACTOR_OF_CALLS: f64 = 1.5, unit "factor", validated "analysis/src/metrics/spread/cluster/difference.rs";

    /// Share of the calls that are of other operations from which on ranks do something else.
    MIN_OTHER_OPERATIONS: f64 = 0.5, unit "of calls", validated "analysis/src/metrics/spread/cluster/difference.rs";

    /// Ranks within the radius of each other, itself included, from which on they are a cluster (DBSCAN's minPts).
    MIN_RANKS_OF_CLUSTER: usize = 2, unit "ranks", validated "analysis/src/metrics/spread/cluster/ranks.rs";

    /// Most groups that are tried.
    MAX_GROUPS_OF_REGIONS: usize = 8, unit "groups", validated "analysis/src/metrics/spread/cluster/regions.rs";

    /// Share of the time of all regions below which an activity does not count.
    MIN_TIME_OF_CLUSTERED_ACTIVITY: f64 = 0.01, unit "of all regions' time", validated "analysis/src/metrics/spread/cluster/regions.rs";

    /// Share of the range of a region's times that lies next to its minimum, and next to its maximum.
    MARGIN_OF_PATTERN: f64 = 0.15, unit "of the range", validated "analysis/tests/papers_dispersion.rs";

    /// Part of an index below which a difference is rounding.
    ROUNDING_OF_INDEX: f64 = 1e-9, unit "of the index", validated "analysis/tests/papers_dispersion.rs";

    /// Difference of two indices below which they are equal: a millionth of a per cent of a region's time. With two ranks both are always equally far from
    /// their mean, and only rounding distinguishes them.
    RESOLUTION_OF_INDEX: f64 = 1e-8, unit "index", validated "analysis/tests/papers_dispersion.rs";

    /// The share of all time from which on an activity has a matrix of iterations and ranks.
    MIN_TIME_OF_ACTIVITY_MATRIX: f64 = 1e-3, unit "of all ranks' time", validated "analysis/src/views/iterations.rs";
}
