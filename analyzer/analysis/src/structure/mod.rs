//! The structure of a program without markers: its loops, and regions named by the call sites around them.
//!
//! ```text
//!   survey ─→ loops/       groups ranks that run the same calls (loop_group.rs, unassigned_ranks.rs), and searches the calls of one rank of
//!          │               each group for loops (calls.rs); groups that meet in each iteration have the same iterations (lockstep.rs);
//!          │               calls that hand out data in a marked phase form no loop (distribution.rs)
//!          └→ segments.rs  makes a region of the code between two call sites if enough time is spent there
//!                placer.rs assigns a rank's calls to loops and regions, one by one, while they are folded
//! ```
//!
//! A call belongs to the loop of its token, and so does the computation before it. The computation before the loop's first call is outside, as
//! is code of a function around the loop: it runs before the loop is entered. Markers take precedence: with marked iterations no loop is
//! searched, and with marked phases no code is named by its call sites.

pub mod call_kinds;
pub mod code;
mod duplicate_calls;
pub(crate) mod interning;
pub mod iterations;
mod loops;
mod placer;
mod program_loops;
pub mod region_path;
mod segment_name;
mod segments;
pub mod survey;

use bincode::{Decode, Encode};
use rustc_hash::FxHashSet;
use std::collections::HashMap;

use crate::model::code::loops::{Loop, NoLoopReason};

pub use loops::options::StructureOptions;
pub use placer::{CallPlacer, FoundRegion, PlacedCall};

use crate::read::open::RecordedRun;
use crate::structure::code::symbols::ResolvedNames;
use crate::structure::survey::{CallSurvey, CallToken};
use segments::CodeSegments;
pub use segments::{CodePart, CodePath, OTHER};

/// Loops and regions of a run, for all its ranks.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct RunStructure {
    /// The loops, outer ones before those in them.
    pub loops: Vec<Loop>,
    /// The reason why there is no loop.
    pub without: NoLoopReason,
    /// The main loop of each rank that has one, as an index in `loops`.
    main_of: HashMap<u32, usize>,
    segments: Option<CodeSegments>,
    /// For each loop, the call of the innermost function around all its calls, or `None` if there is none or it is unknown.
    loop_calls: Vec<Option<u32>>,
    /// For each loop, the code between two of its calls, ascending.
    loop_code: Vec<Vec<u32>>,
    tokens: HashMap<CallToken, u32>,
}

impl RunStructure {
    /// Finds loops and regions in `run`. `names` are the names of its call sites.
    pub fn find(
        run: &RecordedRun,
        survey: &CallSurvey,
        names: &ResolvedNames,
        wanted: &StructureOptions,
    ) -> RunStructure {
        let (tokens, counted) = duplicate_calls::as_one(survey, &names.first_copy);
        let mut structure =
            RunStructure { tokens, without: reason_without_loop(survey, wanted), ..RunStructure::default() };
        if structure.without == NoLoopReason::Nothing {
            structure.loops = loops::find_run_loops(run, &counted, names, wanted, &structure.tokens);
            structure.without = match structure.loops.is_empty() {
                false => NoLoopReason::Nothing,
                true if wanted.loop_at.is_some() => NoLoopReason::NoSuchCallSite,
                true => NoLoopReason::NoneFound,
            };
            for (at, one) in structure.loops.iter_mut().enumerate() {
                one.named = wanted.loop_at.is_some();
                let ranks = one.ranks.iter().filter(|_| one.main);
                structure.main_of.extend(ranks.map(|&rank| (rank, at)));
            }
        }
        if wanted.detect && !survey.marked_phases && !survey.profiles && !survey.summaries {
            let segments = CodeSegments::new(survey, names);
            for one in &structure.loops {
                let places = places_of(one, survey, &segments);
                structure.loop_calls.push(segments.function_around(&places));
                structure.loop_code.push(segments.code_within(&places));
            }
            structure.segments = Some(segments);
        }
        structure
    }

    /// Returns the main loop of a rank.
    pub fn main_loop(&self, rank: u32) -> Option<usize> {
        self.main_of.get(&rank).copied()
    }

    /// Returns the innermost loop, out of a loop and the loops around it, that contains some code between calls, or `None` if none of them does. The
    /// code before an inner loop's first call is not part of the inner loop, unless it also comes between two of its calls.
    fn loop_around(&self, in_loop: usize, segment: u32) -> Option<usize> {
        let Some(segments) = &self.segments else { return Some(in_loop) };
        std::iter::successors(Some(in_loop), |at| self.loops.get(*at)?.parent.filter(|parent| parent < at)).find(|at| {
            let call = self.loop_calls.get(*at).copied().flatten();
            self.has_code(*at, segment) && segments.is_in(segment, call)
        })
    }

    /// Returns whether code between calls is between two of a loop's calls.
    fn has_code(&self, in_loop: usize, segment: u32) -> bool {
        segment == 0 || self.loop_code.get(in_loop).is_none_or(|code| code.binary_search(&segment).is_ok())
    }

    /// Returns the names of a loop and the loops around it, from the main loop on, each with whether it is iterated.
    pub fn loop_path(&self, at: usize) -> Vec<(&str, bool)> {
        let around = std::iter::successors(self.loops.get(at), |one| self.loops.get(one.parent.filter(|_| !one.main)?));
        let mut path: Vec<(&str, bool)> = around.map(|one| (one.name.as_str(), one.main)).collect();
        path.reverse();
        path
    }

    /// Returns code between calls with the functions around it, as far as they lie in this loop.
    pub fn code_path(&self, in_loop: Option<usize>, segment: u32) -> CodePath {
        let call = in_loop.and_then(|at| self.loop_calls.get(at).copied().flatten());
        let found = self.segments.as_ref().and_then(|segments| segments.path(segment, call));
        found.unwrap_or_else(|| CodePath { parts: vec![CodePart::other()], ..CodePath::default() })
    }
}

fn places_of(one: &Loop, survey: &CallSurvey, segments: &CodeSegments) -> FxHashSet<u32> {
    let tokens = (0..).zip(&survey.tokens).filter(|(at, _)| one.can_contain(*at));
    tokens.map(|(_, token)| segments.place(token.site)).collect()
}

fn reason_without_loop(survey: &CallSurvey, wanted: &StructureOptions) -> NoLoopReason {
    if !wanted.detect {
        NoLoopReason::NotWanted
    } else if survey.profiles {
        NoLoopReason::Profiles
    } else if survey.summaries {
        NoLoopReason::Summaries
    } else if survey.marked_iterations && wanted.loop_at.is_none() {
        NoLoopReason::Marked
    } else {
        NoLoopReason::Nothing
    }
}
