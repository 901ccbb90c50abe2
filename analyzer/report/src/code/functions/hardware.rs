//! Summarizes the processor counters of a region.

use super::SampledFunctions;
use super::data::HardwareRow;
use lbprof_analysis::metrics::hardware::{frequency_hz, instructions_per_cycle, split_excess};
use lbprof_analysis::metrics::sampled::functions::computing_times;
use lbprof_analysis::model::RegionIdx;
use lbprof_analysis::model::ranks::samples::HardwareCounters;

fn smallest_figure(
    ranks: &[(u32, HardwareCounters)],
    figure: impl Fn(&HardwareCounters) -> Option<f64>,
) -> Option<(f64, u32)> {
    let figures = ranks.iter().filter_map(|(rank, counted)| Some((figure(counted)?, *rank)));
    figures.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
}

impl SampledFunctions<'_> {
    /// Summarizes the counters of a region. `at` is the index of the rank that is compared with the mean.
    pub(super) fn hardware(&self, region: Option<RegionIdx>, at: usize) -> Option<HardwareRow> {
        let mut ranks: Vec<(u32, HardwareCounters)> = Vec::with_capacity(self.model.ranks.len());
        for rank in &self.model.ranks {
            let mut sum = HardwareCounters::default();
            for (_, time) in computing_times(rank, region) {
                sum.add(&time.counted);
            }
            ranks.push((rank.rank, sum));
        }
        let own = ranks.get(at)?.1;
        ranks.retain(|(_, counted)| counted.instructions > 0);
        let mut all = HardwareCounters::default();
        for (_, counted) in &ranks {
            all.add(counted);
        }
        let split = split_excess(&all, ranks.len(), &own).filter(|_| own.instructions > 0)?;
        let (min_ipc, min_frequency) =
            (smallest_figure(&ranks, instructions_per_cycle), smallest_figure(&ranks, frequency_hz));
        Some(HardwareRow {
            ranks: ranks.len(),
            instructions: all.instructions as f64 / ranks.len() as f64,
            ipc: instructions_per_cycle(&all),
            frequency_hz: frequency_hz(&all),
            slowest_instructions: own.instructions as f64,
            slowest_ipc: instructions_per_cycle(&own),
            slowest_frequency_hz: frequency_hz(&own),
            more_instructions_s: split.more_instructions_s,
            slower_instructions_s: split.slower_instructions_s,
            min_ipc: min_ipc.map(|one| one.0),
            min_ipc_rank: min_ipc.map(|one| one.1),
            min_frequency_hz: min_frequency.map(|one| one.0),
            min_frequency_rank: min_frequency.map(|one| one.1),
        })
    }
}
