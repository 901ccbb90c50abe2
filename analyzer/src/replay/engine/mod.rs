//! The loop of the third pass: follows the threads' steps in the order of time.
//!
//! ```text
//!   scheduler.rs   which thread goes on next ─→ begin  a call begins: Matcher::starts
//!                                            └→ end    a call ends:   Matcher::needs_of, is_over
//!   both say what a thread did to the sinks; what the matcher wakes goes back to the scheduler
//! ```

mod scheduler;

use std::cmp::Reverse;
use std::sync::Arc;

use rayon::prelude::*;

use self::scheduler::{Reader, Scheduler};
use super::blocking::{Explained, MAX_INTERVALS, TimedSample};
use super::matching::{CallEvent, Matcher, Needs};
use super::needs::{EndedCall, Need};
use super::scope::Scope;
use super::sinks::{Explaining, Members, NewThread, Sink, Sinks, WaitAnalysis, Watching};
use super::thread::Thread;
use super::timeline::{CommEvent, Ids, Places, RankSteps, RegionTable, Source, Step};
use super::watcher::Watcher;
use super::what_if::{Clocks, Condition};
use crate::model::followed::{Counts, Followed, ThreadOf};
use crate::model::interval::Interval;
use crate::model::region_state::Ns;
use crate::model::what_if::WhatIf;
use crate::model::{Model, RankModel};
use crate::profile::samples::of_first_thread;
use crate::read::open::Run;
use crate::read::pass::Progress;
use crate::structure::sampled_code::SampledCode;
use crate::structure::survey::Survey;
use crate::structure::{Placer, Structure};

/// Steps after which what they were is handed over to be explained.
const HAND_OVER_AFTER: u64 = 1 << 13;

/// Most samples that are kept, of all ranks together, at 24 bytes each.
const MOST_SAMPLES: usize = 1 << 22;

/// What is followed: a run, and what the first two passes found in it.
#[derive(Clone, Copy)]
pub struct Surveyed<'a> {
    /// The run.
    pub run: &'a Run,
    /// What the first pass saw.
    pub survey: &'a Survey,
    /// What it found.
    pub structure: &'a Structure,
    /// What the second pass made of both.
    pub model: &'a Model,
}

/// What is wanted of the replay.
pub struct FollowOptions<'a> {
    /// The part of the run in which waits count.
    pub scope: &'a Scope,
    /// How long it would take otherwise, and under what conditions that is predicted.
    pub scenarios: Vec<(WhatIf, Condition<'a>)>,
    /// Who is shown what ranks do.
    pub watcher: Option<&'a mut dyn Watcher>,
    /// The code that samples hit, where it is wanted by what code ranks make others wait.
    pub code: Option<&'a SampledCode>,
    /// Intervals and causes of the ranks' histories from which on old ones are forgotten, see [`Followed::kept`].
    pub most_kept: usize,
}

impl<'a> FollowOptions<'a> {
    /// The waits in `scope`, nothing else.
    pub fn new(scope: &'a Scope) -> Self {
        FollowOptions { scope, scenarios: Vec::new(), watcher: None, code: None, most_kept: MAX_INTERVALS }
    }
}

/// Follows the ranks of a run, and replays it in what-if scenarios.
pub fn follow(surveyed: Surveyed, options: FollowOptions, progress: impl Fn(Progress) + Sync) -> Followed {
    let Surveyed { survey, structure, model, .. } = surveyed;
    let regions = RegionTable::new(model);
    let mut ranks: Vec<u32> = model.ranks.iter().map(|rank| rank.rank).collect();
    ranks.sort_unstable();
    let places = Places::new(&survey.sites, structure, &regions);
    let facts = options.watcher.is_some();
    let ids = Ids { communicators: &model.communicators, places, ranks: &ranks, facts };
    let n_ranks = model.facts.n_ranks.max(model.ranks.last().map_or(0, |rank| rank.rank.saturating_add(1)));
    let FollowOptions { scope, scenarios, watcher, code, most_kept } = options;
    let samples = code.map(|code| sampled(surveyed, code)).unwrap_or_default();
    let (scenarios, conditions): (Vec<WhatIf>, Vec<Condition>) =
        scenarios.into_iter().map(|(scenario, condition)| (scenario, scope.condition(condition))).unzip();
    let progress = &progress;
    // On a thread of the pool, so that there are as many as there are cores, and this one does itself what it would wait for.
    rayon::scope(|tasks| {
        let members = Members::new(&model.communicators, n_ranks);
        let opened: Vec<Option<Box<RankSteps>>> = model.ranks.iter().map(|rank| open(surveyed, ids, rank)).collect();
        let unread: Vec<bool> = opened.iter().map(Option::is_none).collect();
        let explaining = Explaining::new(tasks, (scope.begin, most_kept), samples);
        let engine = Engine {
            model,
            scope,
            scheduler: Scheduler::new(Source::new(tasks, opened, |rank| model.ranks[rank].other_threads == 0), model),
            matcher: Matcher::new(model, &members, &unread),
            sinks: Sinks {
                clocks: Clocks::new(conditions, scope.begin),
                waits: WaitAnalysis::new(scope, &members, explaining),
                watching: match watcher {
                    Some(watcher) => Watching::of(watcher),
                    None => Watching::default(),
                },
            },
            needs: Needs::default(),
            counts: Counts::default(),
        };
        engine.run(&unread, scenarios, progress)
    })
}

/// A rank's steps; `None` where its log can't be read any more.
fn open<'a>(surveyed: Surveyed<'a>, ids: Ids<'a>, rank: &RankModel) -> Option<Box<RankSteps<'a>>> {
    let Surveyed { run, survey, structure, .. } = surveyed;
    let header = run.headers.iter().find(|header| header.rank == rank.rank)?;
    let survey_of = survey.rank(rank.rank)?;
    let clock = survey_of.clock.clone()?;
    let placer = Placer::new(structure, &survey.sites, rank.rank);
    Some(Box::new(RankSteps::new(ids, run.log(header).ok()?, survey_of, (clock, rank.zero_ns()), placer)))
}

/// The samples of the ranks' first threads, by place, of all ranks no more than [`MOST_SAMPLES`].
fn sampled(surveyed: Surveyed, code: &SampledCode) -> Vec<Vec<TimedSample>> {
    let Surveyed { run, survey, model, .. } = surveyed;
    let most = (MOST_SAMPLES / model.ranks.len().max(1)).max(1);
    let of_rank = |rank: &RankModel| {
        let header = run.headers.iter().find(|header| header.rank == rank.rank)?;
        let clock = survey.rank(rank.rank)?.clock.as_ref()?;
        let sample = |(ticks, leaf, seconds): (u64, u32, f64)| {
            let at = clock.nanoseconds(ticks).saturating_sub(rank.zero_ns());
            TimedSample { at, leaf, ns: seconds * 1e9 }
        };
        Some(of_first_thread((run, header), (&survey.sites, code), most).into_iter().map(sample).collect())
    };
    model.ranks.par_iter().map(|rank| of_rank(rank).unwrap_or_default()).collect()
}

struct Engine<'a, 'scope> {
    model: &'a Model,
    scope: &'a Scope,
    scheduler: Scheduler<'a, 'scope>,
    matcher: Matcher<'a>,
    sinks: Sinks<'a, 'scope>,
    /// What the call at hand needs.
    needs: Needs,
    /// Steps, and calls that ended too early by the clocks.
    counts: Counts,
}

/// Passes on what comes up as logs are read.
struct Newcomers<'m, 'a, 'scope> {
    scope: &'m Scope,
    matcher: &'m mut Matcher<'a>,
    sinks: &'m mut Sinks<'a, 'scope>,
}

impl Reader for Newcomers<'_, '_, '_> {
    fn lacks_records(&mut self, rank: u32) {
        self.matcher.lacks_records(rank);
    }

    fn lists(&mut self, rank: u32, lists: Vec<Arc<[u32]>>) {
        self.matcher.add_lists(rank, lists);
    }

    fn begins(&mut self, thread: NewThread) {
        self.matcher.begins(thread);
        self.sinks.begins(thread, self.scope.window(thread.rank));
    }
}

impl<'a, 'scope> Engine<'a, 'scope> {
    /// The scheduler, and who learns what it reads.
    fn reading(&mut self) -> (&mut Scheduler<'a, 'scope>, Newcomers<'_, 'a, 'scope>) {
        let newcomers = Newcomers { scope: self.scope, matcher: &mut self.matcher, sinks: &mut self.sinks };
        (&mut self.scheduler, newcomers)
    }

    /// Follows all ranks. `unread`: by place of the rank, whether its log can't be read.
    fn run(mut self, unread: &[bool], scenarios: Vec<WhatIf>, progress: impl Fn(Progress)) -> Followed {
        for (rank, of_rank) in (0..).zip(&self.model.ranks) {
            let begin = (of_rank.begin_s * 1e9).round() as Ns;
            let (scheduler, mut newcomers) = self.reading();
            scheduler.begin_rank(rank, begin, &mut newcomers);
        }
        let mut reported = 0;
        loop {
            let mut first = self.scheduler.first();
            while let Some(thread) = first {
                first = self.go_on(thread);
                if self.counts.steps - reported >= HAND_OVER_AFTER {
                    progress(Progress::Records(self.counts.steps - reported));
                    reported = self.counts.steps;
                    let (now, scope, threads) = (self.scheduler.followed_until(), self.scope, self.scheduler.threads());
                    self.sinks.waits.hand_over(now, || ends(scope, threads, now));
                }
            }
            let (scheduler, mut newcomers) = self.reading();
            if !scheduler.read_on(&mut newcomers) && !scheduler.give_up() {
                break;
            }
        }
        progress(Progress::Records(self.counts.steps - reported));
        self.finish(unread, scenarios)
    }

    /// Goes on with the thread that was the first until another is, or until it waits for others to be followed; that which is then.
    fn go_on(&mut self, thread: u32) -> Option<u32> {
        let until = self.scheduler.until();
        loop {
            let one = &self.scheduler.threads()[thread as usize];
            match one.next {
                Some(next) if next > until => break,
                Some(_) if one.in_call => {
                    if !self.end(thread) {
                        self.scheduler.park(thread);
                        return self.scheduler.first();
                    }
                }
                Some(_) => self.begin(thread),
                None if one.number == 0 && !one.ended => break,
                None => return self.scheduler.first(),
            }
        }
        let (scheduler, mut newcomers) = self.reading();
        scheduler.put_back(thread, &mut newcomers)
    }

    /// The thread computes up to its next call and enters it.
    fn begin(&mut self, thread: u32) {
        let one = self.scheduler.thread_mut(thread);
        let here = one.here();
        let Some((step, events)) = here.step() else { return };
        let before = Interval::new(one.now, step.begin.saturating_add(one.shift).max(one.now));
        (one.now, one.begun) = (before.end, before.end);
        let back = one.comes_back(before);
        self.matcher.computes(thread, step.before, before);
        self.sinks.computes(thread, step.before, before);
        if let Some(slot) = back {
            self.sinks.comes_back(thread, slot);
        }
        self.counts.steps += 1;
        let mut ends = false;
        let own = &self.scheduler.threads()[thread as usize];
        for (i, event) in events.iter().enumerate() {
            ends |= self.matcher.starts(&CallEvent { thread, own, step, event, i }, &mut self.sinks);
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

    /// The call ends that does nothing with others at its end.
    fn end_without(&mut self, thread: u32, step: &Step) {
        let begun = self.scheduler.threads()[thread as usize].begun;
        let time = Interval::new(begun, step.end.max(begun));
        if !time.is_empty() {
            self.sinks.calls(&EndedCall { thread, step, time, needs: &[], wait: None });
        }
        self.leave(thread, step, time.end);
    }

    /// The thread's call ends; `false`: others have to be followed first.
    fn end(&mut self, thread: u32) -> bool {
        let here = self.scheduler.threads()[thread as usize].here();
        let Some((step, events)) = here.step() else { return true };
        if !self.find_needs(thread, step, events) {
            return false;
        }
        let time = self.corrected(thread, step);
        self.matcher.needs_progress(self.scheduler.threads(), thread, time, &mut self.needs);
        self.sinks.calls(&EndedCall::new(thread, step, time, &self.needs.all));
        let own = &self.scheduler.threads()[thread as usize];
        for (i, event) in events.iter().enumerate() {
            self.matcher.is_over(&CallEvent { thread, own, step, event, i }, time, &mut self.sinks);
        }
        self.leave(thread, step, time.end);
        true
    }

    /// Finds what a call needs before it can end; `false`: others have to be followed first.
    fn find_needs(&mut self, thread: u32, step: &Step, events: &[CommEvent]) -> bool {
        self.needs.clear();
        let own = &self.scheduler.threads()[thread as usize];
        events.iter().enumerate().all(|(i, event)| {
            self.matcher.needs_of(&CallEvent { thread, own, step, event, i }, &mut self.needs, &mut self.sinks)
        })
    }

    /// When a call began and ended: not before what it certainly needed was done, whatever the clocks say.
    fn corrected(&mut self, thread: u32, step: &Step) -> Interval {
        let begin = self.scheduler.threads()[thread as usize].begun;
        let earliest = step.end.max(begin);
        let certain = |need: &&Need| need.certain;
        let certain = self.needs.all.iter().filter(certain).map(|need| need.by.at).max().unwrap_or(begin);
        if certain > earliest {
            self.counts.violations += 1;
            self.counts.largest_violation = self.counts.largest_violation.max(certain - earliest);
        }
        Interval::new(begin, earliest.max(certain))
    }

    fn leave(&mut self, thread: u32, step: &Step, end: Ns) {
        self.matcher.leave(thread);
        self.scheduler.thread_mut(thread).leave(step, end);
    }

    fn finish(mut self, unread: &[bool], scenarios: Vec<WhatIf>) -> Followed {
        let threads = self.scheduler.threads();
        let is_selected = |one: &Thread| one.number == 0 && self.scope.has(one.rank);
        let firsts: Vec<u32> = (0..).zip(threads).filter(|(_, one)| is_selected(one)).map(|(at, _)| at).collect();
        let one = |at: u32| &threads[at as usize];
        let last = firsts.iter().copied().max_by_key(|&at| (one(at).now, Reverse(at)));
        let end = last.map_or(0, |at| one(at).now);
        for &thread in firsts.iter().filter(|&&at| Some(at) != last && !unread[one(at).rank as usize]) {
            let idle = Interval::new(one(thread).now, end);
            if !idle.is_empty() {
                self.sinks.ends_early(thread, last.unwrap_or(thread), idle);
            }
        }
        let last_end = firsts.iter().map(|&at| one(at).now.min(self.scope.window(one(at).rank).end));
        let elapsed = last_end.max().unwrap_or(self.scope.begin) - self.scope.begin;
        let Explained { blocking, critical_path, delaying_code, kept } =
            self.sinks.waits.finish(|| ends(self.scope, threads, Ns::MAX));
        let Counts { steps, violations, largest_violation, .. } = self.counts;
        Followed {
            ranks: self.model.ranks.iter().map(|rank| rank.rank).collect(),
            regions: self.model.regions.clone(),
            threads: threads.iter().map(|one| ThreadOf { rank: one.rank, number: one.number }).collect(),
            blocking,
            replays: scenarios.into_iter().zip(self.sinks.clocks.times_s(firsts.into_iter())).collect(),
            critical_path,
            delaying_code,
            elapsed,
            counts: Counts { steps, violations, largest_violation, ..self.matcher.finish() },
            kept,
        }
    }
}

/// When the windows of the ranks in `scope` ended, once all threads have passed these ends: all have been followed until `now`.
fn ends(scope: &Scope, threads: &[Thread], now: Ns) -> Option<Vec<(u32, Ns)>> {
    let end = |one: &Thread| scope.window(one.rank).end;
    let firsts = || (0..).zip(threads).filter(|(_, one)| one.number == 0 && scope.has(one.rank));
    let have_passed = !firsts().any(|(_, one)| end(one) > now && !one.ended);
    have_passed.then(|| firsts().map(|(at, one)| (at, one.now.min(end(one)))).collect())
}
