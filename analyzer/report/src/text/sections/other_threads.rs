//! Functions of threads other than each rank's first, and of times without records.

use super::function_parts::{FunctionSection, regions_of, render_sections};
use crate::code::functions::{OtherThreadsFunctions, OtherThreadsRow};
use crate::rows::words::{format_plural, format_seconds, seconds_like};
use crate::text::{TextOptions, format_note};
use crate::{Report, fraction_of};
use lbprof_thresholds::wording::MIN_UNPLACED_TIME;

pub(in crate::text) fn other_threads_section(report: &Report, options: &TextOptions) -> String {
    let threads = report.functions.iter().flat_map(|table| &table.other_threads);
    let mut text: String = threads.map(|threads| other_threads_table(threads, options)).collect();
    if let Some(table) = &report.functions {
        let known_s = (table.computation_s + table.mpi_s) / table.ranks.max(1) as f64;
        let unplaced = table.unplaced.iter().filter(|one| one.cpu_s > MIN_UNPLACED_TIME * known_s);
        for one in unplaced {
            text += &unplaced_table(one, options);
        }
    }
    text
}

/// Renders the functions of samples in unknown regions.
fn unplaced_table(found: &OtherThreadsFunctions, options: &TextOptions) -> String {
    let part = other_threads_part(found, found.cpu_s);
    let mut text = render_sections(&[part], "Functions, regions not known", "", options);
    let facts = format!(
        "CPU time of all threads by {}, at times for which there are no records: they are missing, recording was paused, or calls were recorded as sums \
         and the recorder did not note where these samples belong. Computation and calls of MPI are not distinguished.",
        format_plural(found.samples, "sample")
    );
    text += &format_note(&facts, options);
    text + "\n"
}

fn other_threads_table(threads: &OtherThreadsRow, options: &TextOptions) -> String {
    let program = &threads.program;
    let regions = regions_of(program, &threads.regions).iter();
    let parts: Vec<FunctionSection> = regions.map(|one| other_threads_part(one, program.cpu_s)).collect();
    let title = match threads.call_mpi {
        true => "Functions of other threads with MPI calls",
        false => "Functions of threads without MPI calls",
    };
    let mut text = render_sections(&parts, title, "", options);
    let mut facts = format!(
        "CPU time by {} of {} on {}, those of a rank together, in the region that its first thread was in",
        format_plural(threads.samples, "sample"),
        format_plural(u64::from(threads.threads), "thread"),
        format_plural(threads.ranks as u64, "rank"),
    );
    if program.during_mpi_s > 0.0 {
        let during = seconds_like(program.during_mpi_s, program.cpu_s);
        facts += &format!("; {during} of {} while that was in MPI", format_seconds(program.cpu_s));
    }
    if threads.waiting_s > 0.0 {
        let waiting = seconds_like(threads.waiting_s, threads.cpu_s);
        facts += &format!("; {waiting} of {} of all ranks is waiting for other threads", format_seconds(threads.cpu_s));
    }
    text += &format_note(&format!("{facts}."), options);
    text + "\n"
}

fn other_threads_part(region: &OtherThreadsFunctions, whole_s: f64) -> FunctionSection<'_> {
    FunctionSection {
        region: &region.region,
        cpu_s: region.cpu_s,
        share: fraction_of(region.cpu_s, whole_s),
        excess: None,
        functions: &region.functions,
        others: &region.others,
    }
}
