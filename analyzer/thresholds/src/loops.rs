//! Thresholds that decide which calls are a loop, and which of several loops a report is about.

thresholds! {
    /// A loop runs at least so often in the window: two of a kind may be chance.
    MIN_LOOP_ITERATIONS: usize = 3, unit "iterations", validated "analysis/tests/iterations.rs";

    /// A loop runs at least so often each time that it is entered, on average; else it is a part of what is around it.
    MIN_ITERATIONS_PER_VISIT: usize = 2, unit "iterations", validated "analysis/tests/iterations.rs";

    /// Minimum frequency of a loop's parts, as a divisor of its most frequent part's: more than a third, for a function may be called several times in an
    /// iteration; what is rarer belongs to variants of it.
    MAX_RARITY_OF_LOOP_PARTS: usize = 3, unit "divisor", validated "analysis/tests/iterations.rs";

    /// An inner loop whose calls also occur outside of it, this often for each of its iterations, is none: its body is a variant of what is around it.
    MAX_STRAY_CALLS_OF_INNER_LOOP: f64 = 0.2, unit "per iteration", validated "analysis/tests/iterations.rs";

    /// Iterations within which extras come at least once if they make a loop: rare work of a program (output, a check, a rebuild) comes every tenth
    /// time or less often.
    MAX_ITERATIONS_BETWEEN_EXTRAS: f64 = 8.0, unit "iterations", validated "analysis/tests/iterations.rs";

    /// Irregular extras only make a loop when they have as many calls as an iteration of the inner loop, and in no more than this share of their rounds the
    /// inner loop runs once: a loop that mostly runs several times is one, while a check every other time, or something left out in half of the iterations,
    /// is a branch.
    MAX_SINGLE_INNER_ITERATIONS: f64 = 0.1, unit "of rounds", validated "analysis/tests/iterations.rs";

    /// Extras that take this share of the time make a loop: it is where the time goes that a report is about.
    MIN_TIME_OF_EXTRAS: f64 = 0.3, unit "of time", validated "analysis/tests/iterations.rs";

    /// Extras take the place of a part of an iteration when for this share of the visits to the inner loop there are iterations that are not whole: other
    /// extras may come more often.
    MIN_INCOMPLETE_VISITS: f64 = 0.2, unit "of visits", validated "analysis/tests/iterations.rs";

    /// Extras that come in a fixed rhythm make a loop when they take this part of an iteration's time and have its number of calls: a body of their own, not
    /// an addition. The same holds where they compute for this part of its computation.
    MIN_EXTRAS_OF_ITERATION: f64 = 0.5, unit "of an iteration", validated "analysis/tests/iterations.rs";

    /// Number of gaps between visits from which on they are no chance.
    MIN_REGULAR_GAPS: usize = 2, unit "gaps", validated "analysis/tests/iterations.rs";

    /// Bits for an iteration that holds something a varying number of times: a variant leaves a call out or puts one in, while a number that varies is the
    /// mark of several iterations taken for one.
    BITS_OF_VARYING_COUNT: f64 = 4.0, unit "bits", validated "analysis/tests/iterations.rs";

    /// Maximum factor between the bytes of an iteration and their median: the amounts of a simulation change while it runs, and levels of a hierarchy differ
    /// by more.
    MAX_FACTOR_OF_MEDIAN_BYTES: u64 = 2, unit "factor", validated "analysis/tests/iterations.rs";

    /// Share of the window's time from which on what a loop computes is worth naming, whatever its calls are.
    MIN_LOOP_COMPUTATION: f64 = 0.05, unit "of time", validated "analysis/tests/iterations.rs";

    /// Factor from which on a loop computes much more than another one.
    MIN_FACTOR_OF_MAIN_LOOP: u64 = 10, unit "factor", validated "docs/validation.md, nests";

    /// Maximum number of iterations of a loop that has a handful.
    MAX_HANDFUL_OF_ITERATIONS: usize = 5, unit "iterations", validated "docs/validation.md, nests";

    /// Fewest rounds that are no chance.
    MIN_ROUNDS: usize = 6, unit "rounds", validated "analysis/tests/iterations.rs";

    /// Share of a loop's computation that lies after the first iterations of its bursts, up to which these are one iteration each.
    MAX_COMPUTATION_WITHIN_BURST: f64 = 0.05, unit "of computation", validated "tests/statements/laboratory, ring";

    /// Most iterations of a round.
    MAX_ITERATIONS_OF_ROUND: usize = 16, unit "iterations", validated "analysis/tests/iterations.rs";

    /// The longest body that is looked for by its repetition. Longer ones are found as cycles; this is for the inner loops that cycles cannot distinguish,
    /// two short ones after another, each run twice.
    MAX_REPEATED_CALLS: usize = 32, unit "calls", validated "analysis/tests/iterations.rs";

    /// Most sections inside the loop after the last anchor in which the rest of its iteration is looked for.
    MAX_SECTIONS_AFTER_ANCHOR: usize = 3, unit "sections", validated "analysis/tests/iterations.rs";

    /// Maximum difference between the possible and the counted number of iterations: what comes once in each may be missing in the first or the last, and be
    /// made once or twice beside them. More than that is another use of the same function.
    MAX_MISCOUNTED_ITERATIONS: u64 = 2, unit "iterations", validated "analysis/tests/iterations.rs";

    /// Number of iterations within one of another loop from which on the loop is finer, and the numbers do not just differ at the ends.
    MIN_ITERATIONS_OF_FINER_LOOP: u32 = 2, unit "iterations", validated "analysis/tests/iterations.rs";

    /// Seconds computed in an iteration up to which one of calls that may spin does: a program that yields its core, or sleeps for the shortest time that the
    /// system knows, spins.
    MAX_SPIN_S: f64 = 100e-6, unit "s", validated "tests/statements/truth.rs, polls";

    /// Iterations, of the rank that has fewer, within which two ranks exchange messages at least once if they are in step.
    MAX_ITERATIONS_BETWEEN_MESSAGES: u64 = 10, unit "iterations", validated "analysis/tests/iterations.rs";
}
