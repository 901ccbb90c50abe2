//! The figures of a run by phase, as models want them: for each region its work, and what its time went to.

use std::collections::BTreeMap;

use lbprof_collector::Activity;
use serde::Serialize;

use crate::RunMetrics;
use crate::run::RegionFigures;
use lbprof_analysis::metrics::overhead::TimeCategory;
use lbprof_report::rows::words::separator_positions;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeClass {
    Computation,
    /// MPI calls, less the waiting in them; with it where that is not known.
    Communication,
    /// Waiting in MPI calls, messages' delays included; of the whole run also time before a rank's first call and after its last.
    Idle,
}

impl TimeClass {
    pub const ALL: [TimeClass; 3] = [TimeClass::Computation, TimeClass::Communication, TimeClass::Idle];

    pub fn symbol(self) -> &'static str {
        match self {
            TimeClass::Computation => "T_comp",
            TimeClass::Communication => "T_comm",
            TimeClass::Idle => "T_idle",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseFigures {
    /// #op.
    pub operations: f64,
    /// #q.
    pub quanta: f64,
    /// Seconds by [`TimeClass`]; `None`: not known.
    pub seconds: [Option<f64>; 3],
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhasesOfRun {
    /// Its regions by path, each alone. Found regions are part of the marked one around them where the user has marked any: what is found may
    /// differ from run to run.
    pub regions: BTreeMap<String, PhaseFigures>,
    /// Seconds by [`TimeClass`], of the whole run.
    pub seconds: [Option<f64>; 3],
    /// Seconds of the recorder, and those that no record covers.
    pub other_s: f64,
    /// P·T: seconds of all ranks.
    pub all_s: f64,
    pub n_read: u32,
    pub is_partial: bool,
    pub is_followed: bool,
}

impl PhaseFigures {
    fn add(&mut self, region: &RegionFigures) {
        let mpi_s: f64 = mpi_activities().map(|activity| region.sum_s(activity)).sum();
        // Waiting is measured on another clock than calls.
        let idle_s = region.blocked_s.map(|blocked_s| blocked_s.clamp(0.0, mpi_s));
        let seconds = [Some(region.sum_s(Activity::Computation)), Some(mpi_s - idle_s.unwrap_or(0.0)), idle_s];
        add_known_seconds(&mut self.seconds, &seconds);
        self.operations += region.operations;
        self.quanta += region.quanta;
    }
}

fn add_known_seconds(sums: &mut [Option<f64>; 3], seconds: &[Option<f64>; 3]) {
    for (sum, seconds) in sums.iter_mut().zip(seconds) {
        *sum = sum.zip(*seconds).map(|(sum, seconds)| sum + seconds).or(*sum).or(*seconds);
    }
}

fn mpi_activities() -> impl Iterator<Item = Activity> {
    Activity::ALL.into_iter().filter(|activity| activity.is_mpi())
}

impl PhasesOfRun {
    /// Sums up the phases of `run`.
    pub fn new(run: &RunMetrics) -> PhasesOfRun {
        let n_read = run.phases.first().map_or(run.n_ranks, |phase| phase.seconds.len() as u32);
        let mut result = PhasesOfRun {
            n_read,
            is_partial: n_read < run.n_ranks,
            is_followed: run.regions.iter().any(|region| region.blocked_s.is_some()),
            ..PhasesOfRun::default()
        };
        let is_marked = run.regions.iter().skip(1).any(|region| !region.found);
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        for region in &run.regions {
            let name = match outer_path(&region.path) {
                Some(path) => {
                    let around = names.get(path).map_or(path, String::as_str);
                    let own = &region.path[path.len()..];
                    if region.found && is_marked { around.to_owned() } else { format!("{around}{own}") }
                }
                None => region.path.clone(),
            };
            let figures = result.regions.entry(name.clone()).or_default();
            figures.add(region);
            names.insert(&region.path, name);
        }
        for figures in result.regions.values() {
            add_known_seconds(&mut result.seconds, &figures.seconds);
        }
        // Time in no region.
        for phase in &run.phases {
            let seconds = phase.total_s();
            result.all_s += seconds;
            match phase.phase {
                TimeCategory::Idle => add_known_seconds(&mut result.seconds, &[None, None, Some(seconds)]),
                TimeCategory::NotRecorded | TimeCategory::Activity(Activity::Recorder) => result.other_s += seconds,
                _ => {}
            }
        }
        result
    }
}

/// Forgets T_comm of runs that were not replayed if others were: waiting is in it, as it is not in theirs.
pub fn forget_unfollowed(runs: &mut [PhasesOfRun]) {
    if !runs.iter().any(|run| run.is_followed) {
        return;
    }
    for run in runs.iter_mut().filter(|run| !run.is_followed) {
        let of_regions = run.regions.values_mut().map(|figures| &mut figures.seconds);
        for [_, communication, idle] in of_regions.chain([&mut run.seconds]) {
            // Who makes no calls does not wait in them.
            if *communication == Some(0.0) {
                *idle = idle.or(Some(0.0));
            } else {
                (*communication, *idle) = (None, None);
            }
        }
    }
}

fn outer_path(path: &str) -> Option<&str> {
    path.get(..separator_positions(path).filter(|&at| at > 0).last()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lbprof_analysis::metrics::overhead::PhaseTime;

    fn region(path: &str, found: bool, computation_s: f64, collective_s: f64) -> RegionFigures {
        let activities =
            [(Activity::Computation, vec![computation_s, 0.0]), (Activity::Collective, vec![0.0, collective_s])];
        RegionFigures { path: path.to_owned(), found, activities: activities.into(), ..RegionFigures::default() }
    }

    #[test]
    fn found_regions_belong_to_the_marked_one_around_them() {
        let regions = vec![
            region("main", false, 1.0, 0.0),
            region("main/loop", true, 2.0, 0.0),
            region("main/loop/a\\/b", false, 4.0, 0.0),
            region("main/loop/a\\/b/code", true, 8.0, 0.0),
        ];
        let run = RunMetrics { regions, ..RunMetrics::default() };
        let phases = PhasesOfRun::new(&run);
        let seconds = |path: &str| phases.regions[path].seconds[TimeClass::Computation as usize];
        assert_eq!(phases.regions.keys().collect::<Vec<_>>(), ["main", "main/a\\/b"]);
        assert_eq!((seconds("main"), seconds("main/a\\/b")), (Some(3.0), Some(12.0)));
        assert_eq!(phases.seconds[TimeClass::Computation as usize], Some(15.0));
    }

    #[test]
    fn without_marks_found_regions_are_the_phases() {
        let run = RunMetrics {
            regions: vec![region("main", false, 1.0, 0.0), region("main/loop", true, 2.0, 0.0)],
            ..RunMetrics::default()
        };
        assert_eq!(PhasesOfRun::new(&run).regions.len(), 2);
    }

    #[test]
    fn waiting_is_no_communication_where_it_is_known() {
        let mut one = region("main", false, 1.0, 3.0);
        let run =
            |one: &RegionFigures| PhasesOfRun::new(&RunMetrics { regions: vec![one.clone()], ..RunMetrics::default() });
        assert_eq!(run(&one).seconds, [Some(1.0), Some(3.0), None]);
        one.blocked_s = Some(2.0);
        assert_eq!(run(&one).seconds, [Some(1.0), Some(1.0), Some(2.0)]);
        one.blocked_s = Some(3.5);
        assert_eq!(run(&one).seconds, [Some(1.0), Some(0.0), Some(3.0)], "never below 0");
    }

    #[test]
    fn all_time_is_somewhere() {
        let of = |phase, seconds: f64| PhaseTime { phase, seconds: vec![seconds, 0.0] };
        let phases = vec![
            of(TimeCategory::Useful, 1.0),
            of(TimeCategory::Activity(Activity::Collective), 3.0),
            of(TimeCategory::Activity(Activity::Recorder), 0.25),
            of(TimeCategory::Idle, 0.5),
            of(TimeCategory::NotRecorded, 0.125),
        ];
        let run = RunMetrics { regions: vec![region("main", false, 1.0, 3.0)], phases, ..RunMetrics::default() };
        let found = PhasesOfRun::new(&run);
        assert_eq!((found.all_s, found.other_s), (4.875, 0.375));
        assert_eq!(found.seconds, [Some(1.0), Some(3.0), Some(0.5)]);
    }
}
