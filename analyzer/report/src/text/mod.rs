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
mod doubts;
mod efficiency;
mod first_look;
mod function_parts;
mod functions;
mod head;
mod iterations;
mod lifetime;
mod loops;
mod losses;
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

use anstyle::Style;

use super::Report;
use super::words::{clean, count, short_path, shorten};
pub use answer::{AnswerLabel, AnswerLine, AnswerText, answer_in_words};
pub use doubts::sentence as doubt;
use lbprof_analysis::structure::code_place::CodePlace;
pub use losses::sentence as loss;
pub use markdown::markdown;
pub use what_if::note as what_if_note;

/// Amount of detail, and width in columns.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions<'a> {
    /// The command that makes this report, for proposals of what to run next: `lb-report lbprof-out`.
    pub command: &'a str,
    /// Columns of a line.
    pub columns: usize,
    /// True if to say no more than the answer: the first screen.
    pub first_screen: bool,
    /// True if to show tables that need knowledge of their methods, too.
    pub expert: bool,
    /// True if the user has asked what would be if, so that the first screen has to answer.
    pub asked: bool,
    /// Rows of a table of which not all are shown.
    pub top: usize,
    /// True if to show all rows of all tables.
    pub full: bool,
}

impl TextOptions<'_> {
    /// Returns whether tables that need knowledge of their methods, and rows of little weight, are left out.
    fn is_for_all(&self) -> bool {
        self.first_screen || !self.expert && !self.full
    }
}

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
    loops::nest_section,
    losses::section,
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

/// The sections of the whole report for experts, in their order.
const ALL: &[Section] = &[
    head::section,
    selection::section,
    first_look::section,
    answer::section,
    problems::section,
    clusters::section,
    threads::efficiency,
    efficiency::section,
    losses::section,
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

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Most columns that a name takes within a sentence: whole, but for names that no reader could use.
const LONGEST_NAME: usize = 160;

/// Most columns that a call site takes within a sentence, with the calls by which the program gets there.
const LONGEST_PLACE: usize = 240;

/// Columns from which on formulas have room for their numbers.
const NARROW: usize = 76;

/// Columns from which on there is room for what is good to know but not needed.
const WIDE: usize = 96;

/// The report as text, with colours.
pub fn render(report: &Report, options: &TextOptions) -> String {
    let sections = match (options.first_screen, options.is_for_all()) {
        (true, _) => FIRST_SCREEN,
        (false, true) => TABLES,
        (false, false) => ALL,
    };
    sections.iter().map(|section| section(report, options)).collect()
}

/// A region's name in a sentence.
fn region_name(path: &str) -> String {
    shorten(&clean(short_path(path)), LONGEST_NAME)
}

/// Returns code between calls in a sentence: `main, from the call in forces (h.c:9) to the call in fields (h.c:10)`.
fn code_in_words(name: &str, between: Option<&str>) -> String {
    let function = name.rsplit_once(" (").map_or(name, |(function, _)| function);
    match between {
        Some(between) => format!("{}, {}", shorten(&clean(function), LONGEST_NAME), clean(between)),
        None => region_name(name),
    }
}

/// A call site in a sentence.
fn place_name(place: &CodePlace) -> String {
    shorten(&clean(&place.label()), LONGEST_PLACE)
}

/// A message on one or more lines, its hostile characters escaped.
pub fn plain(message: &str) -> String {
    message.lines().map(clean).collect::<Vec<_>>().join("\n")
}

/// The head of a table of which `shown` of `all` rows are shown.
fn title(name: &str, shown: usize, all: usize) -> String {
    if shown >= all {
        return format!("{BOLD}{name}{BOLD:#}\n");
    }
    let (shown, all) = (count(shown as u64), count(all as u64));
    format!("{BOLD}{name}{BOLD:#} {DIM}({shown} of {all}; --full shows all){DIM:#}\n")
}
