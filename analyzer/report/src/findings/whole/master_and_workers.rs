//! A master hands out work and is idle, and nearly all time of the others is computation.

use crate::Report;
use crate::findings::phrases::doubts::asleep_in_words;
use crate::findings::phrases::ranks::{computing_share, named_ranks, short_percent};
use crate::losses::finding::{Finding, FindingAdvice, FindingTone};

/// Detects that workers are busy while their master is idle.
pub fn find_master_and_workers(report: &Report) -> Option<Finding> {
    let master = report.idle_master.as_ref().filter(|_| report.verdict.is_good())?;
    let share = computing_share(report);
    let asleep = report.doubts.asleep.as_ref();
    let work = match asleep {
        Some(ranks) => format!("are outside of MPI {share} of the time, but {}", asleep_in_words(&ranks.worst)),
        None => format!("work {share} of the time"),
    };
    let (workers, rank) = (named_ranks(&master.workers), master.rank);
    let sentence = match master.hosts_counter {
        true => {
            format!(
                "Workers that take tasks from a counter: {workers} {work}; rank {rank} hosts the counter and is idle."
            )
        }
        false => {
            format!("Master and workers: {workers} {work}; rank {rank} hands out work and is idle, as masters are.")
        }
    };
    let n_ranks = master.workers.len() + 1;
    let most = short_percent(1.0 / n_ranks as f64);
    let first = match asleep {
        Some(_) => "what the workers wait for outside of MPI: files, sleep(), locks, devices; and ",
        None => "",
    };
    let too = match master.hosts_counter {
        true => "take tasks too",
        false => "compute while it hands out work",
    };
    let advice = format!(
        "{first}whether rank {rank} can {too}: it is one of {n_ranks} ranks, so the same work would take at most {most} less time"
    );
    Some(Finding {
        advice: Some(FindingAdvice::LookAt(advice)),
        ..Finding::of_whole("master and workers", FindingTone::Good, sentence)
    })
}
