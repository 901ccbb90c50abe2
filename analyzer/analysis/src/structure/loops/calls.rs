//! The calls of the rank that stands for others, read from its log.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;

use lbprof_collector::format::BatchHead;
use lbprof_collector::reader::LogItem;
use lbprof_collector::{Operation, Record};
use lbprof_thresholds::loops::MAX_SPIN_S;
use rustc_hash::FxHashSet;

use super::distribution::DistributionFinder;
use super::named::NamedLoop;
use crate::model::code::loops::{IterationEnds, TokenClass};
use crate::model::code::sites::CallSite;
use crate::read::definitions::RankDefinitions;
use crate::read::open::RecordedRun;
use crate::structure::call_kinds::CallKinds;
use crate::structure::iterations::find::find_loops;
use crate::structure::iterations::numbering::number::number_iterations;
use crate::structure::iterations::numbering::occasional::occasional_tokens;
use crate::structure::iterations::numbering::split::CallSplitter;
use crate::structure::iterations::patterns::bursts::join_bursts;
use crate::structure::iterations::patterns::found_loop::FoundLoop;
use crate::structure::iterations::patterns::rounds::take_rounds;
use crate::structure::iterations::window::{CallInterval, CallRole, CallWindow, TokenPair};
use crate::structure::program_loops::activations::ActivationFinder;
use crate::structure::program_loops::loop_body::CallInLoop;
use crate::structure::survey::{CallSurvey, CallToken, RankSurvey};

/// Number of calls in a window: hundreds of iterations of any program, and a few dozen megabytes.
const CALLS_IN_WINDOW: u64 = 1 << 19;

#[derive(Clone, Copy)]
pub(in crate::structure) struct RankCalls<'a> {
    pub(super) run: &'a RecordedRun,
    pub(super) survey: &'a CallSurvey,
    pub(super) tokens: &'a HashMap<CallToken, u32>,
    pub(super) rank: &'a RankSurvey,
    pub(super) activations: &'a RefCell<ActivationFinder<'a>>,
}

/// Number of calls, from the first end of an iteration on, for which the code between one and the next is looked at.
const MAX_CALLS_OF_TURNS: usize = 64;

impl RankCalls<'_> {
    /// Returns the loops in a window of its calls, only the loop of `named` if this is given. Returns `None` if there is none.
    pub(super) fn loops(&self, window: &[CallInterval], named: Option<&NamedLoop>) -> Option<Vec<FoundLoop>> {
        if let Some(named) = named {
            return named.find_in(window).map(|one| vec![one]);
        }
        let distributing = if self.survey.marked_phases { self.distributing() } else { FxHashSet::default() };
        let window = CallWindow {
            calls: window,
            whole_run: self.has_all_in_window(),
            is_collective: &|token| self.is_collective(token),
            is_distribution: &|token| distributing.contains(&token),
            may_spin: &|token| self.is(token, Operation::may_spin),
            is_partial_completion: &|token| self.survey.is_partial_completion(token),
            is_called_by: &|inner, outer| self.is_called_by(inner, outer),
            role_of: &|inner, call| self.role_of(inner, call),
            spin: self.rank.clock.as_ref().map_or(0, |clock| (MAX_SPIN_S / clock.tick_s()) as u64),
        };
        let mut found = find_loops(&window);
        take_rounds(&mut found, window.calls);
        join_bursts(&mut found, window.calls, |token| self.is_in_nested_loops(token));
        found.iter().any(|one| one.main).then_some(found)
    }

    /// Returns whether the function that makes two calls one after the other is called by the function that makes two others.
    fn is_called_by(&self, inner: TokenPair, outer: TokenPair) -> bool {
        let [inner, outer] = [inner, outer].map(|pair| {
            let [from, to] = [pair.from, pair.to].map(|token| self.survey.tokens.get(token as usize)?.site);
            from.zip(to).and_then(|(from, to)| self.activations.borrow_mut().function_between(from, to))
        });
        match (inner, outer) {
            (Some(inner), Some(outer)) => inner != outer && self.activations.borrow().is_around(outer, inner),
            _ => false,
        }
    }

    /// Returns whether the code has at least two loops around a call, one in the other.
    fn is_in_nested_loops(&self, token: u32) -> bool {
        let site = self.survey.site_of(token);
        site.is_some_and(|site| self.activations.borrow_mut().count_loops_around(site) >= 2)
    }

    /// Returns whether the code has another loop around a detected one, by which it may get from an iteration to the next without another call.
    /// The calls do not show how often such a loop goes around. `window`: the calls that were searched.
    pub(super) fn has_silent_loop_around(&self, found: &[FoundLoop], at: usize, window: &[CallInterval]) -> bool {
        let one = &found[at];
        if one.anchor.run || one.every.get() > 1 {
            return false;
        }
        let Some(first) = window.iter().position(|call| one.anchor.tokens.contains(&call.token)) else { return false };
        let mut pairs: Vec<TokenPair> = window[first..]
            .windows(2)
            .take(MAX_CALLS_OF_TURNS)
            .filter(|pair| pair.iter().all(|call| one.tokens.binary_search(&call.token).is_ok()))
            .map(|pair| TokenPair { from: pair[0].token, to: pair[1].token })
            .collect();
        // Two calls of an inner loop may turn by the inner loop.
        pairs.retain(|pair| {
            !found.iter().any(|inner| {
                inner.parent == Some(at) && [pair.from, pair.to].iter().all(|token| inner.tokens.contains(token))
            })
        });
        pairs.sort_unstable_by_key(|pair| (pair.from, pair.to));
        pairs.dedup();
        pairs.iter().any(|pair| {
            let sites = self.survey.site_of(pair.from).zip(self.survey.site_of(pair.to));
            sites.is_some_and(|(from, to)| self.activations.borrow_mut().count_silent_loops(from, to) >= 2)
        })
    }

    /// Returns the role of a call for a loop. An iteration of the loop ends with the first call of `inner`, and the next one starts with the second. Returns
    /// `None` if the code does not show the role.
    fn role_of(&self, inner: TokenPair, call: u32) -> Option<CallRole> {
        let (from, to) = (self.survey.site_of(inner.from)?, self.survey.site_of(inner.to)?);
        let call = self.survey.site_of(call)?;
        let mut activations = self.activations.borrow_mut();
        let own = activations.function_between(from, to)?;
        let (shared, place) = activations.call_in_loop([from, to], call)?;
        match (shared == own, activations.is_around(own, shared)) {
            (true, _) => match place {
                CallInLoop::Outside => Some(CallRole::Around),
                CallInLoop::Sometimes => Some(CallRole::Within),
                CallInLoop::Always | CallInLoop::NoLoop => None,
            },
            (false, true) => Some(CallRole::Within),
            (false, false) => match place {
                CallInLoop::Outside | CallInLoop::Always => Some(CallRole::Around),
                CallInLoop::Sometimes => Some(CallRole::PerhapsAround),
                CallInLoop::NoLoop => None,
            },
        }
    }

    /// Returns whether another loop takes turns with the main one and ends its iterations at the same place of the code: they may be phases of one.
    pub(super) fn is_split(&self, found: &[FoundLoop], main: &FoundLoop, window: &[CallInterval]) -> bool {
        let Some((begin, end)) = span_of_ends(main, window) else { return false };
        found.iter().filter(|other| !other.main && other.parent.is_none() && main.parent.is_none()).any(|other| {
            let takes_turns = span_of_ends(other, window).is_some_and(|(first, last)| begin < last && first < end);
            let places = self.place_of_end(main).zip(self.place_of_end(other));
            takes_turns && places.is_some_and(|(own, others)| own.0 == others.0 && own.1.is_at_place_of(others.1))
        })
    }

    /// Returns the operation and the call site of the call that ends a loop's iterations, if they are known.
    fn place_of_end(&self, one: &FoundLoop) -> Option<(u16, &CallSite)> {
        let token = self.survey.tokens.get(*one.anchor.tokens.first()? as usize)?;
        Some((token.operation, self.survey.sites.call_sites.get(token.site? as usize)?))
    }

    /// Returns the number of iterations of the main loop that would be found without the user's hint.
    pub(super) fn detected(&self, window: &[CallInterval]) -> Option<u32> {
        let found = self.loops(window, None)?;
        let main = found.iter().find(|one| one.main)?;
        Some(self.iterations(main, IterationEnds::Found, window))
    }

    pub(super) fn is(&self, token: u32, what: fn(u16) -> bool) -> bool {
        self.survey.tokens.get(token as usize).is_some_and(|token| what(token.operation))
    }

    pub(super) fn is_collective(&self, token: u32) -> bool {
        self.is(token, is_collective)
    }

    fn is_poll(&self, token: u32) -> bool {
        self.survey.tokens.get(token as usize).is_none_or(|token| Operation::polls(token.operation))
    }

    pub(super) fn has_all_in_window(&self) -> bool {
        self.rank.calls <= CALLS_IN_WINDOW
    }

    /// Returns calls from the middle of the run, without polls, and the definitions that they refer to.
    pub(super) fn call_window(&self) -> (Vec<CallInterval>, RankDefinitions) {
        let first = (self.rank.calls / 2).saturating_sub(CALLS_IN_WINDOW / 2);
        let mut calls = Vec::new();
        let mut at = 0_u64;
        let definitions = self.each_call(|token, record| {
            if at >= first && token.is_some_and(|token| !self.is_poll(token)) {
                let (begin, end) = (record.begin, record.end.max(record.begin));
                calls.extend(token.map(|token| CallInterval { token, begin, end, peer: record.peer, tag: record.tag }));
            }
            at += 1;
            if at < first + CALLS_IN_WINDOW { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        (calls, definitions)
    }

    pub(super) fn iterations(&self, one: &FoundLoop, ends: IterationEnds, window: &[CallInterval]) -> u32 {
        let mut splitter = CallSplitter::new(token_classes(one, self.survey), one.anchors());
        if self.has_all_in_window() {
            // The window lacks polls, which end no iteration.
            for call in window {
                splitter.next(call.token, call.begin, call.end);
            }
        } else {
            self.each_call(|token, record| {
                if let Some(token) = token {
                    splitter.next(token, record.begin, record.end.max(record.begin));
                }
                ControlFlow::Continue(())
            });
        }
        number_iterations(&splitter.finish(), ends).count
    }

    pub(super) fn occasional(&self, one: &FoundLoop, ends: IterationEnds, window: &[CallInterval]) -> Vec<u32> {
        occasional_tokens(window, &token_classes(one, self.survey), one.anchors(), ends)
    }

    /// Returns the kinds of a loop's calls that are collective operations, with the number of the rank's calls of each.
    pub(super) fn collectives_in(&self, one: &FoundLoop) -> impl Iterator<Item = (CallToken, u64)> {
        let known =
            one.tokens.iter().filter_map(|&at| Some((*self.survey.tokens.get(at as usize)?, self.rank.count(at))));
        known.filter(|(token, _)| is_collective(token.operation))
    }

    /// Returns the kinds of calls in marked regions that only hand out or collect.
    fn distributing(&self) -> FxHashSet<u32> {
        let mut distributing = DistributionFinder::default();
        let mut next = 0;
        self.each_record(|head, token, record| {
            if let Some(head) = head {
                if head.first != next {
                    distributing.begin(head.open.len());
                }
                next = head.first;
            }
            next += 1;
            distributing.add(record, token);
            ControlFlow::Continue(())
        });
        distributing.finish()
    }

    /// Passes each call of the first thread to `take`, until that breaks, with its kind by the survey's index. Returns the definitions that
    /// these calls refer to.
    pub(super) fn each_call(&self, mut take: impl FnMut(Option<u32>, &Record) -> ControlFlow<()>) -> RankDefinitions {
        self.each_record(|_, token, record| match record.is_call() {
            true => take(token, record),
            false => ControlFlow::Continue(()),
        })
    }

    /// Passes each record to `take`, the first one of a batch with its head.
    fn each_record(
        &self,
        mut take: impl FnMut(Option<&BatchHead>, Option<u32>, &Record) -> ControlFlow<()>,
    ) -> RankDefinitions {
        let mut definitions = RankDefinitions::default();
        let header = self.run.header(self.rank.rank);
        let Some(mut log) = header.and_then(|header| self.run.log(header).ok()) else { return definitions };
        let mut kinds = CallKinds::default();
        let mut tokens: Vec<Option<u32>> = Vec::new();
        while let Some(item) = log.next_item() {
            match item {
                LogItem::Definitions(found) => definitions.extend(found),
                LogItem::Records { head, records } if head.thread == 0 => {
                    let heads = std::iter::once(Some(&head)).chain(std::iter::repeat(None));
                    for (record, head) in records.iter().zip(heads) {
                        let kind = record.is_call().then(|| kinds.intern(record));
                        if let Some(new) = kind.filter(|&kind| kind as usize == tokens.len()) {
                            let token = CallToken::from_kind(kinds.get(new), &self.survey.sites, &definitions);
                            tokens.push(self.tokens.get(&token).copied());
                        }
                        let token = kind.and_then(|kind| tokens[kind as usize]);
                        if take(head, token, record).is_break() {
                            return definitions;
                        }
                    }
                }
                _ => {}
            }
        }
        definitions
    }
}

pub(super) fn token_classes(one: &FoundLoop, survey: &CallSurvey) -> Vec<TokenClass> {
    let mut classes: Vec<TokenClass> = survey
        .tokens
        .iter()
        .map(|token| if Operation::polls(token.operation) { TokenClass::Neutral } else { TokenClass::Foreign })
        .collect();
    for (tokens, class) in [(&one.tokens, TokenClass::Inside), (&one.anchor.tokens, TokenClass::Anchor)] {
        for &token in tokens {
            if let Some(place) = classes.get_mut(token as usize) {
                *place = class;
            }
        }
    }
    classes
}

/// Returns the places in `window` of the first and the last call that ends an iteration of a loop.
fn span_of_ends(one: &FoundLoop, window: &[CallInterval]) -> Option<(usize, usize)> {
    let mut ends = window.iter().enumerate().filter(|(_, call)| one.anchor.tokens.contains(&call.token));
    let (first, _) = ends.next()?;
    Some((first, ends.next_back().map_or(first, |(last, _)| last)))
}

fn is_collective(operation: u16) -> bool {
    use lbprof_collector::Activity;
    let activity = Operation::from_number(operation).map(Operation::activity);
    matches!(activity, Some(Activity::Collective | Activity::Synchronization))
}
