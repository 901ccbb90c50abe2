//! Causes of waiting, what MPI does with a message, and predictions.

thresholds! {
    /// Smallest share of a wait that is kept as a cause of its own. The effect of smaller causes is distributed over the others.
    MIN_CAUSE_OF_WAIT: f64 = 1.0 / 512.0, unit "of a wait", validated "report/tests/blocking";

    /// Share of a cause that the difference of both has at least, where nothing else cancelled.
    MIN_DIFFERENCE_OF_CAUSE: f64 = 0.5, unit "of a cause", validated "tests/statements/laboratory";

    /// Bytes above which a message is taken to need both sides in MPI while the run's calls say nothing of such messages.
    MIN_BYTES_THAT_NEED_PROGRESS: u64 = 4096, unit "bytes", validated "tests/statements/laboratory, overlap";

    /// Bytes up to which all MPIs known send a message at once. Receives and synchronous sends up to this size are exempt from the check for progress;
    /// standard sends are not.
    MAX_BYTES_SENT_AT_ONCE: u64 = 64, unit "bytes", validated "tests/statements/laboratory, overlap";

    /// Maximum fraction of small messages, as a divisor, that seem to have waited by chance.
    MAX_WAITS_BY_CHANCE: u32 = 4, unit "divisor", validated "tests/statements/laboratory, overlap";

    /// Messages to a receiver that it has not received, from which on a send of any size may be over only when it has.
    MIN_MESSAGES_BEFORE_BLOCKED_SEND: u32 = 4, unit "messages", validated "report/tests/situations.rs";

    /// By how much the mean of the ranks in an iteration may change on average, as a share, where some ranks' iterations are those before or after.
    MAX_CHANGE_OF_MEAN: f64 = 0.02, unit "of the mean", validated "analysis/src/replay/what_if/alignment.rs";

    /// Time of a rank after its last iteration, as a share of what it computes in one, below which no part of a further iteration lies there.
    MAX_TIME_AFTER_ITERATIONS: f64 = 0.5, unit "of the rank's mean iteration", validated "report/tests/blocking/predictions.rs";

    /// By how much ranks may differ in the number of their iterations, as a share of the most: those before the first and after the last are cut.
    MIN_EQUAL_ITERATIONS: f64 = 0.98, unit "of the most", validated "analysis/src/replay/what_if/alignment.rs";

    /// Share of the computation of a run from which on a place of the program matters to others.
    MIN_COMPUTATION_OF_PLACE: f64 = 0.02, unit "of the run's computation", validated "tests/statements/laboratory";

    /// Share of the mean of the ranks that compute at a place of the program, below which a rank is taken to do nothing there.
    MAX_COMPUTATION_OF_IDLE_RANK: f64 = 0.05, unit "of the mean", validated "tests/statements/laboratory";

    /// Maximum length of an edge, as a multiple of the rank's longest iteration.
    MAX_LENGTH_OF_EDGE: f64 = 1.5, unit "of the longest iteration", validated "tests/statements/laboratory";

    /// Maximum length of a rank's shortest iteration, as a multiple of an edge: an edge may be one phase of several.
    MAX_ITERATION_TO_EDGE: f64 = 4.0, unit "factor", validated "tests/statements/laboratory";

    /// Share of the calls of all other ranks together that a rank must make to be the one with which they all exchange messages.
    MIN_CALLS_OF_STAR_CENTER: f64 = 0.8, unit "of the others' calls", validated "report/tests/situations.rs";

    /// Minimum potential gain, as a share of the elapsed time, for a default scenario.
    MIN_GAIN_OF_SCENARIO: f64 = 0.005, unit "of the elapsed time", validated "report/tests/reports.rs";

    /// Likeness, of 1, from which on a name may be a mistyped other one.
    MIN_LIKENESS_OF_NAMES: f64 = 0.75, unit "likeness", validated "analysis/src/select/names.rs";
}
