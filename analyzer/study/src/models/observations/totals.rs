//! The sums of a run's time: overhead ratios, efficiency and speedup (docs/metrics.md §3; Lemeire et al. 2004, eqs 1–5). These are
//! definitions, so they hold in each run to rounding; that they do is checked from both sides.

use serde::Serialize;

use super::phases::PhasesOfRun;
use crate::RunMetrics;
use crate::sequential_time::t_seq_s;
use lbprof_report::rows::words::mpi_name;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunTotals {
    pub n_ranks: u32,
    /// T_par: seconds that it takes, P·T over P; where logs are missing, both of the ranks that were read.
    pub t_par_s: f64,
    /// T_seq: seconds on one rank.
    pub t_seq_s: f64,
    /// True if T_seq was measured on one rank; else it is the run's own useful and serial work.
    pub is_measured: bool,
    /// T_comp, T_comm and T_idle: seconds summed over ranks and regions; `None`: not known, and part of the ones before.
    pub seconds: [Option<f64>; 3],
    /// Seconds of the recorder, and those that no record covers.
    pub other_s: f64,
    /// Overhead ratios of T_comp, T_comm, T_idle and the rest: T_phase / T_seq, or the part of T_seq that ranks have that were read. `None` where T_seq is 0.
    pub overheads: [Option<f64>; 4],
    /// E = T_seq / (P·T), likewise. `None` where T_seq or T is 0.
    pub efficiency: Option<f64>,
    /// S = T_seq / T_par.
    pub speedup: Option<f64>,
    /// E·Σ Ovh − 1: what E = 1/Σ Ovh lacks, E being from the run's time and Ovh from its phases; 0 but for rounding.
    pub difference: Option<f64>,
}

/// Sums up each of `runs`, whose phases are `figures` and whose times on one rank may be among `all`.
pub fn sum_up_runs(runs: &[RunMetrics], figures: &[PhasesOfRun], all: &[&RunMetrics]) -> Vec<RunTotals> {
    let mut totals = Vec::new();
    for (run, figures) in runs.iter().zip(figures) {
        let same_mpi = all.iter().filter(|other| mpi_name(&other.mpi) == mpi_name(&run.mpi));
        totals.push(run_totals(run, figures, t_seq_s(run, same_mpi.copied())));
    }
    totals
}

fn run_totals(run: &RunMetrics, figures: &PhasesOfRun, measured_s: Option<f64>) -> RunTotals {
    let t_seq_s = measured_s.unwrap_or_else(|| {
        let work = run.phases.iter().filter(|phase| phase.phase.is_work());
        work.map(|phase| phase.total_s()).sum()
    });
    let (n, n_read) = (f64::from(run.n_ranks.max(1)), f64::from(figures.n_read.max(1)));
    // Sums are over the ranks that were read. Their own work is so, too; a time on one rank is of all.
    let own_s = if measured_s.is_some() { t_seq_s * (n_read / n) } else { t_seq_s };
    let [computation, communication, idle] = figures.seconds;
    let times = [computation, communication, idle, Some(figures.other_s)];
    let overheads = times.map(|seconds| seconds.filter(|_| own_s > 0.0).map(|seconds| seconds / own_s));
    let efficiency = (own_s > 0.0 && figures.all_s > 0.0).then(|| own_s / figures.all_s);
    let n_of_t_seq = if measured_s.is_some() { n } else { n_read };
    RunTotals {
        n_ranks: run.n_ranks,
        t_par_s: figures.all_s / n_read,
        t_seq_s,
        is_measured: measured_s.is_some(),
        seconds: figures.seconds,
        other_s: figures.other_s,
        overheads,
        efficiency,
        speedup: efficiency.map(|efficiency| n_of_t_seq * efficiency),
        difference: efficiency.map(|efficiency| efficiency * overheads.iter().flatten().sum::<f64>() - 1.0),
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::Activity;

    use super::*;
    use crate::run::RegionFigures;
    use lbprof_analysis::metrics::overhead::{PhaseTime, TimeCategory};
    use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;

    /// Each rank computes `computation_s` and is in collectives for the rest of `elapsed_s`, of which it waits `blocked_s`.
    fn run(n_ranks: u32, computation_s: f64, elapsed_s: f64, blocked_s: f64) -> RunMetrics {
        let of = |seconds: f64| vec![seconds; n_ranks as usize];
        let collective_s = elapsed_s - computation_s;
        let phases = vec![
            PhaseTime { phase: TimeCategory::Useful, seconds: of(computation_s) },
            PhaseTime { phase: TimeCategory::Activity(Activity::Collective), seconds: of(collective_s) },
        ];
        let main = RegionFigures {
            path: "main".to_owned(),
            activities: [(Activity::Computation, of(computation_s)), (Activity::Collective, of(collective_s))].into(),
            blocked_s: Some(f64::from(n_ranks) * blocked_s),
            ..RegionFigures::default()
        };
        let times = EfficiencyTimes { elapsed_s, ..EfficiencyTimes::default() };
        RunMetrics { n_ranks, complete: true, times, phases, regions: vec![main], ..RunMetrics::default() }
    }

    fn of(runs: &[RunMetrics]) -> Vec<RunTotals> {
        sum_up_runs(runs, &runs.iter().map(PhasesOfRun::new).collect::<Vec<_>>(), &runs.iter().collect::<Vec<_>>())
    }

    #[test]
    fn overheads_efficiency_and_speedup_by_hand() {
        // T_seq 10 s; 4 ranks compute 3 s each and communicate 1 s, half of which they wait: P·T = 16 s.
        let found = of(&[run(1, 10.0, 10.0, 0.0), run(4, 3.0, 4.0, 0.5)]);
        assert_eq!((found[1].t_seq_s, found[1].is_measured, found[1].t_par_s), (10.0, true, 4.0));
        assert_eq!(found[1].overheads, [Some(1.2), Some(0.2), Some(0.2), Some(0.0)]);
        assert_eq!((found[1].efficiency, found[1].speedup), (Some(0.625), Some(2.5)));
        assert!(found.iter().all(|one| one.difference.unwrap().abs() < 1e-15), "{found:?}");
    }

    #[test]
    fn without_a_run_on_one_rank_the_work_counts() {
        let mut other = run(1, 10.0, 10.0, 0.0);
        other.params = [("n".to_owned(), 5.0)].into();
        let found = of(&[other, run(4, 3.0, 4.0, 0.5)]);
        assert_eq!((found[1].t_seq_s, found[1].is_measured), (12.0, false));
        assert_eq!(found[1].efficiency, Some(0.75));
    }

    /// `run` without the log of its last rank.
    fn partial(mut run: RunMetrics) -> RunMetrics {
        run.complete = false;
        run.phases.iter_mut().for_each(|phase| phase.seconds.truncate(phase.seconds.len() - 1));
        run.regions
            .iter_mut()
            .flat_map(|region| region.activities.values_mut())
            .for_each(|seconds| seconds.truncate(seconds.len() - 1));
        run
    }

    #[test]
    fn ranks_that_are_missing_do_not_make_a_run_shorter() {
        let found = of(&[run(1, 10.0, 10.0, 0.0), partial(run(4, 3.0, 4.0, 0.0))]);
        assert_eq!((found[1].t_par_s, found[1].speedup, found[1].efficiency), (4.0, Some(2.5), Some(0.625)));
        // Work of three ranks of 3 s each in 4 s.
        let found = of(&[partial(run(4, 3.0, 4.0, 0.0))]);
        assert_eq!((found[0].t_par_s, found[0].speedup, found[0].efficiency), (4.0, Some(2.25), Some(0.75)));
        assert!(found[0].difference.unwrap().abs() < 1e-15);
    }

    #[test]
    fn the_time_on_one_rank_is_of_the_same_library_and_of_any_run_of_the_study() {
        let (one, four) = (run(1, 10.0, 10.0, 0.0), run(4, 3.0, 4.0, 0.5));
        let other = RunMetrics { mpi: "MPICH 4.2.0".to_owned(), ..one.clone() };
        let figures = [PhasesOfRun::new(&four)];
        let of = |all: &[&RunMetrics]| sum_up_runs(std::slice::from_ref(&four), &figures, all).remove(0);
        assert_eq!((of(&[&other]).t_seq_s, of(&[&other]).is_measured), (12.0, false));
        assert_eq!((of(&[&other, &one]).t_seq_s, of(&[&other, &one]).is_measured), (10.0, true));
    }

    #[test]
    fn of_several_runs_on_one_rank_the_median_counts() {
        let runs = [run(1, 9.0, 9.0, 0.0), run(1, 10.0, 10.0, 0.0), run(1, 30.0, 30.0, 0.0), run(1, 11.0, 11.0, 0.0)];
        assert_eq!(of(&runs)[0].t_seq_s, 10.5);
        assert_eq!(of(&[RunMetrics::default()])[0].efficiency, None, "a run without time");
    }
}
