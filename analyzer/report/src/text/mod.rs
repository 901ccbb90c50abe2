//! The report for a terminal: the answer, then the tables behind it. Each section is a file.
//!
//! The text contains ANSI colours, which the caller strips for files and pipes. Names from logs are escaped.

pub mod any_table;
mod columns;
pub mod csv;
mod first_screen;
mod layout;
mod markdown;
mod sections;
mod tables;

use super::Report;
use super::rows::words::escape_name;
pub use layout::TextOptions;
use layout::{BOLD, NARROW, WIDE};
pub(crate) use layout::{DIM, format_note, format_title};
pub use markdown::render_markdown;

/// A section: text that ends with an empty line, or nothing.
type Section = fn(&Report, &TextOptions) -> String;

const HEAD: &[Section] = &[
    first_screen::head::head_section,
    sections::selection::selection_section,
    first_screen::first_look::first_look_section,
    first_screen::answer::answer_section,
    sections::problems::problems_section,
];

const FIRST_SCREEN: &[Section] = &[
    tables::threads::core_efficiency_section,
    first_screen::efficiency::efficiency_section,
    first_screen::findings::other_findings_section,
    tables::what_if::asked_section,
    first_screen::next_commands::next_commands_section,
];

/// The tables that most users need.
const TABLES: &[Section] = &[
    tables::clusters::clusters_section,
    tables::threads::core_efficiency_section,
    first_screen::efficiency::efficiency_section,
    sections::loops::nest_section,
    tables::what_if::what_if_section,
    tables::blocking::section_of_region,
    tables::ranks::ranks_section,
    tables::threads::threads_section,
    tables::regions::regions_section,
    sections::functions::functions_section,
    tables::thread_pools::thread_pools_section,
    sections::other_threads::other_threads_section,
    tables::call_tree::call_tree_section,
    sections::iterations::section_for_all,
    tables::work::work_section,
    tables::counters::counters_section,
];

const ALL: &[Section] = &[
    tables::clusters::clusters_section,
    tables::threads::core_efficiency_section,
    first_screen::efficiency::efficiency_section,
    first_screen::findings::whole_section,
    tables::what_if::what_if_section,
    tables::what_if::critical_path,
    tables::blocking::waiting_section,
    tables::activities::activities_section,
    tables::ranks::ranks_section,
    tables::threads::threads_section,
    sections::loops::loops_section,
    tables::regions::regions_section,
    sections::functions::functions_section,
    tables::thread_pools::thread_pools_section,
    sections::other_threads::other_threads_section,
    large_call_tree,
    sections::iterations::iterations_section,
    tables::work::work_section,
    tables::counters::counters_section,
    tables::call_sites::call_sites_section,
];

/// Shows the call tree without its thousands of small nodes.
fn large_call_tree(report: &Report, options: &TextOptions) -> String {
    let top = options.limit_of_sums();
    tables::call_tree::call_tree_section(report, &TextOptions { all_tables: false, full: false, top, ..*options })
}

/// Renders the report as text with colours.
pub fn render_text(report: &Report, options: &TextOptions) -> String {
    let sections = match (options.first_screen, options.is_for_all()) {
        (true, _) => FIRST_SCREEN,
        (false, true) => TABLES,
        (false, false) => ALL,
    };
    let sections = HEAD.iter().chain(sections).chain([&(sections::data::data_section as Section)]);
    sections.map(|section| section(report, options)).collect()
}

/// Escapes hostile characters in a message of one or more lines.
pub fn escape_message(message: &str) -> String {
    message.lines().map(escape_name).collect::<Vec<_>>().join("\n")
}
