//! The parts of what a run loses, which the findings explain: seconds of the mean rank's time.

use crate::losses::LossPlace;
use crate::losses::slow_parts::SlowPart;
use crate::{Report, fraction_of};

use super::amounts::CallAmounts;
use super::coordinator::{self, AwaitedCoordinator};
use super::windows::{self, WindowWait};

/// The parts of what is lost. They add up to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LossParts {
    /// A rank computes longer than the mean.
    pub imbalance_s: f64,
    /// A rank computes longer than the mean in the control of parallelism.
    pub control_s: f64,
    /// In different iterations different ranks are the slowest.
    pub slow_in_turn_s: f64,
    /// In different parts of an iteration different ranks are the slowest; with the imbalance of the totals, if that is less.
    pub slow_in_parts_s: f64,
    /// Ranks wait in chains.
    pub chains_s: f64,
    /// Ranks wait for one another; it is not known how.
    pub undivided_s: f64,
    /// Waiting for targets or locks of windows.
    pub windows_s: f64,
    /// The reason for `windows_s`.
    pub windows: Option<WindowWait>,
    /// Waiting for a coordinator that is none of the judged ranks.
    pub coordinator_s: f64,
    /// The coordinator of `coordinator_s`.
    pub coordinator: Option<AwaitedCoordinator>,
    /// Calls of MPI besides all that.
    pub calls_s: f64,
    /// The calls with most of `calls_s`, if they are known.
    pub amounts: Option<CallAmounts>,
    /// Functions of the program that MPI calls.
    pub called_by_mpi_s: f64,
    /// Access to files.
    pub files_s: f64,
    /// The recorder.
    pub recorder_s: f64,
}

impl LossParts {
    /// Divides what the ranks lose that the verdict is about.
    pub fn new(report: &Report) -> LossParts {
        let verdict = &report.verdict;
        let serialization = verdict.serialization.unwrap_or_default();
        let facts = &report.loss_facts;
        let control_s: f64 = facts.control.iter().map(|place| place.lost_s).sum();
        let of_control = fraction_of(control_s, facts.imbalance_s + control_s);
        let files_s = lost_at_s(facts.file_access.as_ref()).min(verdict.communication_s);
        let called_by_mpi_s = lost_at_s(facts.called_by_mpi.as_ref()).min(verdict.communication_s - files_s);
        let longest_call = facts.communication.as_ref().and_then(|place| place.at.as_ref());
        let mut parts = LossParts {
            imbalance_s: verdict.imbalance_s * (1.0 - of_control),
            control_s: verdict.imbalance_s * of_control,
            slow_in_turn_s: serialization.slow_in_turn_s.unwrap_or(0.0),
            slow_in_parts_s: serialization.slow_in_parts_s.unwrap_or(0.0),
            chains_s: serialization.chains_s.unwrap_or(0.0),
            undivided_s: serialization.undivided_s(),
            calls_s: verdict.communication_s - files_s - called_by_mpi_s,
            amounts: longest_call.and_then(|at| CallAmounts::new(report, at)),
            called_by_mpi_s,
            files_s,
            recorder_s: verdict.recorder_s,
            ..LossParts::default()
        };
        if let Some((work, longest)) = verdict.outside_work.as_ref().zip(verdict.worst.as_ref()) {
            // The loss outside of the loop was counted as imbalance of the totals, then as serialization.
            let mut rest_s = work.outside_s() + longest.over_mean_s - verdict.imbalance_s;
            for part in
                [&mut parts.slow_in_turn_s, &mut parts.slow_in_parts_s, &mut parts.chains_s, &mut parts.undivided_s]
            {
                rest_s -= take_from(part, rest_s);
            }
            let imbalance_s = (longest.over_mean_s - rest_s).max(0.0);
            parts.imbalance_s = imbalance_s * (1.0 - of_control);
            parts.control_s = imbalance_s * of_control;
        }
        // The loss in the parts contains the imbalance of the totals.
        let imbalance_s = parts.imbalance_s + parts.control_s;
        if parts.slow_in_parts_s > imbalance_s {
            parts.slow_in_parts_s += imbalance_s;
            (parts.imbalance_s, parts.control_s) = (0.0, 0.0);
        }
        parts.merge_parts_of_same_ranks(report);
        if let Some(found) = coordinator::find_coordinator(report) {
            parts.coordinator_s = parts.take(found.waited_s);
            parts.coordinator = Some(found);
        } else if let Some((wait, seconds)) = windows::find_window_wait(report) {
            parts.windows_s = parts.take(seconds);
            parts.windows = Some(wait);
        }
        parts
    }

    /// Takes measured waiting from the parts that follow from sums, and returns how much of it they had. Who waits for a lock, for access to a window or for a coordinator, waits
    /// for another in turn, and mostly for one that computes longer.
    fn take(&mut self, seconds: f64) -> f64 {
        let mut rest_s = seconds;
        for part in [
            &mut self.calls_s,
            &mut self.chains_s,
            &mut self.undivided_s,
            &mut self.slow_in_turn_s,
            &mut self.slow_in_parts_s,
            &mut self.imbalance_s,
        ] {
            rest_s -= take_from(part, rest_s);
        }
        seconds - rest_s
    }

    /// Makes one part of chains and of slow parts, the larger one, if they are about the same ranks: then they are one cause.
    fn merge_parts_of_same_ranks(&mut self, report: &Report) {
        let slow = SlowPart::ranks_of(&report.verdict.slow_parts);
        let chained = report.loss_facts.dependency_chains.as_ref().map(|loss| loss.major_ranks(report.ranks.len()));
        if chained.is_some_and(|ranks| !ranks.is_empty() && ranks.iter().all(|rank| slow.contains(rank))) {
            let sum_s = self.chains_s + self.slow_in_parts_s;
            let are_chains = self.chains_s > self.slow_in_parts_s;
            (self.chains_s, self.slow_in_parts_s) = if are_chains { (sum_s, 0.0) } else { (0.0, sum_s) };
        }
    }
}

/// Takes at most `most_s` seconds from a part, and returns how much it was.
fn take_from(part: &mut f64, most_s: f64) -> f64 {
    let taken_s = part.min(most_s.max(0.0));
    *part -= taken_s;
    taken_s
}

fn lost_at_s(place: Option<&LossPlace>) -> f64 {
    place.map_or(0.0, |place| place.lost_s)
}

/// Returns the seconds of the mean rank's time that are lost to nothing that was found.
pub fn not_explained_s(report: &Report) -> f64 {
    let explained_s: f64 = report.findings.iter().filter(|one| one.is_part()).map(|one| one.seconds).sum();
    (report.verdict.lost_s - explained_s).max(0.0)
}
