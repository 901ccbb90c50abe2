//! Summarizes the processor counters of a region.

use super::SampledFunctions;
use super::data::HardwareRow;
use lbprof_analysis::metrics::functions::computing;
use lbprof_analysis::metrics::hardware::{HardwareTimes, frequency_hz, ipc};
use lbprof_analysis::model::samples::HardwareCounters;
use lbprof_analysis::model::{RankModel, RegionIdx};

impl SampledFunctions<'_> {
    /// Returns what the processors counted in a region; `at`: the place of the rank that is compared with the mean.
    pub(super) fn hardware(&self, region: Option<RegionIdx>, at: usize) -> Option<HardwareRow> {
        let counted = |rank: &RankModel| {
            let mut sum = HardwareCounters::default();
            for (_, time) in computing(rank, region) {
                sum.add(&time.counted);
            }
            sum
        };
        let ranks: Vec<(u32, HardwareCounters)> =
            self.model.ranks.iter().map(|rank| (rank.rank, counted(rank))).collect();
        let own = ranks.get(at)?.1;
        let known: Vec<&(u32, HardwareCounters)> =
            ranks.iter().filter(|(_, counted)| counted.instructions > 0).collect();
        let mut all = HardwareCounters::default();
        for (_, counted) in known.iter() {
            all.add(counted);
        }
        let times = HardwareTimes { all, ranks: known.len(), own };
        let split = times.split().filter(|_| own.instructions > 0)?;
        let least = |of: fn(&HardwareCounters) -> Option<f64>| {
            let values = known.iter().filter_map(|(rank, counted)| Some((of(counted)?, *rank)));
            values.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
        };
        let (min_ipc, min_frequency) = (least(ipc), least(frequency_hz));
        Some(HardwareRow {
            ranks: known.len(),
            instructions: all.instructions as f64 / known.len() as f64,
            ipc: ipc(&all),
            frequency_hz: frequency_hz(&all),
            slowest_instructions: own.instructions as f64,
            slowest_ipc: ipc(&own),
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
