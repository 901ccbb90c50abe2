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

use self::scheduler::{ReadListener, ThreadScheduler};
use super::blocking::TimedSample;
use super::comm_members::CommMembers;
use super::consistent_cut::ConsistentCut;
use super::ended_call::EndedCall;
use super::matching::{CallNeeds, CurrentCallEvent, EventMatcher};
use super::observer::ReplayObserver;
use super::scope::ReplayScope;
use super::segment_result::SegmentResult;
use super::sinks::{ContinuedThread, EventSink, EventSinks, ExplanationQueue, NewThread, ObserverSink, WaitAnalysis};
use super::thread::ReplayThread;
use super::timeline::{CommEvent, RankInput, StepSource, TimelineStep};
use super::what_if::{ScenarioClocks, ScenarioConditions};
use crate::model::Model;
use crate::model::exact_sum::ExactNs;
use crate::model::interval::TimeInterval;
use crate::model::region_state::Ns;
use crate::model::replay_results::{ReplayCounts, ReplayedThread};
use crate::partial_result::PartialResult;
use crate::read::pass::{FoldProgress, ProgressReport};

/// Minimum number of steps in a batch that is handed to the explanation of waits.
const HAND_OVER_AFTER: u64 = 1 << 13;

/// Returns the number of steps in a batch of so many ranks: of many as many as there are, because a batch takes time for each of them.
fn steps_of_batch(ranks: usize) -> u64 {
    HAND_OVER_AFTER.max(ranks as u64)
}

/// The context that all ranks are replayed in.
pub(crate) struct ReplaySetting<'a> {
    /// The run.
    pub model: &'a Model,
    /// Members of the communicators.
    pub members: CommMembers<'a>,
    /// The part of it in which waits count.
    pub scope: &'a ReplayScope,
    /// Of the what-if scenarios.
    pub conditions: Vec<ScenarioConditions<'a>>,
    /// Samples of the ranks' first threads, by place.
    pub samples: Arc<Vec<Vec<TimedSample>>>,
    /// By place of the rank: whether its log can't be read.
    pub unread: Vec<bool>,
    /// Intervals and causes of the ranks' histories from which on old ones are forgotten.
    pub most_kept: usize,
}

/// Follows all ranks.
pub(super) struct ReplayEngine<'a, 'scope> {
    model: &'a Model,
    scope: &'a ReplayScope,
    scheduler: ThreadScheduler<'a, 'scope>,
    matcher: EventMatcher<'a>,
    sinks: EventSinks<'a, 'scope>,
    /// Needs of the current call.
    needs: CallNeeds,
    /// Steps, and calls that ended too early by the clocks.
    counts: ReplayCounts,
    unread: &'a [bool],
    /// State of the ranks at the start; `None`: they begin.
    from: Option<&'a ConsistentCut>,
}

/// Passes on what comes up as logs are read.
struct NewcomerSinks<'m, 'a, 'scope> {
    scope: &'m ReplayScope,
    from: Option<&'a ConsistentCut>,
    matcher: &'m mut EventMatcher<'a>,
    sinks: &'m mut EventSinks<'a, 'scope>,
}

impl ReadListener for NewcomerSinks<'_, '_, '_> {
    fn on_missing_records(&mut self, rank: u32) {
        self.matcher.mark_incomplete(rank);
    }

    fn on_lists(&mut self, rank: u32, lists: Vec<Arc<[u32]>>) {
        self.matcher.add_lists(rank, lists);
    }

    fn on_thread_start(&mut self, thread: NewThread) {
        let thread = NewThread {
            goes_on: self.from.filter(|_| thread.number == 0).and_then(|cut| {
                Some(ContinuedThread { since: cut.last, kind: cut.ranks.get(thread.rank_idx as usize)?.kind })
            }),
            ..thread
        };
        self.matcher.add_thread(thread);
        self.sinks.on_thread_start(thread, self.scope.rank_window(thread.rank_idx));
    }
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
                clocks: ScenarioClocks::new(setting.conditions.clone(), scope.begin).with_room_for(model.ranks.len()),
                waits: WaitAnalysis::new(scope, members, explaining),
                observer: match observer {
                    Some(observer) => ObserverSink::new(observer),
                    None => ObserverSink::default(),
                },
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
        if let Some(cut) = self.from {
            for (rank, of_rank) in (0..).zip(&cut.ranks) {
                self.matcher.add_lists(rank, of_rank.lists.clone());
            }
        }
        for (rank, of_rank) in (0..).zip(&self.model.ranks) {
            let at_cut = self.from.and_then(|cut| cut.ranks.get(rank as usize));
            let begin = at_cut.map_or_else(|| (of_rank.begin_s * 1e9).round() as Ns, |rank| rank.end);
            let (scheduler, mut newcomers) = self.reading();
            scheduler.begin_rank(rank, begin, &mut newcomers);
        }
    }

    /// Ranks go on with `inputs` after all that they have done.
    pub fn add(&mut self, inputs: Vec<RankInput<'scope>>) {
        let (scheduler, mut newcomers) = self.reading();
        scheduler.add(inputs, &mut newcomers);
    }

    /// The scheduler, and who learns what it reads.
    fn reading(&mut self) -> (&mut ThreadScheduler<'a, 'scope>, NewcomerSinks<'_, 'a, 'scope>) {
        let (matcher, sinks) = (&mut self.matcher, &mut self.sinks);
        (&mut self.scheduler, NewcomerSinks { scope: self.scope, from: self.from, matcher, sinks })
    }

    /// Follows all ranks to `cut`, which is the end of what is there. Whether all that was begun is over there, so that
    /// whoever goes on from there needs to know nothing of what was before.
    pub fn follow_to(&mut self, cut: &ConsistentCut, progress: ProgressReport) -> bool {
        self.run(false, progress);
        let threads = self.scheduler.threads();
        !self.scheduler.any_waits()
            && threads.len() == cut.ranks.len()
            && threads
                .iter()
                .zip(&cut.ranks)
                .all(|(thread, rank)| thread.next.is_none() && thread.now == rank.end && thread.shift == 0)
            && self.sinks.waits.last_collective(cut.comm) == Some(cut.last)
            && self.matcher.is_quiet()
    }

    /// Follows all ranks to their ends.
    pub fn follow_to_end(&mut self, progress: ProgressReport) {
        self.run(true, progress);
    }

    /// Follows all ranks. `to_end`: what is there is all that they do, so that who waits for others then goes on without.
    fn run(&mut self, to_end: bool, progress: ProgressReport) {
        let mut reported = self.counts.steps;
        let hand_over_after = steps_of_batch(self.model.ranks.len());
        loop {
            let mut first = self.scheduler.pop_first();
            while let Some(thread) = first {
                first = self.go_on(thread);
                if self.counts.steps - reported >= hand_over_after {
                    progress(FoldProgress::Records(self.counts.steps - reported));
                    reported = self.counts.steps;
                    let (now, scope, threads) = (self.scheduler.followed_until(), self.scope, self.scheduler.threads());
                    self.sinks.waits.hand_over(now, || ends(scope, threads, now).filter(|_| to_end));
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
        self.fetch_next_threads();
        let until = self.scheduler.until();
        loop {
            let one = &self.scheduler.threads()[thread as usize];
            match one.next {
                Some(next) if next > until => break,
                Some(_) if one.in_call => {
                    if !self.end(thread) {
                        self.scheduler.park(thread);
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

    /// Has the processor fetch what the next threads need, while this one goes on.
    #[inline]
    fn fetch_next_threads(&self) {
        let (threads, mut next) = (self.scheduler.threads(), self.scheduler.next_threads());
        // The addresses of these are in what was fetched while the thread before went on.
        if let Some(first) = next.next() {
            let slot = threads[first as usize].fetch_step_early();
            self.sinks.clocks.fetch_return_early(first, slot);
            self.sinks.waits.fetch_end_early(first);
        }
        for later in next {
            threads[later as usize].fetch_early();
            self.sinks.clocks.fetch_early(later);
            self.sinks.waits.fetch_early(later);
            self.matcher.fetch_early(later);
        }
    }

    /// The thread computes up to its next call and enters it.
    fn begin(&mut self, thread: u32) {
        let one = self.scheduler.thread_mut(thread);
        let here = one.position();
        let Some((step, events)) = here.step() else { return };
        let before = TimeInterval::new(one.now, step.begin.saturating_add(one.shift).max(one.now));
        (one.now, one.begun) = (before.end, before.end);
        let back = one.assign_return_slot(before);
        self.matcher.on_computation(thread, step.before, before);
        self.sinks.on_computation(thread, step.before, before, here.parallel(step));
        if let Some(slot) = back {
            self.sinks.on_return_to_mpi(thread, slot);
        }
        self.counts.steps += 1;
        let mut ends = false;
        let own = &self.scheduler.threads()[thread as usize];
        for (i, event) in events.iter().enumerate() {
            ends |= self.matcher.start_event(&CurrentCallEvent { thread, own, step, event, i }, &mut self.sinks);
        }
        while let Some(woken) = self.matcher.take_woken() {
            self.scheduler.wake(woken);
        }
        if ends {
            self.scheduler.thread_mut(thread).enter();
        } else {
            self.end_without(thread, step);
        }
    }

    /// Ends a call that does nothing with other ranks at its end.
    fn end_without(&mut self, thread: u32, step: &TimelineStep) {
        let begun = self.scheduler.threads()[thread as usize].begun;
        let time = TimeInterval::new(begun, step.end.max(begun));
        // A clock correction may shrink a call to nothing; a call recorded without length, as MPI_Finalize at the end of the window, is no part of the run.
        if step.begin < step.end || !time.is_empty() {
            self.sinks.on_call(&EndedCall { thread, step, time, needs: &[], wait: None });
        }
        self.leave(thread, step, time.end);
    }

    /// The thread's call ends; `false`: others have to be followed first.
    fn end(&mut self, thread: u32) -> bool {
        let here = self.scheduler.threads()[thread as usize].position();
        let Some((step, events)) = here.step() else { return true };
        if !self.find_needs(thread, step, events) {
            return false;
        }
        let time = self.corrected(thread, step);
        self.matcher.defer_until_progress(self.scheduler.threads(), thread, time, &mut self.needs);
        self.sinks.on_call(&EndedCall::new(thread, step, time, &self.needs.all));
        let own = &self.scheduler.threads()[thread as usize];
        for (i, event) in events.iter().enumerate() {
            self.matcher.end_event(&CurrentCallEvent { thread, own, step, event, i }, time, &mut self.sinks);
        }
        self.leave(thread, step, time.end);
        true
    }

    /// Finds what a call needs before it can end; `false`: others have to be followed first.
    fn find_needs(&mut self, thread: u32, step: &TimelineStep, events: &[CommEvent]) -> bool {
        self.needs.clear();
        let own = &self.scheduler.threads()[thread as usize];
        events.iter().enumerate().all(|(i, event)| {
            self.matcher.resolve_needs(
                &CurrentCallEvent { thread, own, step, event, i },
                &mut self.needs,
                &mut self.sinks,
            )
        })
    }

    /// Returns begin and end of a call by corrected clocks: not before what it certainly needed was done, whatever the clocks say.
    fn corrected(&mut self, thread: u32, step: &TimelineStep) -> TimeInterval {
        let begin = self.scheduler.threads()[thread as usize].begun;
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
        self.scheduler.thread_mut(thread).leave(step, end);
    }

    /// Returns the result up to `cut`, which all ranks have reached.
    pub fn finish_at(self, cut: &ConsistentCut) -> SegmentResult {
        let scenario_times =
            exact(self.sinks.clocks.at_last_entry_ns(0, cut.ranks.first().map_or(0, |rank| rank.end - cut.last)));
        let threads = (0..).zip(self.scheduler.threads());
        let lasts: Vec<u32> = threads.filter(|(_, one)| one.begun == cut.last).map(|(at, _)| at).collect();
        let explained = self.sinks.waits.finish_at(&lasts, cut.last);
        let (matched, on_demand) = self.matcher.finish();
        SegmentResult {
            explained,
            scenario_times,
            counts: self.counts.merge(matched),
            on_demand,
            segments: 1,
            threads: Vec::new(),
            elapsed: 0,
        }
    }

    /// Returns the result up to the end of all ranks.
    pub fn finish(mut self) -> SegmentResult {
        let threads = self.scheduler.threads();
        let firsts: Vec<u32> = (0..)
            .zip(threads)
            .filter(|(_, one)| one.number == 0 && self.scope.has(one.rank_idx))
            .map(|(at, _)| at)
            .collect();
        let last = firsts.iter().copied().max_by_key(|&at| (threads[at as usize].now, Reverse(at)));
        let end = last.map_or(0, |at| threads[at as usize].now);
        for &thread in
            firsts.iter().filter(|&&at| Some(at) != last && !self.unread[threads[at as usize].rank_idx as usize])
        {
            let idle = TimeInterval::new(threads[thread as usize].now, end);
            if !idle.is_empty() {
                self.sinks.on_early_end(thread, last.unwrap_or(thread), idle);
            }
        }
        let first_threads = firsts.iter().map(|&at| &threads[at as usize]);
        let last_end = first_threads.map(|thread| thread.now.min(self.scope.rank_window(thread.rank_idx).end));
        let elapsed = last_end.max().unwrap_or(self.scope.begin) - self.scope.begin;
        let explained = self.sinks.waits.finish(|| ends(self.scope, threads, Ns::MAX));
        let (matched, on_demand) = self.matcher.finish();
        SegmentResult {
            explained,
            scenario_times: exact(self.sinks.clocks.times_ns(firsts.into_iter())),
            counts: self.counts.merge(matched),
            on_demand,
            segments: 1,
            threads: threads.iter().map(|one| ReplayedThread { rank_idx: one.rank_idx, number: one.number }).collect(),
            elapsed,
        }
    }
}

fn exact(times_ns: Vec<f64>) -> Vec<ExactNs> {
    times_ns.into_iter().map(ExactNs::from_f64).collect()
}

/// Returns the end of the windows of the ranks in `scope`, once all threads have passed them: all have been followed until `now`.
fn ends(scope: &ReplayScope, threads: &[ReplayThread], now: Ns) -> Option<Vec<(u32, Ns)>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_has_at_least_a_step_of_each_rank() {
        assert_eq!([1, 4096, 8192, 100_000].map(steps_of_batch), [8192, 8192, 8192, 100_000]);
    }
}
