//! The functions in which ranks compute.

use super::function_parts::{FunctionSection, regions_of, render_sections};
use crate::code::functions::{FunctionTable, RegionFunctions};
use crate::findings::phrases::functions::in_mpi_call;
use crate::rows::words::{format_plural, format_quantity, format_seconds, or_dash, seconds_like};
use crate::text::{TextOptions, format_note, format_title};
use crate::{Report, fraction_of};
use lbprof_thresholds::wording::MIN_TIME_NOT_RUNNING;

const MOST_NAMED: usize = 2;

pub(in crate::text) fn functions_section(report: &Report, options: &TextOptions) -> String {
    let Some(table) = report.functions.as_ref().filter(|table| table.samples > 0) else { return String::new() };
    let facts = format!(
        "CPU time by {}, one every {}; ± one standard error, – less than two",
        format_plural(table.samples, "sample"),
        format_seconds(table.period_s)
    );
    let regions = regions_of(&table.program, &table.regions).iter();
    let parts: Vec<FunctionSection> = regions.map(|one| region_section(one, table.program.cpu_s)).collect();
    let is_running = table.program.cpu_s >= MIN_TIME_NOT_RUNNING * table.program.computation_s;
    let notes = function_notes(table);
    let text = match is_running || !options.is_for_all() {
        true => render_sections(&parts, "Functions", &facts, options),
        // Few samples may be chance.
        false if notes.is_empty() => return String::new(),
        false => format_title("Functions", 0, 0),
    };
    let notes = notes.iter().map(|line| format_note(line, options));
    text + &notes.collect::<String>() + "\n"
}

fn region_section(region: &RegionFunctions, whole_s: f64) -> FunctionSection<'_> {
    FunctionSection {
        region: &region.region,
        cpu_s: region.cpu_s,
        share: fraction_of(region.cpu_s, whole_s),
        excess: region.slowest_rank.map(|rank| (region.excess_s, rank)),
        functions: &region.functions,
        others: &region.others,
    }
}

/// Returns notes on time without CPU, on MPI's callbacks, and on hardware counters.
fn function_notes(table: &FunctionTable) -> Vec<String> {
    let mut notes = Vec::new();
    let program = &table.program;
    if let Some(rank) =
        program.not_running_rank.filter(|_| program.max_not_running_s >= MIN_TIME_NOT_RUNNING * program.computation_s)
    {
        notes.push(format!(
            "Not running (asleep, waiting for a core, or in the kernel): {} of the computation on average, {} on rank {rank}.",
            seconds_like(program.not_running_s.max(0.0), program.computation_s),
            seconds_like(program.max_not_running_s, program.computation_s),
        ));
    }
    for row in table.called_by_mpi.iter().take(MOST_NAMED) {
        notes.push(format!("Within MPI, where it does not count as computation: {}.", in_mpi_call(row)));
    }
    notes.extend(hardware_note(table));
    notes
}

fn hardware_note(table: &FunctionTable) -> Option<String> {
    let program = &table.program;
    let (row, rank) = (program.hardware.as_ref()?, program.slowest_rank?);
    let mut text = format!(
        "Processor: {} instructions a rank in the mean, {}",
        format_quantity(row.instructions),
        processor_speed(row.ipc, row.frequency_hz)
    );
    if row.ranks > 1 {
        let more = seconds_like(row.more_instructions_s, program.slowest_computation_s);
        let slower = seconds_like(row.slower_instructions_s, program.slowest_computation_s);
        text += &format!(
            "; rank {rank}: {}, {}. Of its CPU time more than the mean, {more} is more instructions, {slower} slower ones",
            format_quantity(row.slowest_instructions),
            processor_speed(row.slowest_ipc, row.slowest_frequency_hz)
        );
    }
    Some(text + ".")
}

/// Formats e.g. `1.35 per cycle at 2.40 GHz`.
fn processor_speed(ipc: Option<f64>, frequency_hz: Option<f64>) -> String {
    let per_cycle = or_dash(ipc, |ipc| format!("{ipc:.2}"));
    let frequency = or_dash(frequency_hz, |hz| format!("{:.2} GHz", hz * 1e-9));
    format!("{per_cycle} per cycle at {frequency}")
}
