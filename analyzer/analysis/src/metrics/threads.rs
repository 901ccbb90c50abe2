//! Efficiencies of ranks with threads (OpenMP): what all cores of the job do.
//!
//! ```text
//!   core time N·T of rank r:  n cores × T
//!   thread 0  |serial|==region==|.MPI.|     A: in neither MPI nor waiting for it   = useful + S + L + X + F
//!   thread 1  |  S   |==== L ...|.idle|     S: idle while thread 0 computes alone
//!                                           L: imbalance of the region's threads, X: other waits in it, F: fork and join
//! ```
//!
//! With o_r = A_r / n_r, the time in which a rank computes,
//!
//! parallel efficiency = useful / N·T
//!                     = load balance Σ n_r o_r / (N max o) × communication max o / T            (of ranks, as with one thread each)
//!                     × serial (A−S)/A × thread balance (A−S−L)/(A−S) × waits (A−S−L−X)/(A−S−L) × fork and join U/(A−S−L−X).
//!
//! With one thread per rank the first two are as in [`super::spread::load_balance`], and the others are 1.
//!
//! Source: docs/metrics.md §8. TALP (DLB 3.5) divides the side of MPI in the same way.

use lbprof_collector::Activity;
use lbprof_thresholds::metrics::MIN_TEAM_TIME;

use super::spread::load_balance::quotient_of;
use crate::model::Model;
use crate::model::ranks::threads::{ParallelRegion, TeamSeconds};

/// The use of a rank's cores, in seconds of core time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankCores {
    /// n: the size of the largest team that takes 1 % of the rank's time, with the threads of teams beside it; else 1.
    pub cores: u32,
    /// Time in which its first thread computes outside of regions: work.
    pub outside_s: f64,
    /// S: idle, because its first thread computes outside of regions, or the team of a region is smaller than others.
    pub serial_s: f64,
    /// In regions, whichever thread starts them.
    pub inside: TeamSeconds,
    /// Elapsed time of regions that other threads start.
    pub other_masters_s: f64,
}

impl RankCores {
    /// Computes the use of the cores of a rank whose first thread computes `computation_s`, in regions too, in a window of `window_s`.
    pub fn new(regions: &[ParallelRegion], computation_s: f64, window_s: f64) -> RankCores {
        let of_first = regions.iter().filter(|region| region.is_of_first);
        let inside =
            of_first.map(|region| region.elapsed_s - region.members.first().map_or(0.0, |member| member.mpi_s));
        let inside_s: f64 = inside.sum();
        let outside_s = (computation_s - inside_s).max(0.0);
        let cores = count_cores(regions, outside_s, window_s);
        let n = f64::from(cores);
        let mut rank = RankCores { cores, outside_s, ..RankCores::default() };
        let mut of_others_s = 0.0;
        for region in regions {
            // A few instances of a larger team than the rank has cores share these.
            let used = f64::from(region.team.min(cores));
            rank.inside.add_scaled(&region.time, used / f64::from(region.team.max(1)));
            if region.is_of_first {
                rank.serial_s += region.elapsed_s * (n - used);
            } else {
                of_others_s += region.elapsed_s * used;
                rank.other_masters_s += region.elapsed_s;
            }
        }
        rank.serial_s += outside_s * (n - 1.0);
        // Other threads' teams run on cores that the first one leaves idle; beyond that, while it is in MPI.
        rank.serial_s = (rank.serial_s - of_others_s).max(0.0);
        rank
    }

    /// U: work.
    pub fn useful_s(&self) -> f64 {
        self.outside_s + self.inside.useful_s
    }

    /// X: waiting for mutexes, turns and tasks.
    pub fn waiting_s(&self) -> f64 {
        self.inside.mutex_s + self.inside.ordered_s + self.inside.tasks_s
    }

    /// A: all time but that in MPI, and waiting for it.
    pub fn outside_mpi_s(&self) -> f64 {
        self.useful_s() + self.serial_s + self.inside.imbalance_s + self.waiting_s() + self.inside.fork_join_s
    }

    /// o: the same by core.
    pub fn computing_s(&self) -> f64 {
        self.outside_mpi_s() / f64::from(self.cores.max(1))
    }
}

/// The number of cores that a rank uses, whose first thread computes `outside_s` outside of regions.
fn count_cores(regions: &[ParallelRegion], outside_s: f64, window_s: f64) -> u32 {
    let most = cores_of_teams(regions, window_s);
    if regions.iter().all(|region| region.is_of_first) || window_s <= 0.0 {
        return most;
    }
    // The first thread may compute while another one's team does.
    let teams_s: f64 = regions.iter().map(|region| region.elapsed_s * f64::from(region.team.min(most))).sum();
    most.max(((outside_s + teams_s) / window_s - MIN_TEAM_TIME).ceil() as u32)
}

/// Returns the most threads that are in regions while this one runs.
fn threads_at_a_time(region: &ParallelRegion) -> u32 {
    region.team.saturating_add(region.beside)
}

/// Returns the most threads that are in regions at a time, for 1 % of the rank's.
fn cores_of_teams(regions: &[ParallelRegion], window_s: f64) -> u32 {
    let mut sizes: Vec<u32> = regions.iter().map(threads_at_a_time).collect();
    sizes.sort_unstable();
    for &size in sizes.iter().rev() {
        let elapsed_s: f64 = regions.iter().filter(|one| threads_at_a_time(one) == size).map(|one| one.elapsed_s).sum();
        if elapsed_s >= MIN_TEAM_TIME * window_s {
            return size.max(1);
        }
    }
    1
}

/// Efficiencies of the run's cores, and the times that they follow from, in seconds of core time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadEfficiency {
    /// N: cores of all ranks.
    pub cores: u64,
    /// T: elapsed time.
    pub elapsed_s: f64,
    /// The longest time in which a rank computes, by core: max o.
    pub longest_s: f64,
    /// Sum over the ranks; `cores` of it is N.
    pub sum: RankCores,
    /// By rank, in their order.
    pub ranks: Vec<RankCores>,
}

impl ThreadEfficiency {
    /// Computes the efficiencies of a run, or returns `None` if no rank has a team of several threads, or that is not known: of a part of the time, or of a region.
    pub fn new(model: &Model) -> Option<ThreadEfficiency> {
        if model.facts.selected.region.is_some() {
            return None;
        }
        let ranks = model.ranks.iter().map(|rank| {
            let computation_s = rank.inclusive(0)[Activity::Computation as usize];
            RankCores::new(&rank.parallel, computation_s, rank.end_s - rank.begin_s)
        });
        ThreadEfficiency::from_ranks(ranks.collect(), model.recorded_s())
    }

    /// Computes the efficiencies of some ranks, or returns `None` if none has several cores.
    pub fn from_ranks(ranks: Vec<RankCores>, elapsed_s: f64) -> Option<ThreadEfficiency> {
        let mut sum = RankCores::default();
        for rank in &ranks {
            sum.cores = sum.cores.saturating_add(rank.cores);
            sum.outside_s += rank.outside_s;
            sum.serial_s += rank.serial_s;
            sum.inside += rank.inside;
            sum.other_masters_s += rank.other_masters_s;
        }
        let longest_s = ranks.iter().map(RankCores::computing_s).fold(0.0, f64::max);
        let has_several = ranks.iter().any(|rank| rank.cores > 1);
        has_several.then(|| ThreadEfficiency { cores: u64::from(sum.cores), elapsed_s, longest_s, sum, ranks })
    }

    /// N·T: the time of all cores.
    pub fn core_time_s(&self) -> f64 {
        self.cores as f64 * self.elapsed_s
    }

    /// U / N·T.
    pub fn parallel(&self) -> Option<f64> {
        quotient_of(self.sum.useful_s(), self.core_time_s())
    }

    /// A / N·T: what MPI, and waiting for it, leaves.
    pub fn mpi(&self) -> Option<f64> {
        quotient_of(self.sum.outside_mpi_s(), self.core_time_s())
    }

    /// Σ n o / (N max o).
    pub fn load_balance(&self) -> Option<f64> {
        quotient_of(self.sum.outside_mpi_s(), self.cores as f64 * self.longest_s)
    }

    /// max o / T.
    pub fn communication(&self) -> Option<f64> {
        quotient_of(self.longest_s, self.elapsed_s)
    }

    /// U / A: what idle threads leave.
    pub fn threads(&self) -> Option<f64> {
        quotient_of(self.sum.useful_s(), self.sum.outside_mpi_s())
    }

    /// (A − S) / A.
    pub fn serial(&self) -> Option<f64> {
        quotient_of(self.without_serial_s(), self.sum.outside_mpi_s())
    }

    /// (A − S − L) / (A − S).
    pub fn thread_balance(&self) -> Option<f64> {
        quotient_of(self.without_serial_s() - self.sum.inside.imbalance_s, self.without_serial_s())
    }

    /// (A − S − L − X) / (A − S − L).
    pub fn waits(&self) -> Option<f64> {
        let balanced_s = self.without_serial_s() - self.sum.inside.imbalance_s;
        quotient_of(balanced_s - self.sum.waiting_s(), balanced_s)
    }

    /// U / (A − S − L − X).
    pub fn fork_join(&self) -> Option<f64> {
        quotient_of(self.sum.useful_s(), self.sum.useful_s() + self.sum.inside.fork_join_s)
    }

    /// Core time in MPI or idle because of it, or of which nothing is known: N·T − A.
    pub fn lost_to_mpi_s(&self) -> f64 {
        (self.core_time_s() - self.sum.outside_mpi_s()).max(0.0)
    }

    fn without_serial_s(&self) -> f64 {
        self.sum.outside_mpi_s() - self.sum.serial_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ranks::threads::RegionMember;

    /// A region of the first thread, with a team of two.
    fn region(elapsed_s: f64, time: TeamSeconds) -> ParallelRegion {
        ParallelRegion { is_of_first: true, team: 2, instances: 1, elapsed_s, time, ..ParallelRegion::default() }
    }

    fn useful(useful_s: f64) -> TeamSeconds {
        TeamSeconds { useful_s, ..TeamSeconds::default() }
    }

    fn close(found: Option<f64>, truth: f64) {
        assert!(found.is_some_and(|found| (found - truth).abs() < 1e-9), "{found:?} for {truth}");
    }

    /// The product of the factors is the parallel efficiency, and each is at most 1.
    fn check_product(efficiency: &ThreadEfficiency) {
        let factors = [
            efficiency.load_balance(),
            efficiency.communication(),
            efficiency.serial(),
            efficiency.thread_balance(),
            efficiency.waits(),
            efficiency.fork_join(),
        ];
        let product: f64 = factors.iter().flatten().product();
        close(efficiency.parallel(), product);
        close(efficiency.parallel(), efficiency.mpi().unwrap_or(0.0) * efficiency.threads().unwrap_or(0.0));
        assert!(factors.iter().flatten().all(|factor| *factor <= 1.0 + 1e-12), "{factors:?}");
    }

    #[test]
    fn ranks_whose_threads_work_together_lose_to_mpi_alone() {
        // Both threads of rank 0 work 60, those of rank 1 30, then it waits 30 in MPI.
        let rank = |seconds: f64| RankCores::new(&[region(seconds, useful(2.0 * seconds))], seconds, 60.0);
        let efficiency = ThreadEfficiency::from_ranks(vec![rank(60.0), rank(30.0)], 60.0).unwrap();
        close(efficiency.parallel(), 0.75);
        close(efficiency.load_balance(), 0.75);
        close(efficiency.communication(), 1.0);
        close(efficiency.threads(), 1.0);
        check_product(&efficiency);
    }

    #[test]
    fn threads_that_wait_for_another_are_out_of_balance() {
        let time = TeamSeconds { useful_s: 80.0, imbalance_s: 40.0, ..TeamSeconds::default() };
        let rank = RankCores::new(&[region(60.0, time)], 60.0, 60.0);
        let efficiency = ThreadEfficiency::from_ranks(vec![rank, rank], 60.0).unwrap();
        close(efficiency.parallel(), 2.0 / 3.0);
        close(efficiency.mpi(), 1.0);
        close(efficiency.thread_balance(), 2.0 / 3.0);
        check_product(&efficiency);
    }

    #[test]
    fn other_cores_idle_where_the_first_thread_computes_alone() {
        let rank = RankCores::new(&[region(40.0, useful(80.0))], 60.0, 60.0);
        let efficiency = ThreadEfficiency::from_ranks(vec![rank, rank], 60.0).unwrap();
        close(efficiency.parallel(), 100.0 / 120.0);
        close(efficiency.serial(), 100.0 / 120.0);
        check_product(&efficiency);
    }

    #[test]
    fn all_kinds_at_once_add_up() {
        // Program g of tests/programs/threads, milliseconds of an iteration.
        let assemble = region(30.0, TeamSeconds { useful_s: 40.0, imbalance_s: 20.0, ..TeamSeconds::default() });
        let sum = region(20.0, TeamSeconds { useful_s: 20.0, mutex_s: 20.0, ..TeamSeconds::default() });
        let rank = |forces: f64| {
            let regions = [assemble.clone(), region(forces, useful(2.0 * forces)), sum.clone()];
            RankCores::new(&regions, 60.0 + forces, 110.0)
        };
        let efficiency = ThreadEfficiency::from_ranks(vec![rank(50.0), rank(20.0)], 110.0).unwrap();
        close(efficiency.parallel(), 280.0 / 440.0);
        close(Some(efficiency.lost_to_mpi_s()), 60.0);
        let RankCores { serial_s, inside, .. } = efficiency.sum;
        assert_eq!((serial_s, inside.imbalance_s, inside.mutex_s), (20.0, 40.0, 40.0));
        check_product(&efficiency);
    }

    #[test]
    fn mpi_of_the_first_thread_in_a_region_is_no_computation_outside() {
        // 50 in a region, 30 of them in MPI of thread 0, for which thread 1 idles; 10 outside.
        let time = TeamSeconds { useful_s: 40.0, mpi_s: 30.0, idle_for_mpi_s: 30.0, ..TeamSeconds::default() };
        let first = RegionMember { useful_s: 20.0, mpi_s: 30.0, ..RegionMember::default() };
        let one = ParallelRegion { members: vec![first, RegionMember::default()], ..region(50.0, time) };
        let rank = RankCores::new(&[one], 30.0, 60.0);
        assert_eq!((rank.outside_s, rank.serial_s), (10.0, 10.0));
        close(Some(rank.outside_mpi_s()), 60.0);
    }

    #[test]
    fn smaller_teams_leave_cores_idle_and_larger_ones_share_them() {
        let team = |team: u32, elapsed_s: f64| ParallelRegion {
            team,
            ..region(elapsed_s, useful(f64::from(team) * elapsed_s))
        };
        let rank = RankCores::new(&[team(4, 90.0), team(2, 9.5), team(8, 0.5)], 100.0, 100.0);
        assert_eq!((rank.cores, rank.serial_s), (4, 19.0));
        close(Some(rank.outside_mpi_s()), 400.0);
    }

    #[test]
    fn teams_of_two_threads_at_a_time_have_cores_of_their_own() {
        // The first thread's team of two works 40, the first thread 20 alone; another thread's team works 20 and 60 in regions of 60.
        let other = TeamSeconds { useful_s: 80.0, imbalance_s: 40.0, ..TeamSeconds::default() };
        let other = ParallelRegion { is_of_first: false, beside: 2, ..region(60.0, other) };
        let rank = RankCores::new(&[region(40.0, useful(80.0)), other.clone()], 60.0, 60.0);
        assert_eq!((rank.cores, rank.useful_s(), rank.serial_s), (4, 180.0, 20.0));
        close(Some(rank.outside_mpi_s()), 240.0);
        // In turn, they share the cores.
        let in_turn = ParallelRegion { beside: 0, ..other };
        let rank = RankCores::new(&[region(60.0, useful(120.0)), in_turn], 60.0, 120.0);
        assert_eq!((rank.cores, rank.serial_s), (2, 0.0));
    }

    #[test]
    fn a_first_thread_that_computes_beside_a_team_has_a_core_of_its_own() {
        let other = ParallelRegion { is_of_first: false, ..region(100.0, useful(200.0)) };
        let rank = RankCores::new(&[other], 100.0, 100.0);
        assert_eq!((rank.cores, rank.useful_s(), rank.serial_s), (3, 300.0, 0.0));
    }

    #[test]
    fn a_rank_without_teams_has_one_core() {
        let rank = RankCores::new(&[], 40.0, 50.0);
        assert_eq!((rank.cores, rank.outside_mpi_s()), (1, 40.0));
        assert_eq!(ThreadEfficiency::from_ranks(vec![rank], 50.0), None);
    }
}
