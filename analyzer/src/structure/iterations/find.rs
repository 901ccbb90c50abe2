//! The loops in a rank's calls, found from the calls alone.

use crate::structure::iterations::candidates::{self, Followers};
use crate::structure::iterations::judge::{self, FEWEST_ITERATIONS};
use crate::structure::iterations::outline;
use crate::structure::iterations::sequence::Sequence;

/// One MPI call of the rank's main thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operation, call site and communicator, as one number; small numbers, for there is a table over them.
    pub token: u32,
    /// When it was entered, in ticks.
    pub begin: u64,
    /// When it returned, in ticks; not before `begin`.
    pub end: u64,
}

/// The calls in which loops are looked for: successive ones, polls left out.
#[derive(Clone, Copy)]
pub struct Window<'a> {
    /// The calls, in their order.
    pub steps: &'a [Step],
    /// Whether these are all the calls of the rank, so that the first and the last iteration are in it.
    pub whole_run: bool,
    /// Whether a token is a collective operation: a better end of an iteration than a message between two ranks.
    pub is_collective: &'a dyn Fn(u32) -> bool,
    /// Whether calls of a token hand something out to one rank after another, or collect it: a loop of nothing else, in which no computation
    /// is worth naming, is none.
    pub is_fan: &'a dyn Fn(u32) -> bool,
    /// Whether a program may call a token again and again until something has happened: a loop of nothing else is none, where most
    /// iterations compute less than `spin` ticks.
    pub may_spin: &'a dyn Fn(u32) -> bool,
    /// See `may_spin`.
    pub spin: u64,
}

/// What marks the end of each iteration of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Each of these ends an iteration; ascending.
    pub tokens: Vec<u32>,
    /// Whether an uninterrupted run of them ends one iteration, not each of them.
    pub run: bool,
}

/// A loop of the program, as far as its calls tell.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundLoop {
    /// The loop around it, an index into the same list; `None` for an outermost loop.
    pub parent: Option<usize>,
    /// All tokens that occur inside, those of inner loops too; ascending.
    pub tokens: Vec<u32>,
    /// What ends an iteration.
    pub anchor: Anchor,
    /// Tokens that occur exactly once in each iteration that the window shows as a whole; ascending.
    pub core: Vec<u32>,
    /// Whether nothing but its rhythm makes it a loop around an inner one: what a program does in every fifth iteration, as output, is
    /// no other in its calls than a loop of five steps.
    pub by_rhythm: bool,
    /// Anchors in the window: its iterations, those that the window cuts off included.
    pub iterations: usize,
    /// Ticks of the window that the loop covers.
    pub time: u64,
    /// Share of the iterations that consist of the same calls as the most common kind of them, in 0..=1.
    pub alike: f64,
    /// Whether this is the program's main loop. At most one is.
    pub main: bool,
}

/// Times that the search begins anew after some loops were found: no program has so many in one another, and other sequences of
/// calls shall not take long.
const MOST_CYCLES: usize = 50;
/// The same for bodies that repeat themselves at once.
const MOST_REPEATED: usize = 50;

/// The loops in a window of a rank's calls, each behind the loop around it. Empty where nothing repeats at least three times.
pub fn find_loops(window: &Window) -> Vec<FoundLoop> {
    let mut sequence = Sequence::new(window.steps);
    reduce_repeated(&mut sequence, window);
    let mut followers = Followers::of(&sequence.items);
    let mut least = followers.most();
    let mut found = 0;
    while FEWEST_ITERATIONS - 1 <= least && found < MOST_CYCLES {
        if judge::reduce(&mut sequence, window, &followers.cycles(least)) {
            found += 1;
            reduce_repeated(&mut sequence, window);
            followers = Followers::of(&sequence.items);
            least = least.min(followers.most());
        } else {
            // Counts that differ by less mean the same: the window cuts some off.
            least = (least * 2 / 3).min(least - 1);
        }
    }
    outline::loops(&sequence, window)
}

/// Looks for bodies that repeat themselves at once, always the shortest first: when it is replaced, what it lies in may repeat
/// itself in turn.
fn reduce_repeated(sequence: &mut Sequence, window: &Window) {
    let mut found = 0;
    let mut period = 1;
    while period <= candidates::LONGEST_PERIOD {
        let groups = candidates::repeated(&sequence.items, period);
        if found < MOST_REPEATED && !groups.is_empty() && judge::reduce(sequence, window, &groups) {
            found += 1;
            period = 1;
        } else {
            period += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls named by letters, each 1 tick long after 9 ticks of computation.
    fn steps(calls: &str) -> Vec<Step> {
        let step =
            |(at, call): (usize, u8)| Step { token: call.into(), begin: 10 * at as u64 + 9, end: 10 * at as u64 + 10 };
        calls.bytes().enumerate().map(step).collect()
    }

    /// The loops: their calls, what ends an iteration, how many iterations, deeper ones behind more `>`, the main one starred.
    fn found(steps: &[Step], whole_run: bool) -> Vec<String> {
        let loops = find_loops(&Window {
            steps,
            whole_run,
            is_collective: &|token| token == u32::from(b'C'),
            is_fan: &|token| token == u32::from(b'W'),
            may_spin: &|token| token == u32::from(b'g') || token == u32::from(b'h'),
            spin: 5,
        });
        let letters = |tokens: &[u32]| tokens.iter().filter_map(|&token| char::from_u32(token)).collect::<String>();
        let line = |one: &FoundLoop| {
            let mut depth = 0;
            let mut around = one.parent;
            while let Some(at) = around {
                depth += 1;
                around = loops[at].parent;
            }
            let run = if one.anchor.run { "+" } else { "" };
            let main = if one.main { " *" } else { "" };
            let (calls, end) = (letters(&one.tokens), letters(&one.anchor.tokens));
            format!("{}{calls} by {end}{run}: {}{main}", ">".repeat(depth), one.iterations)
        };
        loops.iter().map(line).collect()
    }

    fn in_whole(calls: &str) -> Vec<String> {
        found(&steps(calls), true)
    }

    #[test]
    fn a_plain_loop_is_found_with_its_last_call_as_anchor() {
        assert_eq!(in_whole(&format!("S{}E", "FGR".repeat(20))), ["FGR by R: 20 *"]);
        assert_eq!(in_whole("AAAAAA"), ["A by A: 6 *"]);
    }

    #[test]
    fn nothing_repeats_at_least_three_times() {
        assert_eq!(in_whole(""), [""; 0]);
        assert_eq!(in_whole("ABCDEF"), [""; 0]);
        assert_eq!(in_whole("ABAB"), [""; 0]);
    }

    #[test]
    fn a_function_called_twice_in_an_iteration_ends_none() {
        assert_eq!(in_whole(&format!("S{}E", "HDHB".repeat(20))), ["BDH by B: 20 *"]);
        assert_eq!(in_whole(&format!("S{}E", "HDHBHGHX".repeat(20))), ["BDGHX by X: 20 *"]);
        assert_eq!(in_whole(&format!("S{}E", "abcXabcY".repeat(20))), ["XYabc by Y: 20 *"]);
        assert_eq!(in_whole(&format!("S{}E", "AAB".repeat(20))), ["AB by B: 20 *", ">A by A: 40"]);
        assert_eq!(in_whole(&format!("S{}E", "ABA".repeat(20))), ["AB by B: 20 *"]);
    }

    #[test]
    fn loops_in_loops() {
        let step = format!("{}EFG", "abc".repeat(25));
        assert_eq!(in_whole(&format!("S{}X", step.repeat(30))), ["EFGabc by G: 30 *", ">abc by c: 750"]);
        let step = format!("{}{}", "abc".repeat(2), "xyz".repeat(2));
        assert_eq!(
            in_whole(&format!("S{}X", step.repeat(30))),
            ["abcxyz by xyz+: 30 *", ">xyz by z: 60", ">abc by c: 60"]
        );
        let step = format!("{}{}", "a".repeat(10), "b".repeat(20));
        assert_eq!(in_whole(&format!("S{}X", step.repeat(30))), ["ab by b+: 30 *", ">a by a: 300", ">b by b: 600"]);
    }

    #[test]
    fn variants_of_an_iteration_are_one_loop() {
        let rebuilt = format!("{}XBR", "FR".repeat(19));
        assert_eq!(in_whole(&format!("S{}E", rebuilt.repeat(10))), ["BFRX by R: 200 *"]);
        let branches: String = (0..100).map(|k| if k * k % 7 < 3 { "HAR" } else { "HBR" }).collect();
        assert_eq!(in_whole(&format!("S{branches}E")), ["ABHR by R: 100 *"]);
    }

    #[test]
    fn what_half_of_the_iterations_do_besides_is_a_part_of_them() {
        let besides: String = (0..100).map(|k| if k * k % 7 < 3 { "FR" } else { "FRT" }).collect();
        assert_eq!(in_whole(&format!("S{besides}E")), ["FRT by R: 100 *"]);
    }

    #[test]
    fn what_only_hands_out_is_no_loop() {
        // Between calls 9 of 10 ticks are computed: of 3 among 103 calls nothing worth naming.
        assert_eq!(in_whole(&format!("S{}WWW", "FGR".repeat(33))), ["FGR by R: 33 *"]);
        assert_eq!(
            in_whole(&format!("S{}", "WWWR".repeat(20))),
            ["RW by R: 20 *", ">W by W: 60"],
            "most is computed there"
        );
        let quick =
            |(at, call): (usize, u8)| Step { token: call.into(), begin: 100 * at as u64, end: 100 * at as u64 + 99 };
        let steps: Vec<Step> = format!("S{}", "WWWR".repeat(20)).bytes().enumerate().map(quick).collect();
        assert_eq!(found(&steps, true), ["RW by R: 20 *"], "calls of it are calls of the loop around it");
        let steps: Vec<Step> = "SWWWWW".bytes().enumerate().map(quick).collect();
        assert_eq!(found(&steps, true), [""; 0]);
    }

    #[test]
    fn what_only_spins_is_no_loop() {
        let quick = |calls: &str, computes: u64| -> Vec<Step> {
            let step = |(at, call): (usize, u8)| {
                let begin = 10 * at as u64 + computes;
                Step { token: call.into(), begin, end: 10 * at as u64 + 10 }
            };
            calls.bytes().enumerate().map(step).collect()
        };
        assert_eq!(found(&quick(&format!("S{}E", "gh".repeat(50)), 1), true), [""; 0]);
        // The steps around it are one; with work between the calls, as on what a counter gave, it is one itself.
        let steps: String = (1..20).map(|step| format!("{}R", "g".repeat(3 * step % 7 + 2))).collect();
        assert_eq!(found(&quick(&format!("S{steps}E"), 1), true), ["Rg by R: 19 *"]);
        assert_eq!(found(&quick(&format!("S{}E", "gh".repeat(50)), 9), true), ["gh by h: 50 *"]);
    }

    #[test]
    fn occasional_calls_do_not_make_a_loop() {
        let output = format!("{}T", "FR".repeat(10));
        assert_eq!(in_whole(&format!("S{}E", output.repeat(10))), ["FR by R: 100 *"]);
    }
}
