//! Describes the losses of core time on ranks with threads.

use crate::Report;
use crate::losses::names::place_name;
use crate::rows::words::{escape_name, format_percent, format_plural, percent_or_dash};
use crate::threads::{CoreLoss, CoreLossKind, MutexRow};
use lbprof_collector::parallel::MutexKind;

const MAX_NAMED: usize = 5;

/// Describes the use of the cores. Returns nothing if each rank has one core.
pub fn core_use_sentence(report: &Report) -> String {
    let Some(table) = &report.threads else { return String::new() };
    let cores = format_plural(table.cores, "core");
    if table.is_good() {
        return format!("{} of the time of {cores} is work.", percent_or_dash(table.parallel));
    }
    let lost = table.parallel.map(|parallel| format_percent(1.0 - parallel));
    let parts: Vec<String> = table.losses.iter().take(MAX_NAMED).map(core_loss_in_words).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    format!("{} of the time of {cores} is lost{parts}.", lost.unwrap_or_default())
}

fn core_loss_in_words(loss: &CoreLoss) -> String {
    let share = format_percent(loss.share);
    let at = loss.at.as_ref().map(place_name).unwrap_or_default();
    match loss.kind {
        CoreLossKind::Mpi => format!("{share} in MPI, where threads wait for other ranks or for messages"),
        CoreLossKind::Serial => {
            let function = loss.function.as_ref();
            let within =
                function.map(|one| format!(", {} of it in {}", format_percent(one.share), escape_name(&one.name)));
            let within = within.unwrap_or_default();
            format!("{share} where only one thread of a rank computes, outside of parallel regions{within}")
        }
        CoreLossKind::ThreadImbalance => match loss.heavy_thread {
            Some(heavy) => {
                let long = heavy.against_others.map(|factor| format!("{factor:.1} times as long as"));
                let long = long.unwrap_or_else(|| "and not".to_owned());
                format!("{share} because thread {} works {long} the others in {at}", heavy.thread)
            }
            None => {
                format!("{share} because threads work for different times in {at}, not always the same one longest")
            }
        },
        CoreLossKind::Mutex => format!("{share} waiting for {} in {at}", mutex_name(loss.mutex.as_ref())),
        CoreLossKind::Ordered => format!("{share} waiting for an ordered section in {at}"),
        CoreLossKind::Tasks => format!("{share} waiting for tasks in {at}"),
        CoreLossKind::ForkJoin => format!("{share} starting and ending parallel regions"),
    }
}

fn mutex_name(mutex: Option<&MutexRow>) -> String {
    let Some(mutex) = mutex else { return "a critical section or lock".to_owned() };
    match (mutex.kind, &mutex.name) {
        (MutexKind::Critical, Some(name)) => format!("critical section {}", escape_name(name)),
        (MutexKind::Critical, None) => "a critical section".to_owned(),
        (MutexKind::Lock, name) => match (mutex.at.as_ref().and_then(|at| at.line), name) {
            (Some(line), _) => format!("the lock of line {line}"),
            (None, Some(name)) => format!("lock {}", escape_name(name)),
            (None, None) => "a lock".to_owned(),
        },
        (MutexKind::Atomic, _) => "an atomic operation".to_owned(),
    }
}
