//! The options, styles and widths that all sections of the text share.

use anstyle::Style;

use crate::words::{count, wrap};

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
    pub all_tables: bool,
    /// True if the user has asked what would be if, so that the first screen has to answer.
    pub asked: bool,
    /// Rows of a table of which not all are shown.
    pub top: usize,
    /// True if to show all rows of tables that do not sum up others.
    pub full: bool,
}

impl TextOptions<'_> {
    /// Returns whether tables that need knowledge of their methods, and rows of little weight, are left out.
    pub(super) fn is_for_all(&self) -> bool {
        self.first_screen || !self.all_tables
    }

    /// Most rows of a table.
    pub(super) fn limit(&self) -> usize {
        if self.full { usize::MAX } else { self.top.max(1) }
    }

    /// Most rows of a table that sums up the others.
    pub(super) fn limit_of_sums(&self) -> usize {
        self.limit().min(if self.full { MAX_ROWS } else { usize::MAX })
    }
}

/// Most rows of a table that sums up the others, unless the user says how many.
const MAX_ROWS: usize = 20;

pub(super) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

/// Columns from which on formulas have room for their numbers.
pub(super) const NARROW: usize = 76;

/// Columns from which on there is room for what is good to know but not needed.
pub(super) const WIDE: usize = 96;

/// A note below a table.
pub(crate) fn note(text: &str, options: &TextOptions) -> String {
    format!("  {DIM}{}{DIM:#}\n", wrap(text, options.columns - 2, 2))
}

/// The head of a table of which `shown` of `all` rows are shown.
pub(crate) fn title(name: &str, shown: usize, all: usize) -> String {
    if shown >= all {
        return format!("{BOLD}{name}{BOLD:#}\n");
    }
    let (shown, all) = (count(shown as u64), count(all as u64));
    format!("{BOLD}{name}{BOLD:#} {DIM}({shown} of {all}; --full or --table shows all){DIM:#}\n")
}
