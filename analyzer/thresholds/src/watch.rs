//! Thresholds of the view of a running job.

thresholds! {
    /// Least times that something was done for a rate of it.
    MIN_TIMES_OF_RATE: f64 = 3.0, unit "times", validated "lb-report/src/watch/recurrence.rs";

    /// Seconds in one call from which on a rank is said to be in it.
    MIN_LONG_CALL_S: f64 = 2.0, unit "s", validated "lb-report/src/watch/view.rs";
}
