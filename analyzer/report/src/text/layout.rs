//! Options, styles and widths of all sections.

use anstyle::Style;

use crate::rows::words::{format_count, wrap_text};

/// Amount of detail, and line width.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions<'a> {
    /// The command that makes this report, as a base for suggestions: `lb-report lbprof-out`.
    pub command: &'a str,
    /// Columns of a line.
    pub columns: usize,
    /// True for the first screen only.
    pub first_screen: bool,
    /// True to include tables for experts.
    pub all_tables: bool,
    /// True if the user asked for predictions, so that the first screen shows them.
    pub asked: bool,
    /// Maximum number of rows of a table.
    pub top: usize,
    /// True to show all rows of tables that do not sum up others.
    pub full: bool,
}

impl TextOptions<'_> {
    /// Returns whether expert tables and rows of little weight are omitted.
    pub(super) fn is_for_all(&self) -> bool {
        self.first_screen || !self.all_tables
    }

    /// Returns the maximum number of rows.
    pub(super) fn limit(&self) -> usize {
        if self.full { usize::MAX } else { self.top.max(1) }
    }

    /// Returns the maximum number of rows of a table that sums up the others.
    pub(super) fn limit_of_sums(&self) -> usize {
        self.limit().min(if self.full { MAX_ROWS } else { usize::MAX })
    }
}

/// Default for tables that sum up other rows.
const MAX_ROWS: usize = 10;

pub(super) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

/// Minimum width for formulas with numbers.
pub(super) const NARROW: usize = 76;

/// Minimum width for secondary columns.
pub(super) const WIDE: usize = 96;

/// Formats a note below a table.
pub(crate) fn format_note(text: &str, options: &TextOptions) -> String {
    format!("  {DIM}{}{DIM:#}\n", wrap_text(text, options.columns - 2, 2))
}

/// Formats the head of a table that shows `shown` of `all` rows.
pub(crate) fn format_title(name: &str, shown: usize, all: usize) -> String {
    if shown >= all {
        return format!("{BOLD}{name}{BOLD:#}\n");
    }
    let (shown, all) = (format_count(shown as u64), format_count(all as u64));
    format!("{BOLD}{name}{BOLD:#} {DIM}({shown} of {all}; --table shows all){DIM:#}\n")
}
