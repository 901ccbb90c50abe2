//! The view of a running job at one moment.

use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;
use lbprof_collector::Operation;
use lbprof_collector::words::{format_bytes, format_seconds};
use lbprof_report::findings::rank_excess_in_words;
use lbprof_thresholds::watch::MIN_LONG_CALL_S;

use super::code_names::HeaviestFunction;
use super::job_load::JobLoad;

/// The progress of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Not all ranks have left `MPI_Init`.
    Starts,
    Runs,
    Ended,
}

/// The rank that computed longest lately.
#[derive(Clone, Debug, PartialEq)]
pub struct BusiestRank {
    pub rank: u32,
    pub times_mean: f64,
    pub function: Option<HeaviestFunction>,
}

/// A rank that has been in one call for long.
#[derive(Clone, Debug, PartialEq)]
pub struct LongCall {
    pub rank: u32,
    pub operation: u16,
    pub for_s: f64,
}

/// The view of a job at one moment.
#[derive(Clone, Debug)]
pub struct JobView {
    pub command: String,
    pub n_ranks: usize,
    pub state: JobState,
    pub load: JobLoad,
    pub slowest: Option<BusiestRank>,
    /// The recurring action: its name, and its rate per second.
    pub recurrence: Option<(String, f64)>,
    /// Ranks that have been in one call for long, the longest first.
    pub long_calls: Vec<LongCall>,
    pub unread_bytes: u64,
}

impl LongCall {
    pub fn is_long(&self) -> bool {
        self.for_s >= MIN_LONG_CALL_S
    }

    pub fn sentence(&self) -> String {
        let operation = Operation::from_number(self.operation).map_or("MPI", Operation::name);
        format!("rank {} has been in {operation} for {}", self.rank, format_seconds(self.for_s))
    }
}

impl BusiestRank {
    /// Describes how much longer the rank computes and where, unless the difference is negligible.
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
        format!("{}: {}", format_seconds(self.load.so_far.elapsed_s), self.facts().join("; "))
    }

    /// Describes the state of the job, a sentence per fact.
    pub fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        let JobLoad { lately, so_far, .. } = &self.load;
        match (self.state, efficiencies_in_words(lately)) {
            (JobState::Starts, _) => facts.push("the job starts: not all ranks have left MPI_Init".to_owned()),
            (JobState::Runs, Some(lately_in_words)) => {
                facts.push(format!("last {}: {lately_in_words}", format_seconds(lately.elapsed_s)));
            }
            _ => {}
        }
        facts.extend(match self.state {
            JobState::Ended => efficiencies_in_words(so_far).map(|so_far| format!("ended: {so_far}")),
            _ => so_far.load_balance().and(so_far.parallel()).map(|share| format!("so far {}", whole_percent(share))),
        });
        if self.state == JobState::Runs {
            facts.extend(self.slowest.as_ref().and_then(BusiestRank::sentence));
            facts.extend(self.recurrence.as_ref().map(|(what, per_second)| rate_in_words(what, *per_second)));
            facts.extend(self.long_calls.iter().map(LongCall::sentence));
        }
        if self.unread_bytes > 0 {
            facts.push(format!("still reading: {} left", format_bytes(self.unread_bytes)));
        }
        facts
    }
}

/// Describes efficiencies, or returns `None` if no rank computed. Clocks may let the longest computation exceed the period.
fn efficiencies_in_words(times: &EfficiencyTimes) -> Option<String> {
    Some(format!(
        "parallel efficiency {} (load balance {}, communication {})",
        whole_percent(times.parallel()?),
        whole_percent(times.load_balance()?),
        whole_percent(times.communication()?.min(1.0))
    ))
}

fn rate_in_words(what: &str, per_second: f64) -> String {
    let number = match per_second {
        rate if rate < 10.0 => format!("{rate:.1}"),
        rate => format!("{rate:.0}"),
    };
    format!("{number} {what} a second")
}

fn whole_percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(state: JobState) -> JobView {
        let load = JobLoad {
            lately: EfficiencyTimes::from_computation(&[9.0, 3.6], 10.0, None),
            so_far: EfficiencyTimes::from_computation(&[11.25, 4.5], 12.5, None),
            ranks: Vec::new(),
        };
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
            "12.50 s: last 10.00 s: parallel efficiency 63 % (load balance 70 %, communication 90 %); so far 63 %; \
             rank 3 has 1.5 times the average work, 80 % of it in update (heat.c:15); 12 iterations of main/step a second; \
             rank 1 has been in Recv for 2.50 s"
        );
    }

    #[test]
    fn the_last_line_is_of_the_whole_run() {
        assert_eq!(
            view(JobState::Ended).line(),
            "12.50 s: ended: parallel efficiency 63 % (load balance 70 %, communication 90 %)"
        );
    }
}
