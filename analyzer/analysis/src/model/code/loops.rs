//! Loops that were found in the calls of programs without markers.

use bincode::{Decode, Encode};
use std::num::NonZeroU32;

/// A loop, found in the calls of some ranks that run the same code.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct Loop {
    /// Its name as a region.
    pub name: String,
    /// The loop around it, as an index.
    pub parent: Option<usize>,
    /// True if it is the main loop of its ranks.
    pub main: bool,
    /// True if it has a region of its own: the main loop, and those in it that take much of its time.
    pub is_region: bool,
    /// The ranks.
    pub ranks: Vec<u32>,
    /// Call sites whose calls end an iteration, with the operation's number.
    pub anchor: Vec<(Option<u32>, u16)>,
    /// The anchors that end an iteration.
    pub anchors: IterationAnchors,
    /// Reliability of these ends.
    pub ends: IterationEnds,
    /// Uncertainty of the number of iterations; of the main loop alone.
    pub count: IterationCount,
    /// True if no other code of the program makes the calls that come once in each iteration, as far as their paths show; of the main loop
    /// alone.
    pub is_unique: bool,
    /// True if one of the calls that come once in each iteration is in `main`; of the main loop alone.
    pub is_in_main: bool,
    /// True if a script makes the calls that end iterations, and the log does not have the script's functions.
    pub is_interpreted: bool,
    /// True if another loop takes turns with it and ends iterations at the same place of the code: they may be phases of one.
    pub is_split: bool,
    /// True if nothing but its rhythm makes it a loop around an inner one, whose iterations may be the program's.
    pub by_rhythm: bool,
    /// True if the code has another loop around it, by which it may get from an iteration to the next without another call: how often that goes around is
    /// not known.
    pub has_silent_loop_around: bool,
    /// True if one of its calls is a collective operation.
    pub has_collectives: bool,
    /// The iterations of other ranks that exchange messages with these, where they are as many ranks or more and make another number of
    /// them; of the main loop alone.
    pub others: Option<u32>,
    /// Iterations of the loop detected in the calls, if the user named what ends an iteration.
    pub detected: Option<u32>,
    /// Iterations within one of the main loop, on average; 1 of the main loop itself, less of one around it.
    pub for_each_main: f64,
    /// Fewest and most of them within one of the loop around it, in the calls that were searched; `None` where that is not known.
    pub in_parent: Option<(u32, u32)>,
    /// Share of the main loop's time that it takes, in 0..=1; above 1 of one around it.
    pub share_of_main: f64,
    /// True if the user said which call ends an iteration.
    pub named: bool,
    /// Class of each kind of call, by the survey's index.
    pub classes: Vec<TokenClass>,
}

impl Loop {
    fn class(&self, token: u32) -> TokenClass {
        self.classes.get(token as usize).copied().unwrap_or_default()
    }

    /// Returns whether calls of this kind are polls, and none of its own.
    pub fn polls(&self, token: u32) -> bool {
        self.class(token) == TokenClass::Neutral
    }

    /// Returns the number of kinds of calls that belong to the loop.
    pub fn kinds(&self) -> usize {
        self.classes.iter().filter(|class| class.is_of_loop()).count()
    }

    /// Returns whether some kind of calls belongs to both loops.
    pub fn has_common_kinds(&self, other: &Loop) -> bool {
        self.classes.iter().zip(&other.classes).any(|(own, others)| own.is_of_loop() && others.is_of_loop())
    }

    /// Returns whether calls of this kind end its iterations.
    pub fn ends_with(&self, token: u32) -> bool {
        self.class(token) == TokenClass::Anchor
    }

    /// Returns whether calls of this kind belong to it, in each iteration or in some.
    pub fn has(&self, token: u32) -> bool {
        self.class(token).is_of_loop() || self.class(token) == TokenClass::Occasional
    }

    /// Returns whether calls of this kind can come between calls of the loop: its own, and polls.
    pub fn can_contain(&self, token: u32) -> bool {
        self.has(token) || self.polls(token)
    }
}

/// Why no loop was sought or found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub enum NoLoopReason {
    /// There is one.
    #[default]
    Nothing,
    /// The user did not want one.
    NotWanted,
    /// Iterations are marked.
    Marked,
    /// Calls were not recorded, only profiles.
    Profiles,
    /// Calls were not read, only summaries.
    Summaries,
    /// No calls repeat themselves.
    NoneFound,
    /// No call site is the one that the user named.
    NoSuchCallSite,
}

/// The anchors that end an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct IterationAnchors {
    /// True if the last of an uninterrupted run of them does.
    pub run: bool,
    /// Every `every`-th of them does.
    pub every: NonZeroU32,
}

impl Default for IterationAnchors {
    fn default() -> Self {
        IterationAnchors { run: false, every: NonZeroU32::MIN }
    }
}

/// The meaning of a token when a rank's calls are split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub enum TokenClass {
    /// Not of the loop.
    #[default]
    Foreign,
    /// Belongs to the loop, within an iteration.
    Inside,
    /// Ends an iteration of the loop.
    Anchor,
    /// Not of the loop's usual calls, but made between its iterations alone: as output in every tenth step.
    Occasional,
    /// Neither here nor there: a poll, whose number says nothing. It joins the interval that it comes in.
    Neutral,
}

impl TokenClass {
    /// Returns whether a call of this class is the loop's.
    #[inline]
    pub fn is_of_loop(self) -> bool {
        matches!(self, TokenClass::Inside | TokenClass::Anchor)
    }
}

/// Reliability of the ends of a loop's iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub enum IterationEnds {
    /// The body may also be run to set up, or in part, without an iteration of the loop.
    #[default]
    Found,
    /// Each of them is the end of an iteration, whatever lies before it: a call that only the loop itself makes, or that the user named.
    Each,
}

/// Uncertainty of the number of a loop's iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct IterationCount {
    /// Number by which the count may be too high.
    pub fewer: u32,
    /// Number by which the count may be too low.
    pub more: u32,
}

/// The bytes that the iterations of a rank carry, and the calls in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct CarriedCalls {
    /// Number of iterations that carry from half to twice the median of all bytes.
    pub alike: u32,
    /// Calls in all iterations.
    pub calls: u64,
    /// Number of these calls that are not the loop's.
    pub foreign: u64,
    /// Bytes that the calls send and receive.
    pub bytes: u64,
}

/// The main loop found in a rank's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct FoundLoopOfRank {
    /// Index in [`crate::model::Model::loops`].
    pub at: usize,
    /// Its iterations.
    pub iterations: u32,
    /// Number of iterations with the most common kinds of calls.
    pub alike: u32,
    /// The bytes and calls of these iterations.
    pub carried: CarriedCalls,
}
