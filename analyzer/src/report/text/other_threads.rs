//! The functions of threads other than the first of each rank.

use super::function_parts::{Part, render, shown};
use super::{DIM, Options};
use crate::report::Report;
use crate::report::functions::{OtherThreads, OtherThreadsFunctions};
use crate::report::words::{TimeUnit, plural, seconds, seconds_like, wrap};

pub(super) fn section(report: &Report, options: &Options) -> String {
    let threads = report.functions.iter().flat_map(|table| &table.other_threads);
    threads.map(|threads| table(threads, options)).collect()
}

fn table(threads: &OtherThreads, options: &Options) -> String {
    let program = &threads.program;
    let shown = shown(program, &threads.regions, options).into_iter();
    let parts: Vec<Part> = shown.map(|one| part(one, program.cpu_s)).collect();
    let most_s = parts.iter().flat_map(|part| part.functions).map(|row| row.max_s);
    let unit = TimeUnit::for_max(most_s.chain(parts.iter().map(|part| part.cpu_s)).fold(0.0, f64::max));
    let title = match threads.call_mpi {
        true => "Functions of other threads with MPI calls",
        false => "Functions of threads without MPI calls",
    };
    let mut text = render(&parts, unit, (title, ""), options);
    let mut facts = format!(
        "CPU time by {} of {} on {}, those of a rank together, in the region that its first thread was in",
        plural(threads.samples, "sample"),
        plural(u64::from(threads.threads), "thread"),
        plural(threads.ranks as u64, "rank"),
    );
    if program.during_mpi_s > 0.0 {
        let during = seconds_like(program.during_mpi_s, program.cpu_s);
        facts += &format!("; {during} of {} while that was in MPI", seconds(program.cpu_s));
    }
    text += &format!("  {DIM}{}.{DIM:#}\n", wrap(&facts, options.columns - 3, 2));
    text + "\n"
}

/// A region of a program with this CPU time.
fn part(region: &OtherThreadsFunctions, whole_s: f64) -> Part<'_> {
    Part {
        region: &region.region,
        cpu_s: region.cpu_s,
        share: if whole_s > 0.0 { region.cpu_s / whole_s } else { 0.0 },
        excess: None,
        functions: &region.functions,
        others: &region.others,
    }
}
