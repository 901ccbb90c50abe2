//! The view of a running job at one moment.

use lbprof_collector::Operation;
use lbprof_collector::words::{bytes, seconds};
use lbprof_report::findings::rank_excess_in_words;
use lbprof_thresholds::watch::MIN_LONG_CALL_S;

use super::code_names::HeaviestFunction;
use super::job_load::{JobLoad, PeriodEfficiencies};

/// The progress of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Not all ranks have left `MPI_Init`.
    Starts,
    /// Ranks run.
    Runs,
    /// Every rank has ended.
    Ended,
}

/// The rank that computed longest lately.
#[derive(Clone, Debug, PartialEq)]
pub struct BusiestRank {
    /// The rank.
    pub rank: u32,
    /// Its computation over the mean.
    pub times_mean: f64,
    /// The function in which it spends most CPU time.
    pub function: Option<HeaviestFunction>,
}

/// A rank that has been in one call for long.
#[derive(Clone, Debug, PartialEq)]
pub struct LongCall {
    /// The rank.
    pub rank: u32,
    /// Number of the operation.
    pub operation: u16,
    /// Seconds since it began.
    pub for_s: f64,
}

/// The view of a job at one moment.
#[derive(Clone, Debug)]
pub struct JobView {
    /// The program's command line.
    pub command: String,
    /// Ranks of the job.
    pub n_ranks: usize,
    /// Progress of the job.
    pub state: JobState,
    /// Efficiencies and the load of ranks.
    pub load: JobLoad,
    /// The rank that computed longest lately.
    pub slowest: Option<BusiestRank>,
    /// The recurring action: its name, and its rate per second.
    pub recurrence: Option<(String, f64)>,
    /// Ranks that have been in one call for long, the longest first.
    pub long_calls: Vec<LongCall>,
    /// Bytes of the logs that are still to be read.
    pub unread_bytes: u64,
}

impl LongCall {
    /// Returns whether a call is long enough to be mentioned.
    pub fn is_long(&self) -> bool {
        self.for_s >= MIN_LONG_CALL_S
    }

    /// Describes the place of the rank.
    pub fn sentence(&self) -> String {
        let operation = Operation::from_number(self.operation).map_or("MPI", Operation::name);
        format!("rank {} has been in {operation} for {}", self.rank, seconds(self.for_s))
    }
}

impl BusiestRank {
    /// Describes how much longer the rank computes than others, and where, or returns `None` if the difference is negligible.
    pub fn sentence(&self) -> Option<String> {
        if self.times_mean < 1.05 {
            return None;
        }
        let function = self
            .function
            .as_ref()
            .map_or(String::new(), |function| format!(", {:.0} % of it in {}", 100.0 * function.share, function.name));
        Some(rank_excess_in_words(&[self.rank], self.times_mean, false) + &function)
    }
}

impl JobView {
    /// Returns the view as one line, for output that is not a terminal.
    pub fn line(&self) -> String {
        format!("{}: {}", seconds(self.load.elapsed_s), self.facts().join("; "))
    }

    /// Describes how the job stands, with a sentence for each fact.
    pub fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        match (self.state, self.load.lately) {
            (JobState::Starts, _) => facts.push("the job starts: not all ranks have left MPI_Init".to_owned()),
            (JobState::Runs, Some(lately)) => {
                facts.push(format!("last {}: {}", seconds(self.load.period_s), efficiencies(&lately)));
            }
            _ => {}
        }
        facts.extend(self.load.so_far.map(|so_far| match self.state {
            JobState::Ended => format!("ended: {}", efficiencies(&so_far)),
            _ => format!("so far {}", percent(so_far.parallel)),
        }));
        if self.state == JobState::Runs {
            facts.extend(self.slowest.as_ref().and_then(BusiestRank::sentence));
            facts.extend(self.recurrence.as_ref().map(|(what, per_second)| rate(what, *per_second)));
            facts.extend(self.long_calls.iter().map(LongCall::sentence));
        }
        if self.unread_bytes > 0 {
            facts.push(format!("still reading: {} left", bytes(self.unread_bytes)));
        }
        facts
    }
}

/// Describes the efficiencies.
fn efficiencies(found: &PeriodEfficiencies) -> String {
    format!(
        "parallel efficiency {} (load balance {}, communication {})",
        percent(found.parallel),
        percent(found.load_balance),
        percent(found.communication)
    )
}

/// Describes the rate of a recurring action.
fn rate(what: &str, per_second: f64) -> String {
    let number = match per_second {
        rate if rate < 10.0 => format!("{rate:.1}"),
        rate => format!("{rate:.0}"),
    };
    format!("{number} {what} a second")
}

/// Writes a share.
fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(state: JobState) -> JobView {
        let found = PeriodEfficiencies { parallel: 0.625, load_balance: 0.7, communication: 0.9 };
        let load =
            JobLoad { elapsed_s: 12.5, period_s: 10.0, lately: Some(found), so_far: Some(found), ranks: Vec::new() };
        let function = HeaviestFunction { name: "update (heat.c:15)".to_owned(), share: 0.8 };
        JobView {
            command: "./heat".to_owned(),
            n_ranks: 4,
            state,
            load,
            slowest: Some(BusiestRank { rank: 3, times_mean: 1.5, function: Some(function) }),
            recurrence: Some(("iterations of main/step".to_owned(), 12.46)),
            long_calls: vec![LongCall { rank: 1, operation: Operation::Recv as u16, for_s: 2.5 }],
            unread_bytes: 0,
        }
    }

    #[test]
    fn a_line_has_the_efficiencies_the_slowest_rank_and_the_rate() {
        assert_eq!(
            view(JobState::Runs).line(),
            "12.50 s: last 10.00 s: parallel efficiency 62 % (load balance 70 %, communication 90 %); so far 62 %; \
             rank 3 has 1.5 times the average work, 80 % of it in update (heat.c:15); 12 iterations of main/step a second; \
             rank 1 has been in Recv for 2.50 s"
        );
    }

    #[test]
    fn the_last_line_is_of_the_whole_run() {
        assert_eq!(
            view(JobState::Ended).line(),
            "12.50 s: ended: parallel efficiency 62 % (load balance 70 %, communication 90 %)"
        );
    }
}
