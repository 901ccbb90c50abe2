//! What is true of a cell: by the program's plan, and by the changes made for real.

use std::collections::BTreeMap;

use super::cell::{AS_IS, Cell, CellRuns, Dependence};

#[derive(Clone, Debug)]
pub struct PlannedRun {
    pub elapsed_s: f64,
    pub work_s: Vec<f64>,
}

#[derive(Clone, Debug)]
pub struct Truth {
    pub pattern: &'static str,
    pub dependence: Dependence,
    pub n_ranks: usize,
    pub n_steps: usize,
    /// Seconds that the steps of the recorded run take, by the program's clock.
    pub elapsed_s: f64,
    /// Seconds of work by the plan, the mean over ranks.
    pub mean_work_s: f64,
    /// Fraction of all work by the plan, by rank.
    pub work_shares: Vec<f64>,
    /// The ranks that have more work than others, the one with the most first.
    pub slow_ranks: Vec<u64>,
    /// Seconds that the steps of the shortest bare run as it is take.
    pub shortest_s: f64,
    /// Percent of the run's elapsed time, which includes the time before and after the steps, by which it changes, by change.
    pub changes: BTreeMap<&'static str, f64>,
}

impl Truth {
    /// Returns the truth of a cell, from its recorded run, how long that lasts in all, and its bare runs: the shortest with each change, and of those as
    /// it is the one that took about as long as the recorded one.
    pub fn new(cell: &Cell, recorded: &PlannedRun, run_s: f64, bare: &CellRuns, n_steps: usize) -> Truth {
        let apart_s = |as_is_s: &f64| (as_is_s - recorded.elapsed_s).abs();
        let alike_s = bare.as_is_s.iter().copied().min_by(|a, b| apart_s(a).total_cmp(&apart_s(b)));
        let as_is_s = alike_s.unwrap_or(recorded.elapsed_s);
        let n_ranks = recorded.work_s.len();
        let (ranks, all_work_s) = (n_ranks as u64, recorded.work_s.iter().sum::<f64>());
        let slow_ranks = match cell.pattern {
            _ if cell.shape.dependence == Dependence::Output => vec![0],
            "end" | "first" => vec![ranks - 1],
            "middle" => vec![ranks / 2],
            "two" => vec![ranks - 1, (ranks / 2).max(1) - 1],
            _ => Vec::new(),
        };
        Truth {
            pattern: cell.pattern,
            dependence: cell.shape.dependence,
            n_ranks,
            n_steps,
            elapsed_s: recorded.elapsed_s,
            mean_work_s: all_work_s / n_ranks as f64,
            work_shares: recorded.work_s.iter().map(|work_s| work_s / all_work_s).collect(),
            slow_ranks,
            shortest_s: bare.shortest_s.get(AS_IS).copied().unwrap_or(recorded.elapsed_s),
            changes: bare
                .shortest_s
                .iter()
                .filter(|(change, _)| **change != AS_IS)
                .map(|(&change, time_s)| (change, 100.0 * (time_s - as_is_s) / run_s))
                .collect(),
        }
    }

    /// Returns the percentage of a run of `run_s` seconds that the longest piece of work takes: workers that take one piece after another end no farther apart.
    pub fn last_piece_percent(&self, run_s: f64) -> f64 {
        let longest_share = self.work_shares.iter().copied().fold(0.0, f64::max);
        let all_work_s = self.mean_work_s * self.n_ranks as f64;
        100.0 * longest_share * all_work_s / self.n_steps as f64 / run_s
    }

    /// Returns the seconds of communication in the steps of a bare run: where ranks work at the same time, and none but the same rank is ever waited for, that
    /// is all but the work of that one. 0 where it is not known.
    pub fn in_communication_s(&self) -> f64 {
        use Dependence::{All, Neighbours};
        let is_static = ["even", "end", "middle", "two", "first"].contains(&self.pattern);
        let is_known = matches!(self.dependence, All | Neighbours) && is_static;
        let longest_share = self.work_shares.iter().copied().fold(0.0, f64::max);
        let longest_s = longest_share * self.mean_work_s * self.n_ranks as f64;
        if is_known { (self.shortest_s - longest_s).max(0.0) } else { 0.0 }
    }

    pub fn change_percent(&self, change: &str) -> f64 {
        self.changes.get(change).copied().unwrap_or(0.0)
    }

    pub fn best_saving_percent(&self) -> f64 {
        self.changes.values().fold(0.0, |best: f64, change| best.max(-change))
    }

    /// Whether ranks go through the parts of a step, or through steps, at different times.
    pub fn is_out_of_phase(&self) -> bool {
        self.dependence == Dependence::Turns || self.dependence == Dependence::Overlap && self.pattern == "first"
    }

    /// Whether all work is that of the plan, in steps.
    pub fn has_steps_of_work(&self) -> bool {
        use Dependence::{All, Chain, Lock, Neighbours, Overlap, Sweep, Turns};
        matches!(self.dependence, All | Neighbours | Overlap | Turns | Chain | Sweep | Lock)
    }

    /// Whether ranks do the work of the plan in their own order, so that what balance gains is known from the changes.
    pub fn has_plan(&self) -> bool {
        !self.dependence.is_on_demand()
    }
}
