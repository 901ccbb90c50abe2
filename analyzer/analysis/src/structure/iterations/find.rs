//! Finds the loops in a rank's calls, from the calls alone.

use crate::structure::iterations::candidates::{self, FollowerCounts};
use crate::structure::iterations::judge;
use crate::structure::iterations::patterns::found_loop::{FoundLoop, count_within};
use crate::structure::iterations::patterns::outline;
use crate::structure::iterations::sequence::CallSequence;
use crate::structure::iterations::window::CallWindow;
use lbprof_thresholds::loops::MIN_LOOP_ITERATIONS;

/// Maximum number of searches after some loops were found: more than the depth of nested loops in any program, and a limit for other sequences
/// of calls.
const MOST_CYCLES: usize = 50;
/// Maximum length of bodies that repeat themselves at once.
const MOST_REPEATED: usize = 50;

/// Returns the loops in a window of a rank's calls, each after the loop around it; empty if nothing repeats at least three times.
pub fn find_loops(window: &CallWindow) -> Vec<FoundLoop> {
    let mut sequence = CallSequence::new(window.calls);
    reduce_repeated(&mut sequence, window);
    let mut followers = FollowerCounts::count(&sequence.items);
    let mut least = followers.most();
    let mut found = 0;
    while MIN_LOOP_ITERATIONS - 1 <= least && found < MOST_CYCLES {
        if judge::replace_loops(&mut sequence, window, &followers.cycles(least)) {
            found += 1;
            reduce_repeated(&mut sequence, window);
            followers = FollowerCounts::count(&sequence.items);
            least = least.min(followers.most());
        } else {
            // Counts that differ by less mean the same: the window cuts some off.
            least = (least * 2 / 3).min(least - 1);
        }
    }
    let mut loops = outline::outline_loops(&sequence, window);
    for at in 0..loops.len() {
        let Some(around) = loops[at].parent.and_then(|parent| loops.get(parent)) else { continue };
        let tokens = window.calls.iter().map(|call| call.token);
        loops[at].in_parent = count_within(tokens, window.whole_run, &loops[at].anchor, &around.anchor);
    }
    loops
}

/// Looks for bodies that repeat themselves at once, always the shortest first: when it is replaced, the section around it may repeat itself in turn.
fn reduce_repeated(sequence: &mut CallSequence, window: &CallWindow) {
    let mut found = 0;
    let mut period = 1;
    while period <= lbprof_thresholds::loops::MAX_REPEATED_CALLS {
        let groups = candidates::repeated_bodies(&sequence.items, period);
        if found < MOST_REPEATED && !groups.is_empty() && judge::replace_loops(sequence, window, &groups) {
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
    use crate::structure::iterations::window::{CallInterval, CallRole};

    /// Calls named by letters, each 1 tick long after 9 ticks of computation.
    fn steps(calls: &str) -> Vec<CallInterval> {
        steps_after(calls, 9, 10)
    }

    /// Calls named by letters, one in each `period` ticks, each after `computes` ticks of computation.
    fn steps_after(calls: &str, computes: u64, period: u64) -> Vec<CallInterval> {
        (0..)
            .zip(calls.bytes())
            .map(|(at, call)| {
                let (begin, end) = (period * at + computes, period * (at + 1));
                CallInterval { token: call.into(), begin, end, peer: 0, tag: 0 }
            })
            .collect()
    }

    /// The loops: their calls, the end of an iteration, number of iterations, deeper ones after more `>`, the main one starred.
    fn found(calls: &[CallInterval], whole_run: bool) -> Vec<String> {
        let loops = find_loops(&CallWindow {
            calls,
            whole_run,
            is_collective: &|token| token == u32::from(b'C'),
            is_distribution: &|token| token == u32::from(b'W'),
            may_spin: &|token| token == u32::from(b'g') || token == u32::from(b'h'),
            spin: 5,
            is_partial_completion: &|token| token == u32::from(b's'),
            // Digits are calls of the function that calls the others.
            is_called_by: &|inner, outer| {
                let is_outer = |token: u32| (u32::from(b'0')..=u32::from(b'9')).contains(&token);
                !is_outer(inner.from) && !is_outer(inner.to) && (is_outer(outer.from) || is_outer(outer.to))
            },
            // The code shows what some calls are.
            role_of: &|turn, call| match u8::try_from(call) {
                // `q` and `v` are a solver's cycle, which `F` and `R` are outside of.
                Ok(b'F' | b'R') if [b'q', b'v'].map(u32::from).contains(&turn.from) => Some(CallRole::Around),
                Ok(b'<') => Some(CallRole::Around),
                Ok(b'?') => Some(CallRole::PerhapsAround),
                Ok(b'>') => Some(CallRole::Within),
                _ => None,
            },
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
    fn a_function_that_is_called_anew_is_an_inner_loop_however_often_it_goes_around() {
        let cycles: String = [3, 10, 6, 13, 9, 5, 12, 8].iter().map(|&n| format!("1{}2", "ab".repeat(n))).collect();
        assert_eq!(in_whole(&format!("S{cycles}E")), ["12ab by 2: 8 *", ">ab by b: 66"]);
        let cycles = cycles.replace('1', "X").replace('2', "Y");
        assert_eq!(in_whole(&format!("S{cycles}E")), ["ab by b: 66 *"], "extras of one function");
    }

    #[test]
    fn the_code_shows_whether_a_call_is_of_a_loop_around_or_of_some_iterations() {
        let visits = |call: &str, n: usize| format!("{}{call}", "FR".repeat(n));
        assert_eq!(in_whole(&format!("S{}E", visits(">", 3).repeat(20))), [">FR by R: 60 *"], "every third step");
        assert_eq!(in_whole(&format!("S{}E", visits("<", 12).repeat(20))), ["<FR by <: 20 *", ">FR by R: 240"]);
        assert_eq!(in_whole(&format!("S{}E", visits("T", 12).repeat(20))), ["FR by R: 240 *"], "without the code");
        assert_eq!(in_whole(&format!("S{}E", visits("?", 12).repeat(20))), ["FR by R: 240 *"]);
    }

    #[test]
    fn the_end_of_an_inner_loop_that_mostly_goes_around_once_ends_no_step() {
        let steps = |cycle: &str| {
            (0..60).map(|k| format!("FR{}", cycle.repeat(1 + usize::from(k % 3 == 1)))).collect::<String>()
        };
        assert_eq!(in_whole(&format!("S{}E", steps("uw"))), ["FRuw by w: 80 *"], "without the code");
        assert_eq!(in_whole(&format!("S{}E", steps("qv"))), ["FRqv by R: 60 *"]);
    }

    #[test]
    fn a_loop_around_another_one_is_found_however_long_ranks_wait_in_the_inner_one() {
        let step = format!("{}EFG", "abc".repeat(25));
        let mut calls = steps(&format!("S{}X", step.repeat(30)));
        let mut waited = 0;
        for call in &mut calls {
            call.begin += waited;
            waited += if call.token == u32::from(b'b') { 400 } else { 0 };
            call.end += waited;
        }
        assert_eq!(found(&calls, true), ["EFGabc by G: 30 *", ">abc by c: 750"]);
    }

    #[test]
    fn what_waits_longest_is_not_the_main_loop_where_another_one_computes() {
        // A summary at the end: 40 collectives of 100 ticks each, without computation between them. Before it 40 steps that compute for 18 of 20 ticks each.
        let mut calls = steps(&format!("S{}", "FR".repeat(40)));
        let mut now = calls.last().unwrap().end;
        for _ in 0..40 {
            for token in [u32::from(b'C'), u32::from(b'D')] {
                calls.push(CallInterval { token, begin: now, end: now + 50, peer: 0, tag: 0 });
                now += 50;
            }
        }
        assert_eq!(found(&calls, true), ["CD by D: 40", "FR by R: 40 *"]);
        // Where neither computes, it is the longer one.
        for call in &mut calls[..81] {
            call.begin = call.end - 10;
        }
        assert_eq!(found(&calls, true), ["CD by D: 40 *", "FR by R: 40"]);
    }

    #[test]
    fn variants_of_an_iteration_are_one_loop() {
        let rebuilt = format!("{}XBR", "FR".repeat(19));
        assert_eq!(in_whole(&format!("S{}E", rebuilt.repeat(10))), ["BFRX by R: 200 *"]);
        let branches: String = (0..100).map(|k| if k * k % 7 < 3 { "HAR" } else { "HBR" }).collect();
        assert_eq!(in_whole(&format!("S{branches}E")), ["ABHR by R: 100 *"]);
    }

    #[test]
    fn a_call_that_completes_some_requests_ends_no_iteration() {
        let steps =
            |call: &str| (0..16).map(|k| format!("IS{}", call.repeat(1 + usize::from(k % 8 < 5)))).collect::<String>();
        assert_eq!(in_whole(&format!("B{}E", steps("s"))), ["ISs by S: 16 *"]);
        assert_eq!(in_whole(&format!("B{}E", steps("W"))), ["ISW by W: 26 *"], "another call may");
        assert_eq!(in_whole("sssss"), ["s by s: 5 *"], "unless there is no other");
    }

    #[test]
    fn what_half_of_the_iterations_do_besides_is_a_part_of_them() {
        let besides: String = (0..100).map(|k| if k * k % 7 < 3 { "FR" } else { "FRT" }).collect();
        assert_eq!(in_whole(&format!("S{besides}E")), ["FRT by R: 100 *"]);
    }

    #[test]
    fn what_only_hands_out_is_no_loop() {
        // Each call takes 1 tick after 9 ticks of computation: the computation of 3 among 103 calls is not worth naming.
        assert_eq!(in_whole(&format!("S{}WWW", "FGR".repeat(33))), ["FGR by R: 33 *"]);
        assert_eq!(
            in_whole(&format!("S{}", "WWWR".repeat(20))),
            ["RW by R: 20 *", ">W by W: 60"],
            "most is computed there"
        );
        let steps = steps_after(&format!("S{}", "WWWR".repeat(20)), 1, 100);
        assert_eq!(found(&steps, true), ["RW by R: 20 *"], "calls of it are calls of the loop around it");
        assert_eq!(found(&steps_after("SWWWWW", 1, 100), true), [""; 0]);
    }

    #[test]
    fn what_only_spins_is_no_loop() {
        assert_eq!(found(&steps_after(&format!("S{}E", "gh".repeat(50)), 1, 10), true), [""; 0]);
        // The steps around it are one; with work between the calls, as on what a counter gave, it is one itself.
        let steps: String = (1..20).map(|step| format!("{}R", "g".repeat(3 * step % 7 + 2))).collect();
        assert_eq!(found(&steps_after(&format!("S{steps}E"), 1, 10), true), ["Rg by R: 19 *"]);
        assert_eq!(in_whole(&format!("S{}E", "gh".repeat(50))), ["gh by h: 50 *"]);
    }

    #[test]
    fn occasional_calls_do_not_make_a_loop() {
        let output = format!("{}T", "FR".repeat(10));
        assert_eq!(in_whole(&format!("S{}E", output.repeat(10))), ["FR by R: 100 *"]);
    }
}
