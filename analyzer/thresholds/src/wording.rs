//! Thresholds that decide what a text of the report says, and how surely.

thresholds! {
    /// Share of computation of which a state of it is listed in the table of activities.
    MIN_SHARE_OF_STATE: f64 = 0.01, unit "of computation", validated "lb-report/tests/functions.rs";

    /// Share of the other CPU time from which on the time of unknown regions is shown.
    MIN_UNPLACED_TIME: f64 = 0.01, unit "of the other CPU time", validated "report/tests/reports.rs";

    /// Share of a function's time from which on a function of a library that it calls has a row.
    MIN_FUNCTION_OF_LIBRARY: f64 = 0.1, unit "of a function's time", validated "report/tests/reports.rs";

    /// Share of the computation of a region from which on it is reported that a rank did not run.
    MIN_TIME_NOT_RUNNING: f64 = 0.05, unit "of a region's computation", validated "report/src/text/sections/functions.rs";

    /// Share of an iteration from which on imbalance that changes over the run is said to.
    MIN_CHANGED_IMBALANCE: f64 = 0.1, unit "of an iteration", validated "report/tests/situations.rs";

    /// Share of the larger imbalance, of those at the start and at the end, up to which the smaller one is another.
    MAX_UNCHANGED_IMBALANCE: f64 = 0.5, unit "of the larger imbalance", validated "report/tests/situations.rs";

    /// Share of an excess from which on a function is named for it.
    MIN_EXCESS_OF_NAMED_FUNCTION: f64 = 0.1, unit "of an excess", validated "report/src/text/sections/functions.rs";

    /// Share by which a function's time on ranks may differ for it to be the same on each.
    MAX_DIFFERENCE_OF_EVEN_FUNCTION: f64 = 0.25, unit "relative", validated "report/src/text/sections/functions.rs";

    /// Share of an excess from which on the function that has it is named first: samples show no time without a core, so that it is rarely all.
    MIN_EXCESS_OF_FIRST_FUNCTION: f64 = 0.6, unit "of an excess", validated "report/src/text/sections/functions.rs";

    /// Share of a node's time from which on a node in it is what it does, and both are one line.
    MIN_TIME_OF_ONLY_CHILD: f64 = 0.99, unit "of a node's time", validated "report/tests/call_tree.rs";

    /// Share of the time from which on a node has a row of its own where not all have.
    MIN_TIME_OF_TREE_ROW: f64 = 0.005, unit "of time", validated "report/tests/call_tree.rs";

    /// Share of the run below which a phase is left out.
    MIN_PHASE_OF_LIFETIME: f64 = 0.01, unit "of the run", validated "tests/real_programs/first_contact.rs";

    /// Share of the whole below which a row of a table is one of the others.
    MIN_LISTED_ROW: f64 = 0.001, unit "of the whole", validated "report/tests/reports.rs";

    /// A share of the time below which an activity has no column of its own.
    MIN_ACTIVITY_COLUMN: f64 = 0.001, unit "of time", validated "report/tests/reports.rs";

    /// Value from which on it goes without saying what is missing.
    MIN_GOOD_FACTOR: f64 = 0.97, unit "efficiency", validated "report/src/text/first_screen/efficiency.rs";

    /// Value from which on 100.0 % is printed.
    MIN_WHOLE_FACTOR: f64 = 0.9995, unit "efficiency", validated "report/src/text/first_screen/efficiency.rs";

    /// Share of the elapsed time from which on balance helps, as far as words go.
    MIN_GAIN_OF_BALANCE: f64 = 0.01, unit "of the elapsed time", validated "report/tests/losses.rs";

    /// Share of a loss from which on most of it is in one place.
    MIN_LOSS_IN_ONE_PLACE: f64 = 0.5, unit "of a loss", validated "report/tests/losses.rs";

    /// Share of the elapsed time from which on the savings of two changes differ, so that each has a row.
    MIN_DIFFERENCE_OF_CHANGES: f64 = 0.005, unit "of the elapsed time", validated "report/tests/blocking";

    /// Share of the elapsed time below which nothing is gained, as far as words go.
    MIN_GAIN_AT_ALL: f64 = 0.001, unit "of the elapsed time", validated "report/tests/losses.rs";

    /// Share of the time from which on it is said where a rank computes more than the mean.
    MIN_EXCESS_OF_NAMED_PLACE: f64 = 0.01, unit "of time", validated "report/tests/situations.rs";

    /// Share of the computation in a region that a function must have to be named for all.
    MIN_FUNCTION_OF_WHOLE_REGION: f64 = 0.5, unit "of a region's computation", validated "report/tests/situations.rs";

    /// Samples of a function from which on they say where a region computes.
    MIN_SAMPLES_OF_PLACE: u64 = 4, unit "samples", validated "report/tests/situations.rs";

    /// Share of the time from which on a gain is named.
    MIN_NAMED_GAIN: f64 = 0.02, unit "of time", validated "report/tests/situations.rs";

    /// Share of what is lost from which on the largest part is all that a sentence says.
    MIN_ONLY_PART_OF_LOSS: f64 = 0.9, unit "of what is lost", validated "report/tests/situations.rs";

    /// Share of the time by which all that is lost exceeds its only named part, from which on a sentence gives both.
    MIN_OTHER_LOSS: f64 = 0.03, unit "of time", validated "report/tests/situations.rs";

    /// Share of the time from which on a second part of what is lost is named.
    MIN_SECOND_PART_OF_LOSS: f64 = 0.05, unit "of time", validated "report/tests/situations.rs";

    /// Share of the time from which on waiting for other groups of ranks is named.
    MIN_WAITING_FOR_OTHER_GROUPS: f64 = 0.02, unit "of time", validated "report/tests/situations.rs";

    /// Most iterations that are few.
    MAX_FEW_ITERATIONS: usize = 9, unit "iterations", validated "report/tests/situations.rs";

    /// Seconds from which on an iteration is long.
    MIN_LONG_ITERATION_S: f64 = 0.1, unit "s", validated "report/tests/situations.rs";

    /// Share of an excess of CPU time that must be one of instructions, for the rank to have more work for sure.
    MIN_INSTRUCTIONS_OF_EXCESS: f64 = 0.6, unit "of an excess of CPU time", validated "report/tests/situations.rs";

    /// Share of the time from which on a loop is worth a word in a line.
    MIN_TIME_OF_LISTED_LOOP: f64 = 0.05, unit "of time", validated "report/tests/found.rs";

    /// Relative error of the replay of the run as it was from which on predictions say so.
    MIN_ERROR_OF_REPLAY: f64 = 0.02, unit "relative", validated "report/tests/reports.rs";

    /// Share of all waiting from which on something is reported.
    MIN_REPORTED_WAITING: f64 = 0.005, unit "of all waiting", validated "report/tests/blocking";

    /// Share of the ranks' time up to which there is no waiting worth a table.
    MAX_TIME_OF_NO_WAITING: f64 = 0.0005, unit "of the ranks' time", validated "report/tests/blocking";

    /// Share of the mean iteration from which on a change is reported.
    MIN_CHANGE_OF_ITERATION: f64 = 0.02, unit "of the mean iteration", validated "report/src/text/sections/course.rs";

    /// Share of all waiting from which on the rank that causes most of it is named.
    MIN_WAITING_OF_NAMED_TARGET: f64 = 0.5, unit "of all waiting", validated "report/tests/situations.rs";

    /// Share of the elapsed time from which on CPU times of ranks compare: below it they come from waking up.
    MIN_COMPARED_CPU_TIME: f64 = 0.05, unit "of the elapsed time", validated "report/tests/situations.rs";

    /// Share of the average work by which a rank may have more or less than it for its work to be average.
    MAX_DIFFERENCE_OF_AVERAGE_WORK: f64 = 0.05, unit "of the average work", validated "report/tests/situations.rs";

    /// Share of its computation from which on a rank is said to sleep for nearly all of it.
    MIN_NEARLY_ALL_ASLEEP: f64 = 0.9, unit "of its computation", validated "report/tests/doubts.rs";

    /// Share from which on it is said to sleep for most of it.
    MIN_MOST_ASLEEP: f64 = 0.5, unit "of its computation", validated "report/tests/doubts.rs";
}
