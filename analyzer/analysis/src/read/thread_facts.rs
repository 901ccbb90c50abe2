//! Reads facts about a rank's threads that are needed before its log is read: which of them take the first one's place, and how they spend
//! long gaps between unsuccessful polls ([`lbprof_collector::poll_gaps`] judges).
//!
//! Most programs have no such gaps, as their logs' summaries show. Only if the gaps take time is the log read for them, before the passes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lbprof_collector::Definition;
use lbprof_collector::format::LogHeader;
use lbprof_collector::poll_gaps::{CpuEvidence, CpuSample, GapSums, GapUses};
use lbprof_collector::polling::{PollGapClassifier, PollGapLimits, PollGapRule};
use lbprof_collector::rank_log::RankLog;
use lbprof_collector::reader::{LogItem, OpenError};
use lbprof_collector::summary::ThreadSummary;
use lbprof_collector::trailer::AtEnd;
use lbprof_thresholds::metrics::MIN_LONG_POLL_GAPS;

use crate::read::definitions::RankDefinitions;
use crate::read::known_threads::RankThreads;
use crate::read::leading_threads::{ThreadExtents, definitions_at_end, leading_threads, may_have_leading_threads};
use crate::read::open::RecordedRun;

/// Maximum number of samples that are kept of a thread: 16 MB.
const MOST_SAMPLES: usize = 1 << 20;

/// Returns whether a thread spends notable time in gaps between polls that may be waiting.
fn has_long_gaps(summary: &ThreadSummary) -> bool {
    let ticks = summary.batch.next.previous_end.saturating_sub(summary.batch.head.previous_end);
    let polls = &summary.batch.profile.polls;
    polls.computation as f64 > MIN_LONG_POLL_GAPS * ticks as f64
}

/// Returns whether the summaries of a log can stand for its records.
pub(super) fn are_summaries_enough(header: &LogHeader, found: &AtEnd) -> bool {
    !found.summaries.is_empty()
        && !found.summaries.iter().any(has_long_gaps)
        && leading_threads(header, found).is_empty()
}

impl RecordedRun {
    /// Returns the facts about the threads of a rank.
    ///
    /// Errors: see [`RecordedRun::log`].
    pub(crate) fn thread_facts(&self, header: &LogHeader) -> Result<Arc<RankThreads>, OpenError> {
        if let Some(known) = self.known_threads.lock().get(&header.rank) {
            return Ok(known.clone());
        }
        let at_end = self.files.folder.at_end(header.rank).ok().flatten();
        let summed_up = at_end.as_ref().filter(|found| !found.summaries.is_empty());
        let has_gaps = summed_up.is_none_or(|found| found.summaries.iter().any(has_long_gaps));
        let leading = match (summed_up, &at_end) {
            (Some(found), _) => leading_threads(header, found),
            (None, Some(found)) => self.survey_threads(header, &definitions_at_end(found))?,
            (None, None) => self.survey_threads(header, &self.read_definitions(header)?)?,
        };
        // If the user has classified long gaps, nothing needs to be found.
        let gap_uses = match has_gaps && self.part.polling == PollGapRule::Auto {
            true => Arc::new(self.survey_gaps(header, &leading)?),
            false => Arc::default(),
        };
        let facts = Arc::new(RankThreads { leading, gap_uses });
        self.known_threads.lock().insert(header.rank, facts.clone());
        Ok(facts)
    }

    /// Opens the log of a rank, with polls as they were recorded and `leading` threads merged with the first.
    pub(super) fn merged_log(&self, header: &LogHeader, leading: &BTreeSet<u32>) -> Result<RankLog, OpenError> {
        let log = self.log_as_it_is(header)?;
        if leading.is_empty() { Ok(log) } else { Ok(log.merging(leading.clone(), self.log_as_it_is(header)?)) }
    }

    fn read_definitions(&self, header: &LogHeader) -> Result<RankDefinitions, OpenError> {
        let mut definitions = RankDefinitions::default();
        let mut log = self.log_as_it_is(header)?.samples_only();
        while let Some(item) = log.next_item() {
            if let LogItem::Definitions(list) = item {
                definitions.extend(list);
            }
        }
        Ok(definitions)
    }

    /// Returns the threads that take the place of the first one, by the records of a log without summaries. They are read only if the first
    /// thread may have slept for most of the run.
    fn survey_threads(&self, header: &LogHeader, definitions: &RankDefinitions) -> Result<BTreeSet<u32>, OpenError> {
        if !may_have_leading_threads(header, definitions) {
            return Ok(BTreeSet::new());
        }
        let mut extents = ThreadExtents::default();
        let mut log = self.log_as_it_is(header)?;
        while let Some(item) = log.next_item() {
            if let LogItem::Records { head, records } = item {
                extents.add(&head, &records);
            }
        }
        Ok(extents.leading(header, definitions))
    }

    /// Returns how the threads of a rank spend their long gaps between polls, by all records and samples of its log.
    fn survey_gaps(&self, header: &LogHeader, leading: &BTreeSet<u32>) -> Result<GapUses, OpenError> {
        let (definitions, mut by_thread) = self.read_cpu_samples(header, leading)?;
        let weights: BTreeMap<u32, u64> =
            by_thread.iter().filter_map(|(&thread, samples)| Some((thread, mean_weight_ns(samples)?))).collect();
        let limits = PollGapLimits::from_header(header);
        let mut log = self.merged_log(header, leading)?;
        let mut polls: BTreeMap<u32, PollGapClassifier> = BTreeMap::new();
        let mut gaps: BTreeMap<u32, GapSums> = BTreeMap::new();
        let mut with_profiles = BTreeSet::new();
        while let Some(item) = log.next_item() {
            match item {
                LogItem::Records { head, mut records } => {
                    let polls = polls.entry(head.thread).or_insert_with(|| {
                        let mut polls = PollGapClassifier::new(PollGapRule::Auto, limits, head.previous_end);
                        polls.add_samples(by_thread.remove(&head.thread).unwrap_or_default());
                        polls
                    });
                    for record in &mut records {
                        polls.next(record);
                    }
                }
                LogItem::Definitions(definitions) => {
                    for definition in definitions {
                        if let Definition::ProfileGaps(found) = definition {
                            gaps.entry(found.thread).or_default().add(&found.sums);
                            with_profiles.insert(found.thread);
                        }
                    }
                }
                _ => {}
            }
        }
        for (thread, mut polls) in polls {
            gaps.entry(thread).or_default().add(&polls.take_gaps());
        }
        let judged = gaps.into_iter().filter(|(_, sums)| sums.ticks > 0).filter_map(|(thread, sums)| {
            let mut evidence = cpu_evidence(header, &definitions, thread, weights.get(&thread).copied());
            // The recorder counts the samples in the gaps of the first thread alone.
            if thread != 0 && with_profiles.contains(&thread) {
                evidence.period_ns = None;
            }
            Some((thread, sums.judge(&evidence)?))
        });
        Ok(judged.collect())
    }

    /// Returns the definitions of a rank's log, and the samples of its recording threads by time.
    fn read_cpu_samples(
        &self,
        header: &LogHeader,
        leading: &BTreeSet<u32>,
    ) -> Result<(RankDefinitions, BTreeMap<u32, Vec<CpuSample>>), OpenError> {
        let mut log = self.log_as_it_is(header)?.samples_only();
        let mut definitions = RankDefinitions::default();
        let mut by_id: BTreeMap<u32, Vec<CpuSample>> = BTreeMap::new();
        while let Some(item) = log.next_item() {
            match item {
                LogItem::Definitions(list) => definitions.extend(list),
                LogItem::Samples { head, samples } => {
                    let kept = by_id.entry(head.thread).or_default();
                    kept.extend(samples.iter().map(|one| CpuSample { ticks: one.ticks, weight_ns: one.weight_ns }));
                    if kept.len() > MOST_SAMPLES {
                        *kept = halve_samples(kept);
                    }
                }
                _ => {}
            }
        }
        let mut by_thread: BTreeMap<u32, Vec<CpuSample>> = BTreeMap::new();
        for (id, samples) in by_id {
            if let Some(thread) = definitions.recording_thread(id) {
                let thread = if leading.contains(&thread) { 0 } else { thread };
                by_thread.entry(thread).or_default().extend(samples);
            }
        }
        for samples in by_thread.values_mut() {
            samples.sort_by_key(|sample| sample.ticks);
        }
        Ok((definitions, by_thread))
    }
}

/// Returns every other sample, which stands for its neighbour, too.
fn halve_samples(samples: &[CpuSample]) -> Vec<CpuSample> {
    samples
        .chunks(2)
        .map(|pair| {
            let weight_ns = pair.iter().map(|sample| sample.weight_ns).sum();
            CpuSample { weight_ns, ..pair[0] }
        })
        .collect()
}

/// Returns the weight of samples that has as large an error as theirs, which grow in long runs: Σ w² / Σ w.
fn mean_weight_ns(samples: &[CpuSample]) -> Option<u64> {
    let (mut sum, mut squares) = (0_u128, 0_u128);
    for weight in samples.iter().map(|sample| u128::from(sample.weight_ns)) {
        sum += weight;
        squares = squares.saturating_add(weight * weight);
    }
    squares.checked_div(sum).and_then(|mean| u64::try_from(mean).ok())
}

/// Returns what is known of a thread's CPU time. `weight_ns`: the mean weight of its samples, where it has any.
fn cpu_evidence(header: &LogHeader, definitions: &RankDefinitions, thread: u32, weight_ns: Option<u64>) -> CpuEvidence {
    let is_sampled = definitions.sampled_threads.values().any(|one| one.number == thread);
    // Only the first thread's usage is recorded.
    let usage = definitions.usage.0.as_ref().zip(definitions.usage.1.as_ref()).filter(|_| thread == 0);
    CpuEvidence {
        tick_ns: definitions.clock(header).tick_s() * 1e9,
        period_ns: definitions
            .sampling
            .filter(|sampling| sampling.period_ns > 0 && is_sampled)
            .map(|sampling| weight_ns.unwrap_or(sampling.period_ns)),
        cpu_ns: usage.map(|(first, last)| last.thread_ns.saturating_sub(first.thread_ns)),
    }
}
