//! Functions of threads other than each rank's first, and of times without records.

use super::data::{OtherThreadsFunctions, OtherThreadsRow};
use super::{MOST_REGIONS, SampledFunctions};
use lbprof_analysis::model::RegionIdx;
use lbprof_analysis::model::ranks::samples::{CpuTime, SampledThreads};

impl SampledFunctions<'_> {
    /// Returns rows for threads with and without MPI calls.
    pub(super) fn other_threads(&self) -> Vec<OtherThreadsRow> {
        let (slowest, ..) = self.slowest(None);
        let kinds = [SampledThreads::WithoutMpi, SampledThreads::WithMpi];
        let some =
            kinds.into_iter().filter_map(|threads| SampledFunctions::for_threads(self.model, self.code, threads));
        some.map(|of_threads| of_threads.as_others(slowest)).filter(|others| others.samples > 0).collect()
    }

    /// Returns the functions of all threads while the first one's activity is unknown.
    pub(super) fn unplaced(&self) -> Option<OtherThreadsFunctions> {
        let (slowest, ..) = self.slowest(None);
        let unplaced = SampledFunctions::for_threads(self.model, self.code, SampledThreads::Unplaced)?;
        Some(unplaced.in_region(None, slowest)).filter(|one| one.samples > 0)
    }

    /// Summarizes these threads. `slowest` is the index of the rank that is compared with the mean.
    fn as_others(&self, slowest: Option<usize>) -> OtherThreadsRow {
        let regions = (0..self.model.regions.len() as RegionIdx).map(|region| self.in_region(Some(region), slowest));
        let mut regions: Vec<OtherThreadsFunctions> = regions.filter(|one| one.cpu_s > 0.0).collect();
        regions.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s));
        regions.truncate(MOST_REGIONS);
        let (mut all, mut waiting_s, mut n_threads, mut n_ranks) = (CpuTime::default(), 0.0, 0, 0);
        for rank in &self.model.ranks {
            let sampled = &rank.samples.of[self.threads as usize];
            for (at, time) in &sampled.times {
                all.add(time);
                waiting_s += if self.code.is_wait_code(at.node) { time.seconds } else { 0.0 };
            }
            n_threads += sampled.threads;
            n_ranks += usize::from(sampled.threads > 0);
        }
        OtherThreadsRow {
            call_mpi: self.threads == SampledThreads::WithMpi,
            threads: n_threads,
            ranks: n_ranks,
            samples: all.samples,
            cpu_s: all.seconds,
            waiting_s,
            program: self.in_region(None, slowest),
            regions,
        }
    }

    pub(super) fn in_region(&self, region: Option<RegionIdx>, slowest: Option<usize>) -> OtherThreadsFunctions {
        let functions = self.times.by_function(region, slowest);
        let mut all = CpuTime::default();
        for time in functions.values() {
            all.add(&time.over.sum);
        }
        let times = self.model.ranks.iter().flat_map(|rank| match region {
            Some(region) => rank.samples.within(self.threads, region),
            None => rank.samples.times(self.threads),
        });
        let during_mpi = times.filter(|(at, _)| at.activity.is_mpi());
        let (rows, others) = self.rows(region, &functions, all.seconds);
        OtherThreadsFunctions {
            region: self.path(region),
            samples: all.samples,
            cpu_s: self.mean(all.seconds),
            cpu_error_s: self.mean(all.error_s()),
            during_mpi_s: self.mean(during_mpi.map(|(_, time)| time.seconds).sum()),
            functions: rows,
            others,
        }
    }
}
