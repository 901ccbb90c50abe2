//! The report for a terminal: the answer, then the tables behind it. Each section is a file.
//!
//! The text contains ANSI colours, which the caller strips for files and pipes. Names from logs are escaped.

mod activities;
mod answer;
mod blocking;
mod call_sites;
mod call_tree;
mod clusters;
mod columns;
mod counters;
mod course;
mod data;
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
mod problems;
mod ranks;
mod regions;
mod selection;
mod thread_pools;
mod threads;
mod what_if;
mod work;

use super::Report;
use super::words::clean;
pub use layout::TextOptions;
use layout::{BOLD, NARROW, WIDE};
pub(crate) use layout::{DIM, note, title};
pub use markdown::markdown;

/// A section: text that ends with an empty line, or nothing.
type Section = fn(&Report, &TextOptions) -> String;

const HEAD: &[Section] = &[head::section, selection::section, first_look::section, answer::section, problems::section];

const FIRST_SCREEN: &[Section] =
    &[threads::efficiency, efficiency::section, findings::section, what_if::asked_section, next_commands::section];

/// The tables that most users need.
const TABLES: &[Section] = &[
    clusters::section,
    threads::efficiency,
    efficiency::section,
    loops::nest_section,
    what_if::section,
    blocking::section_of_region,
    ranks::section,
    threads::section,
    regions::section,
    functions::section,
    thread_pools::section,
    other_threads::section,
    call_tree::section,
    iterations::section_for_all,
    work::section,
    counters::section,
];

const ALL: &[Section] = &[
    clusters::section,
    threads::efficiency,
    efficiency::section,
    findings::whole_section,
    what_if::section,
    what_if::critical_path,
    blocking::section,
    activities::section,
    ranks::section,
    threads::section,
    loops::section,
    regions::section,
    functions::section,
    thread_pools::section,
    other_threads::section,
    large_call_tree,
    iterations::section,
    work::section,
    counters::section,
    call_sites::section,
];

/// Shows the call tree without its thousands of small nodes.
fn large_call_tree(report: &Report, options: &TextOptions) -> String {
    let top = options.limit_of_sums();
    call_tree::section(report, &TextOptions { all_tables: false, full: false, top, ..*options })
}

/// Renders the report as text with colours.
pub fn render(report: &Report, options: &TextOptions) -> String {
    let sections = match (options.first_screen, options.is_for_all()) {
        (true, _) => FIRST_SCREEN,
        (false, true) => TABLES,
        (false, false) => ALL,
    };
    let sections = HEAD.iter().chain(sections).chain([&(data::section as Section)]);
    sections.map(|section| section(report, options)).collect()
}

/// Escapes hostile characters in a message of one or more lines.
pub fn plain(message: &str) -> String {
    message.lines().map(clean).collect::<Vec<_>>().join("\n")
}
