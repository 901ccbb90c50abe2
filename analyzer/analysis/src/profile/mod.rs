//! The pass that folds a run into its [`Model`].
//!
//! Each rank's records are folded by the collector's own fold, the same as in the recorder's profile mode; what is left,
//! sums by region, iteration and activity, is turned from ticks into seconds and from the rank's ids into those of the run.
//! Memory grows with ranks × regions × iterations × call sites, never with records.
//!
//! | file | content |
//! |---|---|
//! | `mod.rs` | the fold of a rank's log |
//! | `sums.rs` | what a thread's records add up to; `times.rs`: its time by iteration; `span.rs`: where only a span of time counts |
//! | `rank.rs` | a rank's sums → its model |
//! | `iterations.rs` | the part of that which is by iteration, with `bounds.rs` (when iterations were) and `found_iterations.rs` (those of a detected loop) |
//! | `joining.rs` | iterations of ranks in blocks, where there are too many |
//! | `samples.rs` | samples, each where the first thread was then |
//! | `lines.rs` | CPU time by line, summed exactly |
//! | `file_waits.rs` | waits for nonblocking access to files |
//! | `others.rs` | threads other than the first, of which only the sum is of interest |
//! | `parallel.rs` | sums of parallel regions; `parallel_marks.rs`: those of their instances |
//! | `rank_summaries.rs` | a rank's summaries, in place of its records or held against them |
//! | `tables.rs` | names that ranks share, and their numbers |
//! | `partial_model.rs` | the models of several ranks as one, and at last as the run's |
//! | `concurrency.rs` | how much of the run one rank alone computes |

mod bounds;
pub mod concurrency;
mod file_waits;
mod found_iterations;
mod iterations;
pub mod joining;
mod lines;
mod others;
mod parallel;
mod parallel_marks;
mod partial_model;
mod rank;
mod rank_summaries;
pub mod samples;
pub mod span;
pub mod sums;
mod tables;
pub mod times;

use lbprof_collector::format::LogHeader;
use lbprof_collector::polling::{PollGapRule, PollSums};
use lbprof_collector::problem::Severity;
use lbprof_collector::profile::ProfileBatch;
use lbprof_collector::reader::LogItem;
use lbprof_collector::{Operation, Problem, ProblemKind, Record};

use crate::model::summary::SummaryFacts;
use crate::model::{Model, RankModel};
use crate::profile::concurrency::RankSampler;
use crate::profile::sums::ThreadSums;
use crate::read::definitions::RankDefinitions;
use crate::read::open::RecordedRun;
use crate::read::pass::{self, ProgressReport, RankPass};
use crate::read::span::TickSpan;
use crate::structure::sampled_code::SampledCode;
use crate::structure::survey::CallSurvey;
use crate::structure::{CallPlacer, RunStructure};
use file_waits::FileWaitFold;
use found_iterations::FoundIterations;
use others::OtherThreadSums;
use parallel_marks::MarkedRegions;
pub(crate) use partial_model::PartialModel;
use rank::{RankBuilder, RunTables};
use rank_summaries::{RankSummary, SummarizedRanks, forget_iterations, forget_samples};
use samples::{MOST_SAMPLES, SampleSource, SortedSamples};

/// The input of the second pass: results of the first one.
#[derive(Clone, Copy)]
pub struct GatherInput<'a> {
    /// The survey of the run.
    pub survey: &'a CallSurvey,
    /// The loops and regions of the run, where none are marked.
    pub structure: &'a RunStructure,
    /// The code that samples hit.
    pub code: &'a SampledCode,
    /// Iterations above which those of a rank are joined in blocks.
    pub most_iterations: usize,
}

/// Folds `run` into its model.
pub fn gather(run: &RecordedRun, input: GatherInput, progress: ProgressReport) -> Model {
    finish(run, input, gather_ranks(run, &run.headers, input, progress))
}

/// Folds the ranks of `run` that `headers` are of: a part of the run's model. `None`: there are none.
pub(crate) fn gather_ranks(
    run: &RecordedRun,
    headers: &[LogHeader],
    input: GatherInput,
    progress: ProgressReport,
) -> Option<PartialModel> {
    pass::fold(run, headers, |header: &LogHeader| RankGather::new(run, header, input), progress)
}

/// Makes the model of `run` from the merged parts of all ranks.
pub(crate) fn finish(run: &RecordedRun, input: GatherInput, part: Option<PartialModel>) -> Model {
    let GatherInput { survey, structure, .. } = input;
    let summed_up = part.as_ref().map(|part| part.summed_up).unwrap_or_default();
    let mut model = part.map(|part| part.finish(structure)).unwrap_or_default();
    if run.is_first_look {
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
    model.facts.selected.ranks.clone_from(&run.selected);
    model.facts.polling = run.polling;
    model.problems.splice(0..0, run.problems.iter().cloned());
    model
}

/// The fold of one rank.
struct RankGather<'a> {
    header: LogHeader,
    tables: RunTables<'a>,
    code: &'a SampledCode,
    /// The rank's samples, until its first thread has records.
    samples: Option<SortedSamples>,
    /// Of the first thread's calls.
    placer: Option<CallPlacer<'a>>,
    /// The time that counts.
    span: TickSpan,
    definitions: RankDefinitions,
    /// The first thread, once it has records.
    first: Option<ThreadSums>,
    others: OtherThreadSums,
    parallel: MarkedRegions,
    /// The first thread's last record, if it is of a call that has not returned.
    pending: Option<Record>,
    /// Asks the first thread what it does; `None` where nothing is known of the rank's clock.
    sampler: Option<RankSampler>,
    /// Of the first thread.
    file_waits: FileWaitFold,
    /// Polls of the first thread.
    polls: PollSums,
    /// The polls of which the recorder decided, in profile mode.
    polls_decided: u64,
    problems: Vec<Problem>,
    /// True if summaries are read in place of events.
    is_first_look: bool,
    /// True if the log is read as it was recorded.
    is_as_recorded: bool,
    /// Threads that are merged with the first one.
    n_leading: u32,
    summed_up: SummarizedRanks,
    stated: RankSummary,
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
                .filter(|_| !(run.is_first_look && survey.summaries))
                .map(|clock| RankSampler::new(header.rank, clock).within(span)),
            header: header.clone(),
            tables: RunTables { known_sites: &survey.sites, structure, most_iterations },
            code,
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
            is_first_look: run.is_first_look,
            is_as_recorded: run.polling == PollGapRule::Auto && threads.as_ref().is_some_and(|facts| facts.is_empty()),
            n_leading: threads.map_or(0, |facts| facts.leading.len() as u32),
            summed_up: SummarizedRanks::default(),
            stated: RankSummary::default(),
        }
    }

    /// Adds what the recorder has summed up.
    fn absorb(&mut self, batch: &ProfileBatch) {
        if batch.head.thread == 0 {
            for sampler in self.sampler.iter_mut() {
                sampler.absorb(batch);
            }
            self.polls.add(&batch.profile.polls);
            self.polls_decided = self.polls_decided.saturating_add(batch.profile.polls.polls);
        }
        let thread = match batch.head.thread {
            0 => self.first.get_or_insert_with(|| {
                ThreadSums::new(&batch.head, self.span).with_samples(&batch.head, self.samples.take())
            }),
            _ => self.others.thread_sums_mut(&batch.head, self.span),
        };
        thread.absorb(batch);
    }

    /// Returns whether its summaries can be held against its records: those are all there, and as they were when they were summed up.
    fn can_compare(&self) -> bool {
        self.span == TickSpan::ALL
            && self.is_as_recorded
            && !self.is_first_look
            && !self.problems.iter().any(|problem| problem.kind.severity() != Severity::Note)
    }
}

impl RankPass for RankGather<'_> {
    type Output = PartialModel;

    fn item(&mut self, item: LogItem) {
        match item {
            LogItem::Definitions(definitions) => {
                for one in definitions {
                    self.definitions.add(one);
                }
            }
            LogItem::Records { head, records } => {
                self.parallel.records(&head, &records);
                let thread = match head.thread {
                    0 => self.first.get_or_insert_with(|| {
                        ThreadSums::new(&head, self.span).with_samples(&head, self.samples.take())
                    }),
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
                    // After it there may be the end of the program.
                    let last = records.iter().rfind(|record| record.operation != Operation::ProgramEnd as u16);
                    self.pending = last
                        .filter(|record| record.end == 0)
                        .filter(|record| record.operation < Operation::RegionEnter as u16)
                        .copied();
                }
            }
            LogItem::Profile(batch) => self.absorb(&batch),
            LogItem::Summary(summary) if self.is_first_look => {
                self.summed_up.ranks = 1;
                self.summed_up.without_iterations |= u32::from(summary.left_out > 0);
                self.absorb(&summary.batch);
            }
            LogItem::Summary(summary) => self.stated.add(&summary),
            // They are merged with the first thread's records.
            LogItem::Samples { .. } => {}
            LogItem::Problem(problem) => self.problems.push(problem),
            LogItem::Polls(sums) => self.polls.add(&sums),
        }
    }

    fn end(self) -> PartialModel {
        let part = self.ended();
        // What stays is copied to where was what the fold needed meanwhile: between thousands of ranks these gaps took more than half as much memory again.
        let ranks = part.ranks.clone();
        PartialModel { ranks, ..part }
    }
}

impl RankGather<'_> {
    /// The rank's part of the model.
    fn ended(self) -> PartialModel {
        let compares = self.can_compare();
        let mut part = PartialModel::default();
        let mut builder = RankBuilder::new(&self.header, &self.definitions, self.tables, self.span, &mut part);
        builder.code = Some(self.code);
        builder.inner_iterations = self.placer.as_ref().map(CallPlacer::inner_iterations).unwrap_or_default();
        builder.iterated = self
            .placer
            .and_then(CallPlacer::finish)
            .map(|(at, intervals, ends)| FoundIterations::new(at, &intervals, ends, self.span));
        let (n_others, others) = self.others.finish();
        let first = self.first.map(ThreadSums::finish);
        let contradicts = compares.then(|| self.stated.contradicts(first.as_ref(), &others)).flatten();
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
        part.problems.extend(contradicts.map(|one| Problem { rank: Some(rank.rank), ..one }));
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
        // A rank of which nothing could be read is a missing one: means must not take it for one that never computes.
        // In a part of the time it may have no records: that it is known is known then.
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

/// The name of an operation's number, also of one that this version does not know.
pub fn operation_name(number: u16) -> String {
    Operation::from_number(number)
        .map_or_else(|| format!("operation {number}"), |operation| operation.name().to_owned())
}
