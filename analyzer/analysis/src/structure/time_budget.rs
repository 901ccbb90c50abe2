//! Bounds the processor time in which names are looked up in programs and shared objects.
//!
//! All files together have a budget, and each has a share of it for itself: a file that takes all the time there is, as a damaged or hostile one
//! may, leaves the others theirs.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The budget of all files.
#[derive(Clone, Copy)]
pub(super) struct TimeBudget {
    /// When it is used up, by the processor time of this process.
    end: Duration,
    /// Processor time that each file has for itself.
    share: Duration,
}

/// What one file may take, on the thread that began it.
#[derive(Clone, Copy)]
pub(super) struct FileBudget {
    all: TimeBudget,
    /// When it was begun, by the processor time of the thread.
    begin: Duration,
}

impl TimeBudget {
    /// So much processor time, from now on, for so many files. Together they take twice as much at most.
    pub(super) fn new(within: Duration, files: usize) -> TimeBudget {
        let share = within / u32::try_from(files.max(1)).unwrap_or(u32::MAX);
        TimeBudget { end: time_of(ClockId::ProcessCPUTime).saturating_add(within), share }
    }

    /// What a file may take that this thread begins now.
    pub(super) fn of_file(self) -> FileBudget {
        FileBudget { all: self, begin: time_of(ClockId::ThreadCPUTime) }
    }
}

impl FileBudget {
    /// Whether the file has had its share, and nothing is left of the others'.
    pub(super) fn is_over(self) -> bool {
        let taken = time_of(ClockId::ThreadCPUTime).saturating_sub(self.begin);
        taken >= self.all.share && time_of(ClockId::ProcessCPUTime) > self.all.end
    }
}

fn time_of(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compute_while(goes_on: impl Fn() -> bool) {
        let mut steps = 0u64;
        while goes_on() {
            steps = std::hint::black_box(steps + 1);
        }
    }

    #[test]
    fn a_file_that_takes_all_the_time_leaves_the_others_their_share() {
        let budget = TimeBudget::new(Duration::from_millis(40), 2);
        let first = budget.of_file();
        compute_while(|| !first.is_over());
        assert!(budget.end < time_of(ClockId::ProcessCPUTime), "alone, a file may take all");
        let second = budget.of_file();
        assert!(!second.is_over());
        compute_while(|| !second.is_over());
        let taken = time_of(ClockId::ThreadCPUTime) - second.begin;
        assert!(Duration::from_millis(20) <= taken && taken < Duration::from_millis(35), "{taken:?}");
    }

    #[test]
    fn without_time_nothing_is_begun() {
        let budget = TimeBudget::new(Duration::ZERO, 3);
        compute_while(|| time_of(ClockId::ProcessCPUTime) <= budget.end);
        assert!(budget.of_file().is_over());
    }
}
