//! Summarizes the processor counters of a region.

use super::SampledFunctions;
use super::data::HardwareRow;
use lbprof_analysis::metrics::hardware::{frequency_hz, instructions_per_cycle, split_excess};
use lbprof_analysis::metrics::sampled::functions::computing_times;
use lbprof_analysis::model::RegionIdx;
use lbprof_analysis::model::ranks::samples::HardwareCounters;

impl SampledFunctions<'_> {
    /// Summarizes the counters of a region. `at` is the index of the rank that is compared with the mean.
    pub(super) fn hardware(&self, region: Option<RegionIdx>, at: usize) -> Option<HardwareRow> {
        let mut ranks: Vec<HardwareCounters> = Vec::with_capacity(self.model.ranks.len());
        for rank in &self.model.ranks {
            let mut sum = HardwareCounters::default();
            for (_, time) in computing_times(rank, region) {
                sum.add(&time.counted);
            }
            ranks.push(sum);
        }
        let own = *ranks.get(at)?;
        ranks.retain(|counted| counted.instructions > 0);
        let mut all = HardwareCounters::default();
        for counted in &ranks {
            all.add(counted);
        }
        let split = split_excess(&all, ranks.len(), &own).filter(|_| own.instructions > 0)?;
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
        })
    }
}
