//! The pass that folds a run into its [`Model`].
//!
//! Each rank's records are folded by the collector's fold, as in the recorder's profile mode. The resulting sums by region, iteration and
//! activity are converted from ticks to seconds and from the rank's ids to the run's. Memory grows with ranks × regions × iterations × call
//! sites, never with records.
//!
//! | file | content |
//! |---|---|
//! | `mod.rs` | the fold of a rank's log |
//! | `summed/sums.rs` | sums of a thread's records; `times.rs`: its time by iteration; `span.rs`: restriction to a span of time |
//! | `rank.rs` | a rank's sums → its model |
//! | `iterations.rs` | its times by iteration, with `joined/bounds.rs` (start and end of iterations) and `joined/found_iterations.rs` (iterations of a detected loop) |
//! | `joined/joining.rs` | joins iterations of ranks in blocks, if there are too many |
//! | `summed/samples.rs` | samples, placed by the records of the first thread |
//! | `lines.rs` | CPU time by line, summed exactly |
//! | `file_waits.rs` | waits for nonblocking access to files |
//! | `summed/others.rs` | totals of threads other than the first |
//! | `parallel.rs` | sums of parallel regions; `parallel_marks.rs`: sums of their instances |
//! | `summed/rank_summaries.rs` | a rank's summaries, in place of its records |
//! | `tables.rs` | names that ranks share, and their numbers |
//! | `partial_model.rs` | merges the models of ranks to the run's |
//! | `concurrency.rs` | time in which one rank alone computes |

pub mod concurrency;
mod file_waits;
mod iterations;
pub mod joined;
mod lines;
mod parallel;
mod parallel_marks;
mod partial_model;
mod rank;
pub mod summed;
pub(crate) mod tables;

use lbprof_collector::format::LogHeader;
use lbprof_collector::polling::PollSums;
use lbprof_collector::problem::Severity;
use lbprof_collector::profile::ProfileBatch;
use lbprof_collector::reader::LogItem;
use lbprof_collector::{Operation, Problem, ProblemKind, Record};

use crate::model::run::summary::SummaryFacts;
use crate::model::{Model, RankModel};
use crate::profile::concurrency::RankSampler;
use crate::profile::summed::sums::ThreadSums;
use crate::read::definitions::RankDefinitions;
use crate::read::open::RecordedRun;
use crate::read::pass::{self, ProgressReport, RankPass};
use crate::read::span::TickSpan;
use crate::structure::code::sampled_code::SampledCode;
use crate::structure::survey::CallSurvey;
use crate::structure::{CallPlacer, RunStructure};
use file_waits::FileWaitFold;
use joined::found_iterations::FoundIterations;
use parallel_marks::MarkedRegions;
pub(crate) use partial_model::PartialModel;
use rank::{RankBuilder, RunTables};
use summed::others::OtherThreadSums;
use summed::rank_summaries::{SummarizedRanks, forget_iterations, forget_samples};
use summed::samples::{MOST_SAMPLES, SampleSource, SortedSamples};

/// The input of the second pass: results of the first one.
#[derive(Clone, Copy)]
pub struct GatherInput<'a> {
    /// The survey of the run.
    pub survey: &'a CallSurvey,
    /// The loops and regions of the run, if none are marked.
    pub structure: &'a RunStructure,
    /// The code that samples hit.
    pub code: &'a SampledCode,
    /// Maximum number of a rank's iterations that are not joined in blocks.
    pub most_iterations: usize,
}

/// Folds `run` into its model.
pub fn gather_run(run: &RecordedRun, input: GatherInput, progress: ProgressReport) -> Model {
    finish_model(run, input, gather_ranks(run, &run.headers, input, progress))
}

/// Folds the ranks of `run` with these headers: a part of the run's model, or `None` if there are none.
pub(crate) fn gather_ranks(
    run: &RecordedRun,
    headers: &[LogHeader],
    input: GatherInput,
    progress: ProgressReport,
) -> Option<PartialModel> {
    pass::fold_ranks(run, headers, |header: &LogHeader| RankGather::new(run, header, input), progress)
}

pub(crate) fn finish_model(run: &RecordedRun, input: GatherInput, part: Option<PartialModel>) -> Model {
    let GatherInput { survey, structure, .. } = input;
    let summed_up = part.as_ref().map(|part| part.summed_up).unwrap_or_default();
    let mut model = part.map(|part| part.finish(structure)).unwrap_or_default();
    if run.part.is_first_look {
        if summed_up.without_iterations > 0 {
            forget_iterations(&mut model);
        }
        if summed_up.ranks > 0 {
            forget_samples(&mut model);
        }
        model.facts.summary = Some(SummaryFacts {
            ranks_from_summaries: summed_up.ranks,
            ranks_from_events: (model.ranks.len() as u32).saturating_sub(summed_up.ranks),
            ranks_without_iterations: summed_up.without_iterations,
            ..SummaryFacts::default()
        });
    }
    model.sites.clone_from(&survey.sites);
    model.facts.selected.ranks.clone_from(&run.part.ranks);
    model.facts.polling = run.part.polling;
    model.problems.splice(0..0, run.problems.iter().cloned());
    model
}

struct RankGather<'a> {
    header: LogHeader,
    tables: RunTables<'a>,
    /// The rank's samples, until its first thread has records.
    samples: Option<SortedSamples>,
    placer: Option<CallPlacer<'a>>,
    span: TickSpan,
    definitions: RankDefinitions,
    first: Option<ThreadSums>,
    others: OtherThreadSums,
    parallel: MarkedRegions,
    /// The first thread's last record, if it is a call that has not returned.
    pending: Option<Record>,
    /// The sampler of the first thread's state, or `None` if the rank's clock is not known.
    sampler: Option<RankSampler>,
    file_waits: FileWaitFold,
    polls: PollSums,
    /// Number of polls that the recorder classified, in profile mode.
    polls_decided: u64,
    problems: Vec<Problem>,
    n_leading: u32,
    summed_up: SummarizedRanks,
}

impl<'a> RankGather<'a> {
    fn new(run: &RecordedRun, header: &LogHeader, input: GatherInput<'a>) -> Self {
        let GatherInput { survey, structure, code, most_iterations } = input;
        let span = run.span(header.rank);
        let is_sampled = survey.rank(header.rank).is_some_and(|rank| rank.is_sampled);
        let clock = survey.rank(header.rank).and_then(|rank| rank.clock.clone());
        let source = SampleSource { run, header, sites: &survey.sites, code };
        let threads = run.thread_facts(header).ok();
        RankGather {
            placer: CallPlacer::new(structure, &survey.sites, header.rank),
            sampler: clock
                .filter(|_| !(run.part.is_first_look && survey.summaries))
                .map(|clock| RankSampler::new(header.rank, clock, span)),
            header: header.clone(),
            tables: RunTables { known_sites: &survey.sites, structure, code, most_iterations },
            samples: is_sampled.then(|| source.read(span, MOST_SAMPLES)).flatten(),
            span,
            definitions: RankDefinitions::default(),
            first: None,
            others: OtherThreadSums::default(),
            parallel: MarkedRegions::new(span),
            pending: None,
            file_waits: FileWaitFold::new(span),
            polls: PollSums::default(),
            polls_decided: 0,
            problems: Vec::new(),
            n_leading: threads.map_or(0, |facts| facts.leading.len() as u32),
            summed_up: SummarizedRanks::default(),
        }
    }

    fn absorb(&mut self, batch: &ProfileBatch) {
        if batch.head.thread == 0 {
            for sampler in self.sampler.iter_mut() {
                sampler.absorb(batch);
            }
            self.polls.add(&batch.profile.polls);
            self.polls_decided = self.polls_decided.saturating_add(batch.profile.polls.polls);
        }
        let thread = match batch.head.thread {
            0 => self.first.get_or_insert_with(|| ThreadSums::new(&batch.head, self.span, self.samples.take())),
            _ => self.others.thread_sums_mut(&batch.head, self.span),
        };
        thread.absorb(batch);
    }
}

impl RankPass for RankGather<'_> {
    type Output = PartialModel;

    fn item(&mut self, item: LogItem) {
        match item {
            LogItem::Definitions(definitions) => self.definitions.extend(definitions),
            LogItem::Records { head, records } => {
                self.parallel.records(&head, &records);
                let thread = match head.thread {
                    0 => self.first.get_or_insert_with(|| ThreadSums::new(&head, self.span, self.samples.take())),
                    _ => self.others.thread_sums_mut(&head, self.span),
                };
                match self.placer.as_mut().filter(|_| head.thread == 0) {
                    Some(placer) => thread.placed_records(&head, &records, placer, &self.definitions),
                    None => thread.records(&head, &records),
                }
                if head.thread == 0 {
                    self.file_waits.records(&head, &records);
                    if let Some(sampler) = &mut self.sampler {
                        sampler.records(&head, &records, |region| self.definitions.is_serial(region));
                    }
                    // The end of the program may follow it.
                    let last = records.iter().rfind(|record| record.operation != Operation::ProgramEnd as u16);
                    self.pending = last
                        .filter(|record| record.end == 0)
                        .filter(|record| record.operation < Operation::RegionEnter as u16)
                        .copied();
                }
            }
            LogItem::Profile(batch) => self.absorb(&batch),
            LogItem::Summary(summary) => {
                self.summed_up.ranks = 1;
                self.summed_up.without_iterations |= u32::from(summary.left_out > 0);
                self.absorb(&summary.batch);
            }
            // They are merged with the first thread's records.
            LogItem::Samples { .. } => {}
            LogItem::Problem(problem) => self.problems.push(problem),
            LogItem::Polls(sums) => self.polls.add(&sums),
        }
    }

    fn end(self) -> PartialModel {
        let part = self.ended();
        // The result is copied into memory that the fold has freed: with thousands of ranks, the gaps between results took more than half as much
        // memory again.
        let ranks = part.ranks.clone();
        PartialModel { ranks, ..part }
    }
}

impl RankGather<'_> {
    fn ended(self) -> PartialModel {
        let mut part = PartialModel::default();
        let mut builder = RankBuilder::new(&self.header, &self.definitions, self.tables, self.span, &mut part);
        builder.inner_iterations = self.placer.as_ref().map(CallPlacer::inner_iterations).unwrap_or_default();
        builder.iterated = self
            .placer
            .and_then(CallPlacer::finish)
            .map(|(at, intervals, ends)| FoundIterations::new(at, &intervals, ends, self.span));
        let (n_others, others) = self.others.finish();
        let first = self.first.map(ThreadSums::finish);
        let uncut = others.uncut || first.as_ref().is_some_and(|sums| sums.uncut);
        builder.part.uncut.extend(uncut.then_some(self.header.rank));
        if let Some(sums) = first {
            builder.first_thread(sums);
        }
        if n_others > 0 {
            builder.other_threads(n_others, &others);
        }
        builder.parallel_regions(&self.parallel.finish(&self.definitions.parallel));
        builder.pending(self.pending);
        builder.polls(&self.polls, self.polls_decided);
        builder.rank.file_waits = self.file_waits.finish(|ticks| builder.seconds(ticks));
        let (mut rank, seen) = builder.finish();
        rank.leading_threads = self.n_leading;
        part.summed_up = self.summed_up;
        part.problems.extend(self.definitions.problems_of(rank.rank));
        part.problems
            .extend(self.problems.into_iter().map(|one| Problem { rank: one.rank.or(Some(rank.rank)), ..one }));
        for (kind, count) in seen {
            // The recorder may have counted the same, or a part of it.
            match part.problems.iter_mut().find(|one| one.kind == kind) {
                Some(known) => known.count = known.count.max(count),
                None => part.problems.push(Problem { kind, rank: Some(rank.rank), count, detail: String::new() }),
            }
        }
        let dropped = part.problems.iter().filter(|one| one.kind == ProblemKind::Dropped).map(|one| one.count);
        let dropped = dropped.fold(0, u64::saturating_add);
        // A rank without readable records is missing: means must not take it for a rank that never computes. In a part of the time, a known rank may
        // have no records.
        let is_known = rank.records > 0
            || self.span != TickSpan::ALL
            || part.problems.iter().all(|one| one.kind.severity() != Severity::Partial);
        if is_known {
            part.concurrency = self.sampler.map(RankSampler::finish).unwrap_or_default();
            part.ranks.push(RankModel { dropped, ..rank });
        }
        part
    }
}

/// Returns the name of an operation's number, also for unknown operations of newer versions.
pub fn operation_name(number: u16) -> String {
    Operation::from_number(number)
        .map_or_else(|| format!("operation {number}"), |operation| operation.name().to_owned())
}
