//! The threads' steps in the order of time.
//!
//! ```text
//!   order.rs   who goes on next ─→ starts.rs  a call begins: matched with what others did
//!                               └→ ends.rs    a call ends ─→ needs.rs  what it needs of others before that
//!                                                         ├→ progress.rs  whether its messages could move
//!                                                         └→ waits.rs  how long it waited for them, and why
//!   signals.rs  those calls in which a rank synchronises with some others
//!   watch.rs   tells a watcher, where there is one
//! ```

mod demand;
mod ends;
mod needs;
mod order;
mod progress;
mod signals;
mod starts;
mod waits;
mod watch;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use lbprof_collector::Activity;
use lbprof_collector::record::NONE;
use rustc_hash::{FxHashMap, FxHashSet};

use self::needs::Need;
use self::progress::Coupling;
use super::explaining::Explaining;
use super::requests::Requests;
use super::scope::Scope;
use super::synchronised::Synchronised;
use super::thread::{Next, Thread};
use super::watcher::Watcher;
use crate::model::Model;
use crate::model::followed::{Counts, Followed, ThreadOf};
use crate::model::kind::{Kind, Ns};
use crate::model::waits::{WaitKey, WaitState, WaitSums};
use crate::model::what_if::WhatIf;
use crate::read::open::Run;
use crate::read::pass::Progress;
use crate::replay::blocking::{DelaySource, EndedBy, Explained, MAX_INTERVALS, Wait};
use crate::replay::engine::needs::Send;
use crate::replay::matching::{AwaitedId, Channels, Collectives, Locks, Signals};
use crate::replay::timeline::{Ids, Places, RankSteps, RegionTable, Source};
use crate::replay::what_if::{Clocks, Condition};
use crate::structure::survey::Survey;
use crate::structure::{Placer, Structure};

/// Steps after which what they were is handed over to be explained.
const HAND_OVER_AFTER: u64 = 1 << 13;

/// Follows the ranks of `run`, of which `survey`, `structure` and `model` were made, and replays it in `scenarios` of the part
/// in `scope`, in which waits count; `watcher` is told what they do.
pub fn follow(
    run: &Run,
    survey: &Survey,
    structure: &Structure,
    model: &Model,
    (scope, scenarios): (&Scope, Vec<(WhatIf, Condition)>),
    watcher: Option<&mut dyn Watcher>,
    progress: impl Fn(Progress) + Sync,
) -> Followed {
    follow_keeping(MAX_INTERVALS, run, survey, structure, model, (scope, scenarios), watcher, progress)
}

/// The same with another bound of what is kept of the ranks' histories, see [`Followed::kept`].
#[expect(clippy::too_many_arguments, reason = "those of `follow`, and what only tests change")]
pub(super) fn follow_keeping(
    most: usize,
    run: &Run,
    survey: &Survey,
    structure: &Structure,
    model: &Model,
    (scope, scenarios): (&Scope, Vec<(WhatIf, Condition)>),
    watcher: Option<&mut dyn Watcher>,
    progress: impl Fn(Progress) + Sync,
) -> Followed {
    let regions = RegionTable::new(model);
    let mut ranks: Vec<u32> = model.ranks.iter().map(|rank| rank.rank).collect();
    ranks.sort_unstable();
    let places = Places::new(&survey.sites, structure, &regions);
    let ids = Ids { communicators: &model.communicators, places, ranks: &ranks };
    let (scenarios, conditions): (Vec<WhatIf>, Vec<Condition>) =
        scenarios.into_iter().map(|(scenario, condition)| (scenario, scope.condition(condition))).unzip();
    let progress = &progress;
    // On a thread of the pool, so that there are as many as there are cores, and this one does itself what it would wait for.
    rayon::scope(|tasks| {
        let open = |rank: &crate::model::RankModel| {
            let header = run.headers.iter().find(|header| header.rank == rank.rank)?;
            let survey_of = survey.rank(rank.rank)?;
            let clock = survey_of.clock.clone()?;
            let placer = Placer::new(structure, &survey.sites, rank.rank);
            Some(RankSteps::new(ids, run.log(header).ok()?, survey_of, (clock, rank.zero_ns()), placer))
        };
        let opened: Vec<Option<RankSteps>> = model.ranks.iter().map(open).collect();
        let unread: Vec<bool> = opened.iter().map(Option::is_none).collect();
        let source = Source::new(tasks, opened);
        let mut engine = Engine::new(source, Explaining::new(tasks, scope.begin, most), (model, scope), &conditions);
        engine.lacks(&unread);
        if let Some(watcher) = watcher {
            engine.watcher = Some(watcher);
        }
        engine.run(scenarios, progress)
    })
}
/// What is known of a rank, whatever its threads do.
#[derive(Default)]
struct Rank {
    /// What was started under requests.
    requests: Requests,
    /// Its threads by number.
    threads: FxHashMap<u32, u32>,
    /// Whether records are missing: what follows can't be counted on to match.
    broken: bool,
    /// Whether its log could not be opened.
    unread: bool,
    exhausted: bool,
    /// Lists of world ranks that its events name.
    lists: Vec<Arc<[u32]>>,
}

/// The places of ranks in the model, by world rank: these ascend, and mostly all are there.
struct ByWorld(Vec<u32>);

impl ByWorld {
    fn get(&self, world: u32) -> Option<u32> {
        match self.0.get(world as usize) {
            Some(&found) if found == world => Some(world),
            _ => self.0.binary_search(&world).ok().map(|at| at as u32),
        }
    }
}

/// By place of the rank: the number of its host.
fn hosts(model: &Model) -> Vec<u32> {
    let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
    let mut number = |host| {
        let next = numbers.len() as u32;
        *numbers.entry(host).or_insert(next)
    };
    model.ranks.iter().map(|rank| number(rank.host.as_str())).collect()
}

struct Engine<'a, 'scope> {
    source: Source<'a, 'scope>,
    model: &'a Model,
    scope: &'a Scope,
    /// Whether all ranks are behind the end of their windows.
    has_ended: bool,
    places: ByWorld,
    ranks: Vec<Rank>,
    threads: Vec<Thread>,
    /// Threads by when they go on; at the same time what begins is before what ends, which may need it.
    order: BinaryHeap<Reverse<(Next, u32)>>,
    channels: Channels,
    collectives: Collectives,
    signals: Signals,
    /// What access epochs wait for that were started, by place of the rank and window.
    accesses: FxHashMap<(u32, u32, i32), AwaitedId>,
    /// World ranks whose epochs on a window (communicator, number) can't be counted on to match those of others any more.
    unknown: FxHashSet<(u32, u32, i32)>,
    locks: Locks,
    /// How many members of a communicator will enter its collectives, and whether some lack records.
    expected: FxHashMap<u32, (u32, bool)>,
    /// Numbers of ranks in communicators, where they matter.
    members: FxHashMap<(u32, u32), u32>,
    clocks: Clocks,
    synchronised: Synchronised<'a>,
    explaining: Explaining<'a, 'scope>,
    counts: Counts,
    needs: Vec<Need>,
    sends: Vec<Send>,
    /// What was seen of sides of messages that wait for each other.
    coupling: Coupling,
    /// Nanoseconds computed between an answer of a rank that answers whoever asked it first, and the next request to it.
    on_demand: Ns,
    /// By place of the rank: which host it is on.
    hosts: Vec<u32>,
    watcher: Option<&'a mut (dyn Watcher + 'a)>,
}

impl<'a, 'scope> Engine<'a, 'scope> {
    fn new(
        source: Source<'a, 'scope>,
        explaining: Explaining<'a, 'scope>,
        (model, scope): (&'a Model, &'a Scope),
        conditions: &[Condition],
    ) -> Self {
        let places = ByWorld(model.ranks.iter().map(|rank| rank.rank).collect());
        let n_ranks = model.facts.n_ranks.max(model.ranks.last().map_or(0, |rank| rank.rank.saturating_add(1)));
        Engine {
            source,
            model,
            scope,
            has_ended: false,
            places,
            ranks: model.ranks.iter().map(|_| Rank::default()).collect(),
            threads: Vec::new(),
            order: BinaryHeap::new(),
            channels: Channels::default(),
            collectives: Collectives::default(),
            signals: Signals::default(),
            accesses: FxHashMap::default(),
            unknown: FxHashSet::default(),
            locks: Locks::default(),
            expected: FxHashMap::default(),
            members: FxHashMap::default(),
            clocks: Clocks::new(conditions, scope.begin),
            synchronised: Synchronised::new(&model.communicators, n_ranks),
            explaining,
            counts: Counts::default(),
            needs: Vec::new(),
            sends: Vec::new(),
            coupling: Coupling::default(),
            on_demand: 0,
            hosts: hosts(model),
            watcher: None,
        }
    }

    /// Of ranks whose logs can't be read any more nothing is known, as of those that lack records.
    fn lacks(&mut self, unread: &[bool]) {
        for (rank, &unread) in self.ranks.iter_mut().zip(unread) {
            (rank.broken, rank.unread) = (unread, unread);
        }
    }

    fn run(mut self, scenarios: Vec<WhatIf>, progress: impl Fn(Progress)) -> Followed {
        for rank in 0..self.ranks.len() as u32 {
            let begin = ((self.model.ranks[rank as usize].begin_s) * 1e9).round() as Ns;
            let thread = self.add_thread(rank, 0, begin);
            if begin > 0 {
                let kind = Kind::new(0, Activity::Management);
                self.tell_idle(thread, (0, begin), kind, WaitState::LateBegin, None);
            }
            self.queue(thread);
        }
        let mut told = 0;
        loop {
            let mut first = self.first();
            while let Some(thread) = first {
                first = self.go_on(thread);
                if self.counts.steps - told >= HAND_OVER_AFTER {
                    progress(Progress::Records(self.counts.steps - told));
                    told = self.counts.steps;
                    let now = self.followed_until();
                    let ends = self.ends(now);
                    self.explaining.hand_over(now, ends);
                }
            }
            if !self.read_on() && !self.give_up() {
                break;
            }
        }
        progress(Progress::Records(self.counts.steps - told));
        self.finish(scenarios)
    }

    fn add_thread(&mut self, rank: u32, number: u32, begin: Ns) -> u32 {
        let thread = self.threads.len() as u32;
        let world = self.model.ranks.get(rank as usize).map_or(NONE, |rank| rank.rank);
        self.threads.push(Thread::new(rank, world, number, begin));
        self.ranks[rank as usize].threads.insert(number, thread);
        self.clocks.add_thread(rank, begin, self.scope.window(rank));
        let idle = self.scope.counts(rank, Kind::new(0, Activity::Management), false, (0, begin));
        self.explaining.batch.begin(begin, number == 0, idle);
        thread
    }

    /// Until when all threads that go on have been followed.
    fn followed_until(&self) -> Ns {
        self.threads.iter().filter(|thread| !thread.ended).map(|thread| thread.now).min().unwrap_or(0)
    }

    /// When the windows of the selected ranks ended, once all threads are behind: `now` is until when all have been followed. Else, and where
    /// that was told already, nothing.
    fn ends(&mut self, now: Ns) -> Vec<(u32, Ns)> {
        let end = |thread: &Thread| self.scope.window(thread.rank).1;
        let selected = |thread: &Thread| thread.number == 0 && self.scope.has(thread.rank);
        let firsts = || (0..).zip(&self.threads).filter(|(_, thread)| selected(thread));
        if self.has_ended || !self.scope.has_path() || firsts().any(|(_, one)| end(one) > now && !one.ended) {
            return Vec::new();
        }
        let ends = firsts().map(|(at, one)| (at, one.now.min(end(one)))).collect();
        self.has_ended = true;
        ends
    }

    fn finish(mut self, scenarios: Vec<WhatIf>) -> Followed {
        let firsts: Vec<u32> =
            (0..).zip(&self.threads).filter(|(_, thread)| thread.number == 0).map(|(at, _)| at).collect();
        let firsts: Vec<u32> =
            firsts.into_iter().filter(|&at| self.scope.has(self.threads[at as usize].rank)).collect();
        let last = firsts.iter().copied().max_by_key(|&at| (self.threads[at as usize].now, Reverse(at)));
        let end = last.map_or(0, |at| self.threads[at as usize].now);
        let is_read = |thread: u32| !self.ranks[self.threads[thread as usize].rank as usize].unread;
        let early: Vec<u32> = firsts.iter().copied().filter(|&at| Some(at) != last && is_read(at)).collect();
        for thread in early {
            self.ends_early(thread, last.unwrap_or(thread), end);
        }
        self.counts.hands_out_work = self.hands_out_work();
        let ends = self.ends(Ns::MAX);
        let Explained { blocking, critical_path, kept } = self.explaining.finish(&ends).finish();
        let last_end = firsts.iter().map(|&at| {
            let thread = &self.threads[at as usize];
            thread.now.min(self.scope.window(thread.rank).1)
        });
        let elapsed = last_end.max().unwrap_or(self.scope.begin) - self.scope.begin;
        let (sends, receives) = self.channels.left();
        self.counts.lone_sends += sends;
        self.counts.lone_receives += receives;
        self.counts.lone_collectives += self.collectives.left();
        let (neighbours, epochs) = self.signals.left();
        self.counts.lone_neighbours += neighbours;
        self.counts.lone_epochs += epochs;
        Followed {
            ranks: self.model.ranks.iter().map(|rank| rank.rank).collect(),
            regions: self.model.regions.clone(),
            threads: self.threads.iter().map(|one| ThreadOf { rank: one.rank, number: one.number }).collect(),
            blocking,
            replays: scenarios.into_iter().zip(self.clocks.times_s(firsts.into_iter())).collect(),
            critical_path,
            elapsed,
            counts: self.counts,
            kept,
        }
    }

    /// As much of a wait as counts: from `begin` until what it waited for was `done`, and on until that had come.
    fn counted(&self, key: &WaitKey, (begin, done, end): (Ns, Ns, Ns)) -> WaitSums {
        let rank = self.threads[key.thread as usize].rank;
        let counts = |times: (Ns, Ns)| self.scope.counts(rank, key.kind, key.operation != 0, times);
        let count = u64::from(counts((begin, begin.saturating_add(1))) > 0);
        WaitSums { count, waiting: counts((begin, done)), delay: counts((done, end)) }
    }

    /// A rank's window ends before that of the last.
    fn ends_early(&mut self, thread: u32, last: u32, end: Ns) {
        let begin = self.threads[thread as usize].now;
        if begin >= end {
            return;
        }
        let worlds = [thread, last].map(|one| (one, self.threads[one as usize].world));
        let since = self.synchronised.last(worlds[0], worlds[1], end).min(begin);
        let by = EndedBy { thread: last, at: end };
        let kind = Kind::new(0, Activity::Management);
        let key = WaitKey { thread, kind, site: NONE, operation: 0, state: WaitState::EarlyEnd };
        let sums = WaitSums { count: 1, waiting: end - begin, delay: 0 };
        let source = DelaySource { by, since, share: 1.0, delay: None };
        let counted = self.counted(&key, (begin, end, end));
        self.explaining.batch.wait(Wait { key, begin, sums, counted, by }, [source].into_iter());
        self.tell_idle(thread, (begin, end), kind, WaitState::EarlyEnd, Some(last));
    }
}
