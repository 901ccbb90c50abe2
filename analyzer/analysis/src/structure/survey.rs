//! The first pass over a run: which calls follow which, how often, and where the time between them goes.
//!
//! Loops and regions are found from it, before the second pass folds the records into the model. Its size grows with ranks × kinds of
//! calls and with the pairs of call sites that follow one another, never with records.

use bincode::{Decode, Encode};
use std::collections::{BTreeMap, HashMap};

use lbprof_collector::clock::RankClock;
use lbprof_collector::format::{LogHeader, RecordingMode};
use lbprof_collector::reader::LogItem;
use lbprof_collector::record::NONE;
use lbprof_collector::sample::CodeAddress;
use lbprof_collector::semantics::CompletionEffect;
use lbprof_collector::{Operation, Record};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::code::sites::CallSiteTable;
use crate::partial_result::PartialResult;
use crate::read::definitions::RankDefinitions;
use crate::read::open::RecordedRun;
use crate::read::pass::{self, ProgressReport, RankPass};
use crate::structure::call_kinds::{CallKind, CallKinds};
use crate::structure::interning::intern;

/// The results of the first pass.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct CallSurvey {
    /// Files and call sites of all ranks and threads.
    pub sites: CallSiteTable,
    /// Kinds of calls.
    pub tokens: Vec<CallToken>,
    /// Survey of each rank, by number.
    pub ranks: Vec<RankSurvey>,
    /// Pairs of call sites that follow one another on the ranks' first threads, summed over ranks. `None` stands for the start of a rank,
    /// and for a call site that the recorder did not know: nanoseconds from the end of the first call to the end of the second. They are
    /// integers, so that the order of adding does not matter.
    pub pairs: HashMap<(Option<u32>, Option<u32>), u64>,
    /// True if a rank has marked iterations.
    pub marked_iterations: bool,
    /// True if a rank has marked phases that are no iterations.
    pub marked_phases: bool,
    /// True if a rank recorded profiles in place of calls.
    pub profiles: bool,
    /// True if the summary of a rank was read in place of its calls.
    pub summaries: bool,
}

/// A kind of call: calls of one kind are the same step of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub struct CallToken {
    /// Index of the call site, or `None` if the recorder did not know it.
    pub site: Option<u32>,
    /// Number of the operation.
    pub operation: u16,
    /// The rank's own id of the communicator, a number in the order of their creation. It means the same on all ranks that run the same
    /// code, while each row or column has a communicator of its own.
    pub comm: u32,
}

impl CallToken {
    /// Returns the token of calls of a kind, whose call site is an id of `definitions`.
    pub fn from_kind(kind: &CallKind, sites: &CallSiteTable, definitions: &RankDefinitions) -> CallToken {
        let site = u32::try_from(kind.call_site).ok().and_then(|id| sites.find(definitions, id));
        CallToken { site, operation: kind.operation, comm: kind.comm }
    }
}

/// The calls of a rank's first thread.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct RankSurvey {
    /// Its number.
    pub rank: u32,
    /// Calls.
    pub calls: u64,
    /// Number of calls of each of its kinds, by index of the kind.
    pub counts: Vec<(u32, u64)>,
    /// Its clock, or `None` if its log could not be read.
    pub clock: Option<RankClock>,
    /// True if it has samples.
    pub is_sampled: bool,
    /// The sequence number after the last record of each thread, by the thread's number.
    pub threads: BTreeMap<u32, u64>,
}

impl RankSurvey {
    /// Returns the number of calls of a kind.
    pub fn count(&self, kind: u32) -> u64 {
        let found = self.counts.binary_search_by_key(&kind, |&(kind, _)| kind);
        found.ok().and_then(|at| self.counts.get(at)).map_or(0, |&(_, count)| count)
    }

    /// Returns the number of calls of all these kinds.
    pub fn count_all(&self, kinds: &[u32]) -> u64 {
        kinds.iter().map(|&kind| self.count(kind)).sum()
    }
}

/// Surveys `run`.
pub fn survey_run(run: &RecordedRun, progress: ProgressReport) -> CallSurvey {
    survey_ranks(run, &run.headers, progress).unwrap_or_default().sorted()
}

/// Surveys the ranks of `run` with these headers: a part of the run's survey, or `None` if there are none.
pub(crate) fn survey_ranks(run: &RecordedRun, headers: &[LogHeader], progress: ProgressReport) -> Option<CallSurvey> {
    pass::fold_ranks(run, headers, RankPassState::new, progress)
}

fn renumbered_site(site: Option<u32>, indices: &[u32]) -> Option<u32> {
    site.map(|site| indices[site as usize])
}

fn renumber_kinds(rank: &mut RankSurvey, numbers: &[u32]) {
    for (token, _) in rank.counts.iter_mut() {
        *token = numbers[*token as usize];
    }
}

impl CallSurvey {
    /// Returns the call site of a kind of calls, or `None` if it is not known.
    pub fn site_of(&self, token: u32) -> Option<u32> {
        self.tokens.get(token as usize)?.site
    }

    /// Returns whether calls of a kind complete whichever requests are complete: an iteration makes as many of them as it takes until all are.
    pub fn is_partial_completion(&self, token: u32) -> bool {
        let token = self.tokens.get(token as usize);
        token.is_some_and(|token| Operation::completes(token.operation) == CompletionEffect::Some)
    }

    /// Returns the survey of the rank with this number.
    pub fn rank(&self, rank: u32) -> Option<&RankSurvey> {
        let found = self.ranks.binary_search_by_key(&rank, |survey| survey.rank);
        found.ok().and_then(|at| self.ranks.get(at))
    }

    /// Returns the survey of this process's ranks, with the call sites of all, to which it refers from then on.
    pub(crate) fn with_sites(&self, sites: CallSiteTable) -> CallSurvey {
        CallSurvey { sites, ranks: self.ranks.clone(), ..CallSurvey::default() }
    }

    /// Returns the survey of all ranks, with call sites and kinds of calls in an order that does not depend on the order of merging.
    pub(crate) fn sorted(self) -> CallSurvey {
        let (sites, indices) = self.sites.sorted();
        let tokens: Vec<CallToken> = self
            .tokens
            .iter()
            .map(|token| CallToken { site: renumbered_site(token.site, &indices), ..*token })
            .collect();
        let mut order: Vec<u32> = (0..tokens.len() as u32).collect();
        order.sort_by_key(|&at| tokens[at as usize]);
        let mut numbers = vec![0; tokens.len()];
        for (new, &old) in (0..).zip(&order) {
            numbers[old as usize] = new;
        }
        let mut ranks = self.ranks;
        for rank in ranks.iter_mut() {
            renumber_kinds(rank, &numbers);
            rank.counts.sort_unstable();
        }
        let tokens = order.iter().map(|&old| tokens[old as usize]).collect();
        let pairs = self.pairs.into_iter();
        let pairs =
            pairs.map(|((from, to), ns)| ((renumbered_site(from, &indices), renumbered_site(to, &indices)), ns));
        CallSurvey { sites, tokens, ranks, pairs: pairs.collect(), ..self }
    }
}

impl PartialResult for CallSurvey {
    fn merge(mut self, higher: CallSurvey) -> CallSurvey {
        let sites = self.sites.merge(&higher.sites);
        let mut known: HashMap<CallToken, u32> = self.tokens.iter().copied().zip(0..).collect();
        let mut numbers = Vec::with_capacity(higher.tokens.len());
        for token in higher.tokens {
            let token = CallToken { site: renumbered_site(token.site, &sites), ..token };
            numbers.push(intern(&mut known, &mut self.tokens, token));
        }
        for mut rank in higher.ranks {
            renumber_kinds(&mut rank, &numbers);
            self.ranks.push(rank);
        }
        for ((from, to), ns) in higher.pairs {
            let own = self.pairs.entry((renumbered_site(from, &sites), renumbered_site(to, &sites))).or_default();
            *own = own.saturating_add(ns);
        }
        self.marked_iterations |= higher.marked_iterations;
        self.marked_phases |= higher.marked_phases;
        self.profiles |= higher.profiles;
        self.summaries |= higher.summaries;
        self
    }
}

struct RankPassState {
    header: LogHeader,
    definitions: RankDefinitions,
    profiles: bool,
    /// True if its summary is read in place of its calls.
    is_summed_up: bool,
    calls: ThreadCalls,
    threads: BTreeMap<u32, u64>,
    /// Addresses at which samples were taken, with the ids of their call paths.
    sampled: FxHashSet<(CodeAddress, u32)>,
}

impl RankPassState {
    fn new(header: &LogHeader) -> Self {
        RankPassState {
            header: header.clone(),
            is_summed_up: false,
            definitions: RankDefinitions::default(),
            profiles: false,
            calls: ThreadCalls::default(),
            threads: BTreeMap::new(),
            sampled: FxHashSet::default(),
        }
    }

    /// Notes that records of a thread reach up to a sequence number.
    fn extend_to(&mut self, thread: u32, next: u64) {
        let last = self.threads.entry(thread).or_default();
        *last = next.max(*last);
    }
}

impl RankPass for RankPassState {
    type Output = CallSurvey;

    fn item(&mut self, item: LogItem) {
        match item {
            LogItem::Definitions(definitions) => self.definitions.extend(definitions),
            LogItem::Records { head, records } => {
                self.extend_to(head.thread, head.first.saturating_add(records.len() as u64));
                if head.thread == 0 {
                    self.calls.add(&records, head.previous_end);
                }
            }
            LogItem::Profile(batch) => {
                self.extend_to(batch.head.thread, batch.next.first);
                self.profiles = true;
            }
            LogItem::Summary(summary) => {
                self.extend_to(summary.thread(), summary.batch.next.first);
                self.is_summed_up = true;
                self.profiles |= self.header.mode == RecordingMode::Profile;
            }
            LogItem::Samples { samples, .. } => {
                self.sampled.extend(samples.iter().map(|one| (one.location, one.call_path)));
            }
            LogItem::Problem(_) | LogItem::Polls(_) => {}
        }
    }

    fn end(mut self) -> CallSurvey {
        self.calls.finish();
        let mut sites = CallSiteTable::default();
        let of_id = sites.enter(&self.definitions);
        sites.enter_sampled(&self.definitions, self.sampled.iter());
        let mut tokens = Vec::new();
        for kind in self.calls.kinds.iter() {
            let site = u32::try_from(kind.call_site).ok().and_then(|id| of_id.get(&id).copied());
            tokens.push(CallToken { site, operation: kind.operation, comm: kind.comm });
        }
        let clock = self.definitions.clock(&self.header);
        let tick_s = clock.tick_s();
        let mut pairs: HashMap<_, u64> = HashMap::new();
        for (&(from, to), &ticks) in &self.calls.pairs {
            let [from, to] = [from, to].map(|kind| tokens.get(kind as usize).and_then(|token| token.site));
            let ns = pairs.entry((from, to)).or_default();
            *ns = ns.saturating_add((ticks as f64 * tick_s * 1e9) as u64);
        }
        let counts = (0..).zip(self.calls.counts).collect();
        let mut phases = self.definitions.regions.values().filter(|region| region.id != 0);
        CallSurvey {
            ranks: vec![RankSurvey {
                rank: self.header.rank,
                calls: self.calls.n,
                counts,
                clock: Some(clock),
                is_sampled: !self.sampled.is_empty() || self.definitions.has_off_core,
                threads: self.threads,
            }],
            sites,
            tokens,
            pairs,
            marked_iterations: phases.clone().any(|region| region.iterated),
            marked_phases: phases.any(|region| !region.iterated),
            profiles: self.profiles,
            summaries: self.is_summed_up,
        }
    }
}

#[derive(Default)]
struct ThreadCalls {
    n: u64,
    kinds: CallKinds,
    counts: Vec<u64>,
    /// Ticks of pairs of kinds that follow one another.
    pairs: FxHashMap<(u32, u32), u64>,
    /// End of the last call, or `None` before the first.
    last_end: Option<u64>,
    /// Kind that followed each kind the last time, with ticks that are not in `pairs` yet: programs repeat themselves.
    followed: Vec<(u32, u64)>,
}

/// Maximum number of pairs of kinds that are distinguished on a rank; programs have thousands at most.
const MOST_PAIRS: usize = 1 << 18;

impl ThreadCalls {
    fn add(&mut self, records: &[Record], begin: u64) {
        for record in records.iter().filter(|record| record.is_call()) {
            let from = self.kinds.last();
            let kind = self.kinds.intern(record);
            if kind as usize >= self.counts.len() {
                self.counts.push(0);
                self.followed.push((NONE, 0));
            }
            let since = self.last_end.unwrap_or(begin);
            let end = record.end.max(record.begin).max(since);
            self.count_pair(from, kind, end - since);
            self.counts[kind as usize] += 1;
            self.last_end = Some(end);
            self.n += 1;
        }
    }

    #[inline(always)]
    fn count_pair(&mut self, from: u32, to: u32, ticks: u64) {
        let Some(place) = self.followed.get_mut(from as usize) else {
            return self.settle(from, to, ticks);
        };
        if place.0 != to {
            let (before, sum) = std::mem::replace(place, (to, ticks));
            return self.settle(from, before, sum);
        }
        place.1 = place.1.wrapping_add(ticks);
    }

    fn settle(&mut self, from: u32, to: u32, ticks: u64) {
        if to == NONE || (self.pairs.len() >= MOST_PAIRS && !self.pairs.contains_key(&(from, to))) {
            return;
        }
        let all = self.pairs.entry((from, to)).or_default();
        *all = all.wrapping_add(ticks);
    }

    fn finish(&mut self) {
        for from in 0..self.followed.len() {
            let (to, ticks) = std::mem::replace(&mut self.followed[from], (NONE, 0));
            self.settle(from as u32, to, ticks);
        }
    }
}
