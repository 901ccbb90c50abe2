//! The options, styles and widths that all sections of the text share, and names within sentences.

use anstyle::Style;
use lbprof_analysis::structure::code_place::CodePlace;

use crate::losses::LossAt;
use crate::words::{clean, count, short_path, shorten};

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
    pub(super) fn is_for_all(&self) -> bool {
        self.first_screen || !self.expert && !self.full
    }
}

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();

/// Most columns that a name takes within a sentence: whole, but for names that no reader could use.
pub(super) const LONGEST_NAME: usize = 160;

/// Most columns that a call site takes within a sentence, with the calls by which the program gets there.
const LONGEST_PLACE: usize = 240;

/// Columns from which on formulas have room for their numbers.
pub(super) const NARROW: usize = 76;

/// Columns from which on there is room for what is good to know but not needed.
pub(super) const WIDE: usize = 96;

/// A region's name in a sentence.
pub(super) fn region_name(path: &str) -> String {
    shorten(&clean(short_path(path)), LONGEST_NAME)
}

/// Returns code between calls in a sentence: `main, from the call of forces (h.c:9) to the call of fields (h.c:10)`.
pub(super) fn code_in_words(name: &str, between: Option<&str>) -> String {
    let function = name.rsplit_once(" (").map_or(name, |(function, _)| function);
    match between {
        Some(between) => format!("{}, {}", shorten(&clean(function), LONGEST_NAME), clean(between)),
        None => region_name(name),
    }
}

/// A call site in a sentence.
pub(super) fn place_name(place: &CodePlace) -> String {
    shorten(&clean(&place.label()), LONGEST_PLACE)
}

/// A call and its site in a sentence: `MPI_Allreduce at residual (solver.c:41)`, or its name alone where there is no site.
pub(super) fn call_in_words(at: &LossAt) -> String {
    match at.place == CodePlace::default() {
        true => format!("MPI_{}", at.operation),
        false => format!("MPI_{} at {}", at.operation, place_name(&at.place)),
    }
}

/// The head of a table of which `shown` of `all` rows are shown.
pub(super) fn title(name: &str, shown: usize, all: usize) -> String {
    if shown >= all {
        return format!("{BOLD}{name}{BOLD:#}\n");
    }
    let (shown, all) = (count(shown as u64), count(all as u64));
    format!("{BOLD}{name}{BOLD:#} {DIM}({shown} of {all}; --full shows all){DIM:#}\n")
}
