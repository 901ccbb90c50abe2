//! Splits a rank's calls into intervals, call by call. An interval lies inside or outside of a loop. Inside, it ends with the anchor of an
//! iteration.
//!
//! ```text
//!   calls       S    F    R    F    F    R    T    F    R    E       F, R inside, R the anchor, S, T, E foreign
//!   intervals  |-0-|---1----|------2------|-3-|---4----|-5-|
//!               out   ended      ended     out   ended   out
//! ```
//!
//! The computation before a call belongs to the call's interval: computation between two iterations is the beginning of the next one. Only the
//! computation before the loop's first call stays outside of the loop.

use crate::model::code::loops::{IterationAnchors, TokenClass};

/// A section of a rank's calls, with the computation before each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IterationInterval {
    /// End of the call before it, in ticks. The first interval, and one that enters the loop, begin with their first call: the computation before the
    /// first iteration may be anything.
    pub begin: u64,
    /// End of its last call, in ticks.
    pub end: u64,
    /// The tokens seen, a bit each; polls have none. Inside, tokens share bits only when the loop has more than 64 of them;
    /// outside, any may share. So two intervals' signatures joined by `|` are the signature of both.
    pub signature: u64,
    /// Its calls, at most `u32::MAX`.
    pub calls: u32,
    /// Bytes that its calls send and receive, as given to [`CallSplitter::carry`].
    pub bytes: u64,
    /// True if its calls belong to the loop.
    pub inside: bool,
    /// True if it holds an anchor, which ends an iteration.
    pub ended_by_anchor: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct TokenMeaning {
    class: TokenClass,
    bit: u64,
}

/// Cuts a rank's calls into intervals, one call after the other.
#[derive(Debug)]
pub struct CallSplitter {
    meanings: Vec<TokenMeaning>,
    anchors: IterationAnchors,
    /// Number of anchors since the last that ended an iteration, if not each of them does.
    since_end: u32,
    closed: Vec<IterationInterval>,
    open: Option<OpenInterval>,
}

/// The interval of the last call. It may lie inside or outside of the loop while it has only polls.
#[derive(Clone, Copy, Debug, Default)]
struct OpenInterval {
    interval: IterationInterval,
    foreign: bool,
}

impl CallSplitter {
    /// Creates a splitter by `classes[token]`; other tokens are foreign.
    pub fn new(classes: Vec<TokenClass>, anchors: IterationAnchors) -> CallSplitter {
        let mut inside = 0u32;
        let meanings = classes.into_iter().enumerate().map(|(token, class)| {
            // Numbering assigns them to iterations, as all foreign calls.
            let class = if class == TokenClass::Occasional { TokenClass::Foreign } else { class };
            let bit = match class {
                TokenClass::Neutral => 0,
                TokenClass::Foreign | TokenClass::Occasional => foreign_bit(token as u32),
                TokenClass::Inside | TokenClass::Anchor => {
                    inside += 1;
                    1 << ((inside - 1) % u64::BITS)
                }
            };
            TokenMeaning { class, bit }
        });
        CallSplitter { meanings: meanings.collect(), anchors, since_end: 0, closed: Vec::new(), open: None }
    }

    /// Returns the number of the interval of the next call and the computation before it, counted from 0.
    #[inline]
    pub fn next(&mut self, token: u32, begin: u64, end: u64) -> u32 {
        let meaning = match self.meanings.get(token as usize) {
            Some(&meaning) => meaning,
            None => TokenMeaning { class: TokenClass::Foreign, bit: foreign_bit(token) },
        };
        let meaning = if meaning.class == TokenClass::Anchor { self.ended(meaning) } else { meaning };
        match &mut self.open {
            Some(open) if !is_new_interval(open, meaning.class, self.anchors.run) => open.take(meaning, end),
            _ => self.open_another(meaning, begin, end),
        }
        self.closed.len() as u32
    }

    /// Returns the meaning of an anchor: a call within an iteration, unless it ends one.
    #[inline]
    fn ended(&mut self, anchor: TokenMeaning) -> TokenMeaning {
        self.since_end += 1;
        if self.since_end < self.anchors.every.get() {
            return TokenMeaning { class: TokenClass::Inside, ..anchor };
        }
        self.since_end = 0;
        anchor
    }

    /// Adds the bytes that the last call sends and receives.
    #[inline]
    pub fn carry(&mut self, bytes: u64) {
        if let Some(open) = &mut self.open {
            open.interval.bytes = open.interval.bytes.saturating_add(bytes);
        }
    }

    #[cold]
    fn open_another(&mut self, meaning: TokenMeaning, begin: u64, end: u64) {
        let begin = match self.open.take() {
            Some(open) => {
                self.closed.push(open.interval);
                let enters = open.foreign && meaning.class.is_of_loop();
                if enters { begin } else { open.interval.end }
            }
            None => begin,
        };
        let interval = IterationInterval { begin, ..IterationInterval::default() };
        let mut open = OpenInterval { interval, ..OpenInterval::default() };
        open.take(meaning, end);
        self.open = Some(open);
    }

    /// Returns the intervals, in their order.
    pub fn finish(mut self) -> Vec<IterationInterval> {
        self.closed.extend(self.open.map(|open| open.interval));
        self.closed
    }
}

impl OpenInterval {
    #[inline]
    fn take(&mut self, meaning: TokenMeaning, end: u64) {
        let interval = &mut self.interval;
        interval.end = end;
        interval.calls = interval.calls.saturating_add(1);
        interval.signature |= meaning.bit;
        interval.inside |= meaning.class.is_of_loop();
        interval.ended_by_anchor |= meaning.class == TokenClass::Anchor;
        self.foreign |= meaning.class == TokenClass::Foreign;
    }
}

#[inline]
fn is_new_interval(open: &OpenInterval, class: TokenClass, run: bool) -> bool {
    let ended = open.interval.ended_by_anchor;
    match class {
        TokenClass::Foreign | TokenClass::Occasional => open.interval.inside,
        TokenClass::Inside => open.foreign || ended,
        TokenClass::Anchor => open.foreign || (ended && !run),
        // A poll after a run's first anchor may still have more of the run after it.
        TokenClass::Neutral => ended && !run,
    }
}

fn foreign_bit(token: u32) -> u64 {
    1 << (token % u64::BITS)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    /// The calls as words, one per interval: F and R belong to the loop, R ends an iteration, p is a poll, all others are foreign.
    fn intervals(calls: &str, run: bool) -> String {
        intervals_by(calls, IterationAnchors { run, ..IterationAnchors::default() })
    }

    fn intervals_by(calls: &str, anchors: IterationAnchors) -> String {
        let mut classes = vec![TokenClass::Foreign; 128];
        classes[b'F' as usize] = TokenClass::Inside;
        classes[b'R' as usize] = TokenClass::Anchor;
        classes[b'p' as usize] = TokenClass::Neutral;
        let mut splitter = CallSplitter::new(classes, anchors);
        let mut words = String::new();
        let mut last = 0;
        for (idx, call) in calls.bytes().enumerate() {
            let interval = splitter.next(call.into(), 10 * idx as u64 + 8, 10 * idx as u64 + 10);
            assert!(interval == last || interval == last + 1, "intervals are numbered in their order");
            if interval != last {
                words.push(' ');
            }
            words.push(call.into());
            last = interval;
        }
        let found = splitter.finish();
        assert_eq!(
            words.split(' ').map(str::len).collect::<Vec<_>>(),
            found.iter().map(|interval| interval.calls as usize).collect::<Vec<_>>()
        );
        words
    }

    #[test]
    fn an_interval_ends_with_the_anchor_and_where_the_loop_is_entered_or_left() {
        assert_eq!(intervals("SFRFFRTFRE", false), "S FR FFR T FR E");
        assert_eq!(intervals("FSSFR", false), "F SS FR");
    }

    #[test]
    fn every_anchor_ends_an_iteration_unless_a_run_of_them_does() {
        assert_eq!(intervals("FRRRFRR", false), "FR R R FR R");
        assert_eq!(intervals("FRRRFRR", true), "FRRR FRR");
        assert_eq!(intervals("FRSRR", true), "FR S RR");
    }

    #[test]
    fn every_third_anchor_ends_an_iteration_where_it_comes_three_times_in_each() {
        let third = IterationAnchors { every: NonZeroU32::new(3).unwrap(), ..IterationAnchors::default() };
        assert_eq!(intervals_by("SFRFRRFRRFRR", third), "S FRFRR FRRFR R");
        assert_eq!(intervals_by("RRSRRRR", third), "RR S R RRR");
    }

    #[test]
    fn a_poll_belongs_to_what_comes_after_an_anchor_and_else_to_where_it_is() {
        assert_eq!(intervals("FpRpFR", false), "FpR pFR");
        assert_eq!(intervals("SpFRpTE", false), "Sp FR pTE");
        assert_eq!(intervals("FRpRF", true), "FRpR F");
        assert_eq!(intervals("ppp", false), "ppp");
    }

    #[test]
    fn an_interval_begins_with_the_computation_before_its_first_call() {
        let mut splitter =
            CallSplitter::new(vec![TokenClass::Anchor, TokenClass::Foreign], IterationAnchors::default());
        splitter.next(0, 5, 10);
        splitter.next(0, 40, 50);
        splitter.next(1, 70, 71);
        let found = splitter.finish();
        let times: Vec<_> = found.iter().map(|interval| (interval.begin, interval.end)).collect();
        assert_eq!(times, [(5, 10), (10, 50), (50, 71)]);
        let sides: Vec<_> = found.iter().map(|interval| (interval.inside, interval.ended_by_anchor)).collect();
        assert_eq!(sides, [(true, true), (true, true), (false, false)]);
    }

    #[test]
    fn a_signature_has_a_bit_for_each_token_seen() {
        let mut splitter = CallSplitter::new(
            vec![TokenClass::Inside, TokenClass::Inside, TokenClass::Anchor, TokenClass::Neutral],
            IterationAnchors::default(),
        );
        for token in [0, 2, 0, 3, 0, 2, 1, 0, 2, 9] {
            splitter.next(token, 0, 0);
        }
        let signatures: Vec<u64> = splitter.finish().iter().map(|interval| interval.signature).collect();
        assert_eq!(signatures, [0b101, 0b101, 0b111, 1 << 9]);
    }

    #[test]
    fn no_calls_are_no_intervals() {
        assert_eq!(CallSplitter::new(Vec::new(), IterationAnchors::default()).finish(), []);
    }
}
