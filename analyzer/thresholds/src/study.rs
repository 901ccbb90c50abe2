//! Thresholds that decide what differs between runs, and which law a study follows.

thresholds! {
    /// Difference of efficiencies below which it does not matter, however certain it is.
    MIN_DIFFERENCE_OF_EFFICIENCIES: f64 = 0.01, unit "efficiency", validated "study/src/compare/mod.rs";

    /// Share by which an efficiency must fall from few ranks to many, or the work of all ranks grow, to limit the speedup.
    MIN_FALL_OF_EFFICIENCY: f64 = 0.03, unit "of the efficiency", validated "lb-report/tests/study.rs";

    /// Probability with which equal runs are taken for different.
    MAX_CHANCE_OF_DIFFERENCE: f64 = 0.05, unit "probability", validated "study/src/compare/noise.rs";

    /// Share of the elapsed time below which a difference does not matter, however certain it is.
    MIN_DIFFERENCE_OF_TIMES: f64 = 0.005, unit "of the elapsed time", validated "study/src/compare/noise.rs";

    /// Seconds below which a difference is noise where nothing is known of it: a scheduler's time slice.
    MIN_DIFFERENCE_OF_SINGLE_RUNS_S: f64 = 0.005, unit "s", validated "study/src/compare/noise.rs";

    /// Share of the largest rank's part from which on a rank is named beside it.
    MIN_PART_OF_SECOND_RANK: f64 = 0.5, unit "of the largest part", validated "lb-report/tests/compare.rs";

    /// Ratio of the shares of time of two functions up to which they may be one, if code runs in both between the same calls.
    MAX_RATIO_OF_SAME_CODE: f64 = 4.0, unit "1", validated "study/src/compare/names/code_names.rs";

    /// Share of what the code of a function changes by that must cancel out for its work to have moved past a call.
    MIN_CANCELLED_DIFFERENCE: f64 = 0.6, unit "of the changes", validated "study/src/compare/names/code_names.rs";

    /// Share of the time that work must take to be said to have moved past a call.
    MIN_SHIFTED_WORK: f64 = 0.04, unit "of the time", validated "study/src/compare/names/code_names.rs";

    /// Share of the time that a function with other calls must take on both sides for the comparison to say that it is compared as a whole.
    MIN_SHARE_OF_CHANGED_FUNCTION: f64 = 0.01, unit "of the time", validated "study/src/compare/names/code_names.rs";

    /// Share of a function's change from which on it is said in which region most of it is.
    MIN_CHANGE_IN_ONE_REGION: f64 = 0.5, unit "of a function's change", validated "lb-report/tests/compare.rs";

    /// Share of a change from which on it is all of it, as far as words go.
    MIN_WHOLE_CHANGE: f64 = 0.95, unit "of a change", validated "study/src/compare/output/words.rs";

    /// Share of a change that must be waiting for the ranks that compute longer for the sentence to say that others wait.
    MIN_SHARE_OF_WAITING: f64 = 0.1, unit "of a change", validated "study/src/compare/output/words.rs";

    /// Share of the largest term below which, everywhere, a term is not written.
    MIN_TERM: f64 = 1e-4, unit "of the largest term", validated "study/src/models/equation.rs";

    /// Share of the size of the values below which differences are rounding.
    ROUNDING_OF_VALUES: f64 = 1e-9, unit "relative", validated "study/src/models/mod.rs";

    /// Minimum part of a point that the others do not determine: below, a residual is rounding.
    MIN_FREEDOM_OF_POINT: f64 = 1e-9, unit "of a point", validated "study/src/models/polynomial.rs";

    /// The highest degree that is tried.
    MAX_DEGREE: usize = 4, unit "degree", validated "study/src/models/polynomial.rs";

    /// LOOCV error, as a share of the values, up to which a law or a polynomial is said to hold.
    MIN_DEPARTURE_FROM_LAW: f64 = 0.1, unit "relative", validated "study/src/models/relations.rs";

    /// The least share of P·T, in any of the runs, of a phase that is looked at though nothing was counted in it.
    MIN_PHASE_WITHOUT_COUNTS: f64 = 0.01, unit "of P·T", validated "study/src/models/relations.rs";

    /// Sizes below which a law that fits badly is not reported: two points cannot show which other law would.
    MIN_SIZES_OF_RELATION: usize = 3, unit "sizes", validated "study/src/models/relations.rs";

    /// Seconds below which a time under 0 is but rounding.
    ROUNDING_OF_STORED_TIMES_S: f64 = 1e-6, unit "s", validated "study/tests/study_tables.rs";

    /// Share of the best by which the worst must differ for the two to be marked.
    MIN_DIFFERENCE_OF_BEST: f64 = 0.001, unit "of the best", validated "study/tests/study_tables.rs";

    /// Part of the unit below which a figure is printed as none.
    MIN_PRINTED_FIGURE: f64 = 0.0005, unit "of 1", validated "study/tests/study_tables.rs";
}
