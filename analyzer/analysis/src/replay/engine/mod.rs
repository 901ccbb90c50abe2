//! The main loop of the third pass: replays the steps of all threads in the order of time.
//!
//! ```text
//!   scheduler.rs   the thread that resumes next ─→ begin  a call starts: EventMatcher::start_event
//!                                               └→ end    a call ends:   EventMatcher::resolve_needs, end_event
//!   both report the thread's activity to the sinks; the scheduler resumes the threads that the matcher wakes
//! ```

mod scheduler;

use std::cmp::Reverse;
use std::sync::Arc;

use rayon::Scope as Tasks;

use self::scheduler::{NewcomerSinks, ThreadScheduler};
use super::blocking::TimedSample;
use super::comm_members::CommMembers;
use super::cut::consistent_cut::ConsistentCut;
use super::cut::segment_result::SegmentResult;
use super::ended_call::EndedCall;
use super::matching::{CallNeeds, CurrentCallEvent, EventMatcher};
use super::observers::observer::ReplayObserver;
use super::observers::scope::ReplayScope;
use super::sinks::{EventSinks, ExplanationQueue, ObserverSink, WaitAnalysis};
use super::thread::ReplayThread;
use super::timeline::{RankInput, StepSource, TimelineStep};
use super::what_if::{ScenarioClocks, ScenarioConditions};
use crate::model::Model;
use crate::model::code::region_state::Ns;
use crate::model::ranks::interval::TimeInterval;
use crate::model::replayed::replay_results::{ReplayCounts, ReplayedThread};
use crate::read::pass::{FoldProgress, ProgressReport};

/// Minimum number of steps in a batch that is handed to the explanation of waits.
const HAND_OVER_AFTER: u64 = 1 << 13;

pub(crate) struct ReplaySetting<'a> {
    pub model: &'a Model,
    pub members: CommMembers<'a>,
    /// The part of the run in which waits count.
    pub scope: &'a ReplayScope,
    pub conditions: Vec<ScenarioConditions<'a>>,
    /// Samples of the first threads, by index of the rank.
    pub samples: Arc<Vec<Vec<TimedSample>>>,
    /// By index of the rank: whether its log cannot be read.
    pub unread: Vec<bool>,
    /// Number of intervals and causes in the ranks' histories from which on old ones are forgotten.
    pub most_kept: usize,
}

pub(super) struct ReplayEngine<'a, 'scope> {
    model: &'a Model,
    scope: &'a ReplayScope,
    scheduler: ThreadScheduler<'a, 'scope>,
    matcher: EventMatcher<'a>,
    sinks: EventSinks<'a, 'scope>,
    needs: CallNeeds,
    /// Steps, and calls that ended too early by the clocks.
    counts: ReplayCounts,
    unread: &'a [bool],
    /// State of the ranks at the start, or `None` at the start of the run.
    from: Option<&'a ConsistentCut>,
}

impl<'a, 'scope> ReplayEngine<'a, 'scope> {
    /// Replays ranks from the cut `from` with the steps in `inputs`; what they do is shown to `observer`.
    pub fn new(
        setting: &'a ReplaySetting<'a>,
        tasks: &'a Tasks<'scope>,
        from: Option<&'a ConsistentCut>,
        inputs: Vec<RankInput<'scope>>,
        observer: Option<&'a mut dyn ReplayObserver>,
    ) -> Self {
        let &ReplaySetting { model, ref members, scope, ref samples, ref unread, most_kept, .. } = setting;
        let begin = from.map_or(scope.begin, |cut| cut.last);
        let explaining = ExplanationQueue::new(tasks, begin, most_kept, Arc::clone(samples));
        let source = StepSource::new(tasks, inputs, |rank| model.ranks[rank].other_threads == 0);
        let mut engine = ReplayEngine {
            model,
            scope,
            scheduler: ThreadScheduler::new(source, model),
            matcher: EventMatcher::new(model, members, unread),
            sinks: EventSinks {
                scope,
                clocks: ScenarioClocks::new(setting.conditions.clone(), scope.begin, model.ranks.len()),
                waits: WaitAnalysis::new(scope, members, explaining),
                observer: ObserverSink::new(observer),
            },
            needs: CallNeeds::default(),
            counts: ReplayCounts::default(),
            unread,
            from,
        };
        engine.begin_all();
        engine
    }

    fn begin_all(&mut self) {
        for (rank, of_rank) in (0..).zip(&self.model.ranks) {
            let at_cut = self.from.and_then(|cut| cut.ranks.get(rank as usize));
            if let Some(at_cut) = at_cut {
                self.matcher.add_lists(rank, at_cut.lists.clone());
            }
            let begin = at_cut.map_or_else(|| (of_rank.begin_s * 1e9).round() as Ns, |rank| rank.end);
            let (scheduler, mut newcomers) = self.reading();
            scheduler.begin_rank(rank, begin, &mut newcomers);
        }
    }

    /// Returns the scheduler, and the receivers of facts that it reads.
    fn reading(&mut self) -> (&mut ThreadScheduler<'a, 'scope>, NewcomerSinks<'_, 'a, 'scope>) {
        let (matcher, sinks) = (&mut self.matcher, &mut self.sinks);
        (&mut self.scheduler, NewcomerSinks { scope: self.scope, from: self.from, matcher, sinks })
    }

    /// Replays all ranks to `cut`, the end of their inputs. Returns whether all operations are over there, so that the replay can continue from
    /// there without knowledge of the past.
    pub fn follow_to(&mut self, cut: &ConsistentCut, progress: ProgressReport) -> bool {
        self.run(false, progress);
        let threads = &self.scheduler.threads;
        !self.scheduler.any_waits()
            && threads.len() == cut.ranks.len()
            && threads
                .iter()
                .zip(&cut.ranks)
                .all(|(thread, rank)| thread.next.is_none() && thread.now == rank.end && thread.shift == 0)
            && self.sinks.waits.last_collective(cut.comm) == Some(cut.last)
            && self.matcher.is_quiet()
    }

    pub fn follow_to_end(&mut self, progress: ProgressReport) {
        self.run(true, progress);
    }

    /// Replays all ranks. `to_end`: no inputs follow, so that a thread that waits for others at the end resumes without them.
    fn run(&mut self, to_end: bool, progress: ProgressReport) {
        let mut reported = self.counts.steps;
        // A batch takes time for each rank.
        let hand_over_after = HAND_OVER_AFTER.max(self.model.ranks.len() as u64);
        loop {
            let mut first = self.scheduler.pop_first();
            while let Some(thread) = first {
                first = self.go_on(thread);
                if self.counts.steps - reported >= hand_over_after {
                    progress(FoldProgress::Records(self.counts.steps - reported));
                    reported = self.counts.steps;
                    let (now, scope, threads) = (self.scheduler.followed_until(), self.scope, &self.scheduler.threads);
                    self.sinks.waits.hand_over(now, || find_window_ends(scope, threads, now).filter(|_| to_end));
                }
            }
            let (scheduler, mut newcomers) = self.reading();
            let goes_on = scheduler.read_on(&mut newcomers) || to_end && scheduler.give_up();
            if !goes_on {
                break;
            }
        }
        progress(FoldProgress::Records(self.counts.steps - reported));
    }

    /// Replays this thread until another one is earlier, or until it has to wait for others; returns the next thread.
    fn go_on(&mut self, thread: u32) -> Option<u32> {
        let until = self.scheduler.until();
        loop {
            let one = &self.scheduler.threads[thread as usize];
            match one.next {
                Some(next) if next > until => break,
                Some(_) if one.in_call => {
                    if !self.end(thread) {
                        self.scheduler.threads[thread as usize].parked = true;
                        return self.scheduler.pop_first();
                    }
                }
                Some(_) => self.begin(thread),
                None if one.number == 0 && !one.ended => break,
                None => return self.scheduler.pop_first(),
            }
        }
        let (scheduler, mut newcomers) = self.reading();
        scheduler.put_back(thread, &mut newcomers)
    }

    /// Lets a thread compute up to its next call and enter it.
    fn begin(&mut self, thread: u32) {
        let one = &mut self.scheduler.threads[thread as usize];
        let here = one.position();
        let Some((step, events)) = here.step() else { return };
        let before = TimeInterval::new(one.now, step.begin.saturating_add(one.shift).max(one.now));
        (one.now, one.begun) = (before.end, before.end);
        let back = one.assign_return_slot(before);
        self.matcher.on_computation(thread, step.before, before);
        self.sinks.on_computation(thread, step.before, before, here.parallel(step));
        if let Some(slot) = back {
            self.sinks.clocks.keep_return(thread, slot);
        }
        self.counts.steps += 1;
        let mut ends = false;
        let own = &self.scheduler.threads[thread as usize];
        for (i, event) in events.iter().enumerate() {
            ends |= self.matcher.start_event(&CurrentCallEvent { thread, own, step, event, i }, &mut self.sinks);
        }
        while let Some(woken) = self.matcher.woken.pop() {
            self.scheduler.wake(woken);
        }
        if ends {
            self.scheduler.threads[thread as usize].schedule(true);
        } else {
            self.end_without(thread, step);
        }
    }

    /// Ends a call whose end does not matter to other ranks.
    fn end_without(&mut self, thread: u32, step: &TimelineStep) {
        let begun = self.scheduler.threads[thread as usize].begun;
        let time = TimeInterval::new(begun, step.end.max(begun));
        // A clock correction may shrink a call to nothing; a call recorded without length, as MPI_Finalize at the end of the window, is no part of the run.
        if step.begin < step.end || !time.is_empty() {
            self.sinks.on_call(&EndedCall { thread, step, time, needs: &[], wait: None });
        }
        self.leave(thread, step, time.end);
    }

    /// Ends a thread's call. Returns `false` if other threads have to be replayed first.
    fn end(&mut self, thread: u32) -> bool {
        let here = self.scheduler.threads[thread as usize].position();
        let Some((step, events)) = here.step() else { return true };
        self.needs.clear();
        let own = &self.scheduler.threads[thread as usize];
        let is_known = events.iter().enumerate().all(|(i, event)| {
            let current = CurrentCallEvent { thread, own, step, event, i };
            self.matcher.resolve_needs(&current, &mut self.needs, &mut self.sinks)
        });
        if !is_known {
            return false;
        }
        let time = self.corrected(thread, step);
        self.matcher.defer_until_progress(&self.scheduler.threads, thread, time, &mut self.needs);
        self.sinks.on_call(&EndedCall::new(thread, step, time, &self.needs.all));
        let own = &self.scheduler.threads[thread as usize];
        for (i, event) in events.iter().enumerate() {
            self.matcher.end_event(&CurrentCallEvent { thread, own, step, event, i }, time, &mut self.sinks);
        }
        self.leave(thread, step, time.end);
        true
    }

    /// Returns begin and end of a call by corrected clocks: it ends after its certain needs were satisfied, whatever the clocks say.
    fn corrected(&mut self, thread: u32, step: &TimelineStep) -> TimeInterval {
        let begin = self.scheduler.threads[thread as usize].begun;
        let earliest = step.end.max(begin);
        let certain = self.needs.all.iter().filter(|need| need.certain).map(|need| need.by.at).max().unwrap_or(begin);
        if certain > earliest {
            self.counts.violations += 1;
            self.counts.largest_violation = self.counts.largest_violation.max(certain - earliest);
        }
        TimeInterval::new(begin, earliest.max(certain))
    }

    fn leave(&mut self, thread: u32, step: &TimelineStep, end: Ns) {
        self.matcher.leave(thread);
        self.scheduler.threads[thread as usize].leave(step, end);
    }

    /// Returns the result up to `cut`, which all ranks have reached.
    pub fn finish_at(self, cut: &ConsistentCut) -> SegmentResult {
        let after_entry = cut.ranks.first().map_or(0, |rank| rank.end - cut.last);
        let times_ns = self.sinks.clocks.at_last_entry_ns(0, after_entry);
        let threads = (0..).zip(&self.scheduler.threads);
        let lasts: Vec<u32> = threads.filter(|(_, one)| one.begun == cut.last).map(|(at, _)| at).collect();
        let explained = self.sinks.waits.finish_at(&lasts, cut.last);
        SegmentResult::new(explained, times_ns, self.counts, self.matcher.finish())
    }

    pub fn finish(mut self) -> SegmentResult {
        let threads = &self.scheduler.threads;
        let firsts: Vec<u32> = (0..)
            .zip(threads)
            .filter(|(_, one)| one.number == 0 && self.scope.has(one.rank_idx))
            .map(|(at, _)| at)
            .collect();
        let last = firsts.iter().copied().max_by_key(|&at| (threads[at as usize].now, Reverse(at)));
        for &at in firsts.iter().filter(|&&at| Some(at) != last) {
            let thread = &threads[at as usize];
            let idle = TimeInterval::new(thread.now, last.map_or(0, |last| threads[last as usize].now));
            if !idle.is_empty() && !self.unread[thread.rank_idx as usize] {
                self.sinks.on_early_end(at, last.unwrap_or(at), idle);
            }
        }
        let first_threads = firsts.iter().map(|&at| &threads[at as usize]);
        let last_end = first_threads.map(|thread| thread.now.min(self.scope.rank_window(thread.rank_idx).end));
        let elapsed = last_end.max().unwrap_or(self.scope.begin) - self.scope.begin;
        let explained = self.sinks.waits.finish(|| find_window_ends(self.scope, threads, Ns::MAX));
        let times_ns = self.sinks.clocks.times_ns(firsts.into_iter());
        SegmentResult {
            threads: threads.iter().map(|one| ReplayedThread { rank_idx: one.rank_idx, number: one.number }).collect(),
            elapsed,
            ..SegmentResult::new(explained, times_ns, self.counts, self.matcher.finish())
        }
    }
}

/// Returns the end of the windows of the ranks in `scope`, once all threads, which were replayed until `now`, have passed them.
fn find_window_ends(scope: &ReplayScope, threads: &[ReplayThread], now: Ns) -> Option<Vec<(u32, Ns)>> {
    let mut ends = Vec::new();
    for (at, thread) in (0..).zip(threads).filter(|(_, thread)| thread.number == 0 && scope.has(thread.rank_idx)) {
        let end = scope.rank_window(thread.rank_idx).end;
        if end > now && !thread.ended {
            return None;
        }
        ends.push((at, thread.now.min(end)));
    }
    Some(ends)
}
