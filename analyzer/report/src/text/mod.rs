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
use super::words::escape_name;
pub use layout::TextOptions;
use layout::{BOLD, NARROW, WIDE};
pub(crate) use layout::{DIM, format_note, format_title};
pub use markdown::render_markdown;

/// A section: text that ends with an empty line, or nothing.
type Section = fn(&Report, &TextOptions) -> String;

const HEAD: &[Section] = &[
    head::head_section,
    selection::selection_section,
    first_look::first_look_section,
    answer::answer_section,
    problems::problems_section,
];

const FIRST_SCREEN: &[Section] = &[
    threads::core_efficiency_section,
    efficiency::efficiency_section,
    findings::other_findings_section,
    what_if::asked_section,
    next_commands::next_commands_section,
];

/// The tables that most users need.
const TABLES: &[Section] = &[
    clusters::clusters_section,
    threads::core_efficiency_section,
    efficiency::efficiency_section,
    loops::nest_section,
    what_if::what_if_section,
    blocking::section_of_region,
    ranks::ranks_section,
    threads::threads_section,
    regions::regions_section,
    functions::functions_section,
    thread_pools::thread_pools_section,
    other_threads::other_threads_section,
    call_tree::call_tree_section,
    iterations::section_for_all,
    work::work_section,
    counters::counters_section,
];

const ALL: &[Section] = &[
    clusters::clusters_section,
    threads::core_efficiency_section,
    efficiency::efficiency_section,
    findings::whole_section,
    what_if::what_if_section,
    what_if::critical_path,
    blocking::waiting_section,
    activities::activities_section,
    ranks::ranks_section,
    threads::threads_section,
    loops::loops_section,
    regions::regions_section,
    functions::functions_section,
    thread_pools::thread_pools_section,
    other_threads::other_threads_section,
    large_call_tree,
    iterations::iterations_section,
    work::work_section,
    counters::counters_section,
    call_sites::call_sites_section,
];

/// Shows the call tree without its thousands of small nodes.
fn large_call_tree(report: &Report, options: &TextOptions) -> String {
    let top = options.limit_of_sums();
    call_tree::call_tree_section(report, &TextOptions { all_tables: false, full: false, top, ..*options })
}

/// Renders the report as text with colours.
pub fn render_text(report: &Report, options: &TextOptions) -> String {
    let sections = match (options.first_screen, options.is_for_all()) {
        (true, _) => FIRST_SCREEN,
        (false, true) => TABLES,
        (false, false) => ALL,
    };
    let sections = HEAD.iter().chain(sections).chain([&(data::data_section as Section)]);
    sections.map(|section| section(report, options)).collect()
}

/// Escapes hostile characters in a message of one or more lines.
pub fn escape_message(message: &str) -> String {
    message.lines().map(escape_name).collect::<Vec<_>>().join("\n")
}
