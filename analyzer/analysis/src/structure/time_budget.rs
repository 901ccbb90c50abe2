//! Bounds the processor time in which names are looked up in programs and shared objects.
//!
//! All files together have a budget, and each has a share of it for itself: a file that takes all the time there is, as a damaged or hostile one
//! may, leaves the others theirs.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The budget of all files.
pub(super) struct TimeBudget {
    /// Time that no file has taken yet.
    left: Mutex<Duration>,
    /// Time that each file has for itself.
    share: Duration,
}

impl TimeBudget {
    /// So much processor time for so many files. Together they take twice as much at most.
    pub(super) fn new(within: Duration, files: usize) -> TimeBudget {
        let share = within / u32::try_from(files.max(1)).unwrap_or(u32::MAX);
        TimeBudget { left: Mutex::new(within), share }
    }

    /// Returns the processor time that the next file may take.
    pub(super) fn of_file(&self) -> Duration {
        self.share.max(*self.left.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes what a file has taken.
    pub(super) fn take(&self, taken: Duration) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(taken);
    }
}

/// Returns the processor time that this thread has taken.
pub(super) fn thread_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_takes_all_the_time_leaves_the_others_their_share() {
        let budget = TimeBudget::new(Duration::from_secs(8), 4);
        assert_eq!(budget.of_file(), Duration::from_secs(8), "alone, a file may take all");
        budget.take(Duration::from_secs(1));
        assert_eq!(budget.of_file(), Duration::from_secs(7));
        budget.take(Duration::from_secs(9));
        assert_eq!(budget.of_file(), Duration::from_secs(2));
    }

    #[test]
    fn without_time_nothing_is_begun() {
        assert_eq!(TimeBudget::new(Duration::ZERO, 3).of_file(), Duration::ZERO);
    }
}
