//! Thresholds that decide which pieces of code are regions of their own.

thresholds! {
    /// Share of all ranks' time from which on code between two places is a region of its own, and a function around it. Others are one region together:
    /// hundreds of regions, each of next to nothing, would hide the few that matter.
    MIN_REGION_TIME: f64 = 0.005, unit "of all ranks' time", validated "tests/statements/places.rs";

    /// Number of places in the code that are regions of their own however little time goes to them: in programs that have no more, each run has the same
    /// regions.
    MIN_NAMED_PLACES: usize = 40, unit "places", validated "tests/statements/places.rs";

    /// Most regions of code between calls, and of functions around it; those that take most time.
    MAX_CODE_REGIONS: usize = 200, unit "regions", validated "tests/statements/places.rs";

    /// Share of a loop's time from which on a loop within it is a region of its own.
    MIN_INNER_LOOP_TIME: f64 = 0.05, unit "of the loop's time", validated "analysis/tests/iterations.rs";

    /// Maximum relative difference between the numbers of a loop's ends on ranks that run the same code.
    MAX_DIFFERENCE_OF_LOOP_ENDS: f64 = 0.02, unit "relative", validated "analysis/tests/iterations.rs";

    /// Calls of a kind from which on a rank repeats them.
    MIN_REPETITIONS: u64 = 3, unit "calls", validated "analysis/tests/iterations.rs";

    /// Share of the computation in the iterations that a region has at least for it to be kept by iteration.
    MIN_COMPUTATION_BY_ITERATION: f64 = 0.02, unit "of computation", validated "report/tests/reports.rs";

    /// Share of an interval in which others may compute at its begin, and at its end, for it to be serial: messages take their time.
    MAX_OVERLAP_OF_SERIAL_CODE: f32 = 0.05, unit "of an interval", validated "analysis/src/profile/concurrency.rs";

    /// Share of the slices in which something is known of all ranks, below which nothing is said.
    MIN_KNOWN_SLICES: f64 = 0.95, unit "of slices", validated "analysis/src/profile/concurrency.rs";
}
