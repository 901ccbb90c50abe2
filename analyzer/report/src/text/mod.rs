//! The report for a terminal: the answer first, then the tables that it rests on. Each section is a file.
//!
//! The text carries colours as ANSI sequences; who writes it to a file or pipe strips them. All names from logs are escaped.

mod activities;
mod answer;
mod blocking;
mod call_sites;
mod call_tree;
mod clusters;
mod communication;
mod counters;
mod course;
mod data;
mod dispersion;
mod efficiency;
mod findings;
mod first_look;
mod function_parts;
mod functions;
mod head;
mod iterations;
mod layout;
mod loops;
mod markdown;
mod next_commands;
mod other_threads;
mod overheads;
mod patterns;
mod problems;
mod ranks;
mod regions;
mod selection;
mod thread_pools;
mod threads;
mod what_if;
mod windows;
mod work;

use super::Report;
use super::words::clean;
pub use layout::TextOptions;
use layout::{BOLD, DIM, NARROW, WIDE, title};
pub use markdown::markdown;
pub use what_if::note as what_if_note;

/// A section of the report: a text that ends with an empty line, or empty where there is nothing to say.
type Section = fn(&Report, &TextOptions) -> String;

/// The sections of the first screen, in their order.
const FIRST_SCREEN: &[Section] = &[
    head::section,
    selection::section,
    first_look::section,
    answer::section,
    problems::section,
    threads::efficiency,
    efficiency::section,
    findings::section,
    what_if::predictions,
    next_commands::section,
    data::section,
];

/// The sections of the tables that most users need, in their order.
const TABLES: &[Section] = &[
    head::section,
    selection::section,
    first_look::section,
    answer::section,
    problems::section,
    clusters::section,
    threads::efficiency,
    efficiency::section,
    loops::nest_section,
    what_if::section,
    blocking::section_of_region,
    ranks::section,
    threads::section,
    regions::section_as_chosen,
    functions::section,
    thread_pools::section,
    other_threads::section,
    call_tree::section,
    iterations::section_for_all,
    windows::section,
    work::section,
    counters::section,
    data::section,
];

/// The sections of the whole report, in their order.
const ALL: &[Section] = &[
    head::section,
    selection::section,
    first_look::section,
    answer::section,
    problems::section,
    clusters::section,
    threads::efficiency,
    efficiency::section,
    findings::whole_section,
    what_if::section,
    what_if::critical_path,
    blocking::section,
    overheads::section,
    activities::section,
    ranks::section,
    threads::section,
    loops::section,
    regions::section,
    functions::section,
    thread_pools::section,
    other_threads::section,
    call_tree::section,
    dispersion::section,
    patterns::section,
    iterations::section,
    windows::section,
    work::section,
    counters::section,
    call_sites::section,
    communication::section,
    data::section,
];

/// The report as text, with colours.
pub fn render(report: &Report, options: &TextOptions) -> String {
    let sections = match (options.first_screen, options.is_for_all()) {
        (true, _) => FIRST_SCREEN,
        (false, true) => TABLES,
        (false, false) => ALL,
    };
    sections.iter().map(|section| section(report, options)).collect()
}

/// A message on one or more lines, its hostile characters escaped.
pub fn plain(message: &str) -> String {
    message.lines().map(clean).collect::<Vec<_>>().join("\n")
}
