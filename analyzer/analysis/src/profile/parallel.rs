//! Converts sums of parallel regions from ticks to seconds and from the rank's call sites to the run's.

use lbprof_collector::parallel::{MutexSums, ParallelSums, TeamPlacement};
use lbprof_collector::record::NONE;

use super::rank::RankBuilder;
use crate::model::ranks::threads::{ParallelRegion, RegionMember, RegionMutex, TeamSeconds, ThreadPlacement};
use crate::read::span::TickSpan;

impl RankBuilder<'_> {
    pub(super) fn parallel_regions(&mut self, sums: &[ParallelSums]) {
        self.rank.placement = self.definitions.team_placement.clone().map(|placement| {
            let TeamPlacement { team, cores, settings, library } = placement;
            ThreadPlacement { team, cores, settings, library }
        });
        self.rank.parallel = sums.iter().map(|sums| self.parallel_region(sums)).collect();
        if self.span == TickSpan::ALL {
            self.add_mutexes(sums);
        }
    }

    fn add_mutexes(&mut self, sums: &[ParallelSums]) {
        for mutex in self.definitions.mutexes.values() {
            let region = sums.iter().position(|region| {
                (region.thread, region.call_site, region.team) == (mutex.thread, mutex.region, mutex.team)
            });
            let Some(region) = region else { continue };
            let MutexSums { kind, ref name, call_site, waits, ticks, .. } = *mutex;
            let site = if call_site == NONE { None } else { self.site(call_site) };
            let wait_s = self.seconds(ticks);
            if let Some(region) = self.rank.parallel.get_mut::<usize>(region) {
                region.mutexes.push(RegionMutex { kind, name: name.clone(), site, waits, wait_s });
            }
        }
        for region in &mut self.rank.parallel {
            region.mutexes.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s));
        }
    }

    fn parallel_region(&mut self, sums: &ParallelSums) -> ParallelRegion {
        let [useful_s, mpi_s, idle_for_mpi_s, imbalance_s, mutex_s, ordered_s, tasks_s, fork_join_s] =
            sums.time.parts().map(|ticks| self.seconds(ticks));
        let time =
            TeamSeconds { useful_s, mpi_s, idle_for_mpi_s, imbalance_s, mutex_s, ordered_s, tasks_s, fork_join_s };
        let members = sums
            .members
            .iter()
            .map(|one| RegionMember {
                useful_s: self.seconds(one.useful),
                mpi_s: self.seconds(one.mpi),
                waits_s: self.seconds(one.waits),
                longest: one.longest,
            })
            .collect();
        ParallelRegion {
            site: if sums.call_site == NONE { None } else { self.site(sums.call_site) },
            is_of_first: sums.thread == 0,
            team: sums.team,
            beside: sums.beside,
            instances: sums.instances,
            elapsed_s: self.seconds(sums.elapsed),
            time,
            longest_s: self.seconds(sums.longest),
            members,
            mutexes: Vec::new(),
        }
    }
}
