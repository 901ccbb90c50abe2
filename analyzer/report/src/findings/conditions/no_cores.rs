//! Ranks had no cores of their own, so that times say little about the program.

use lbprof_thresholds::wording::MIN_COMPARED_CPU_TIME;

use crate::Report;
use crate::findings::phrases::doubts;
use crate::findings::shared::place;
use crate::losses::finding::{Finding, FindingAdvice};

/// Detects that the answer would be wrong because ranks had no cores. Without a core in MPI, a rank waits longer there: that overturns only what is said of
/// messages.
pub fn find_missing_cores(report: &Report, figures: &[Finding]) -> Option<Finding> {
    let is_of_messages = figures.first().is_some_and(Finding::is_of_messages);
    let is_overturned = report.has_crowded_cores() && (is_of_messages || report.doubts.no_core.is_none());
    (is_overturned && !report.verdict.is_of_nothing()).then(|| Finding {
        place: place::by_cpu_time(report),
        advice: Some(advice_on_cores(report)),
        before_figures: Some("as measured, "),
        ..Finding::condition("no cores", sentence_on_missing_cores(report))
    })
}

/// Returns the answer with the balance of the ranks' CPU time.
fn sentence_on_missing_cores(report: &Report) -> String {
    let first = "Ranks had no cores of their own, so the times say little about the program";
    let mut by_cpu: Vec<(f64, u32)> =
        report.ranks.iter().filter_map(|row| Some((row.computation_cpu_s?, row.rank))).collect();
    by_cpu.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let least_s = MIN_COMPARED_CPU_TIME * report.verdict.elapsed_s;
    match (by_cpu.first(), by_cpu.last()) {
        (Some(most), Some(least))
            if by_cpu.len() == report.ranks.len() && least.0 > 0.0 && most.0 >= least_s && most.1 != least.1 =>
        {
            let factor = most.0 / least.0;
            match factor < 1.05 {
                true => format!("{first}: by CPU time, all work about equally long."),
                false => format!(
                    "{first}: by CPU time, rank {} works {factor:.1} times as long as rank {}.",
                    most.1, least.1
                ),
            }
        }
        _ => format!("{first}."),
    }
}

fn advice_on_cores(report: &Report) -> FindingAdvice {
    FindingAdvice::Try(doubts::fewer_cores(report).unwrap_or_else(|| {
        "measure again with one rank per core: as many ranks as cores at most, each bound to its own (mpirun --bind-to core, srun \
         --cpu-bind=cores)"
            .to_owned()
    }))
}
