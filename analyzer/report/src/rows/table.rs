//! Tables of text with a flexible column, whose cells wrap if lines get too long.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table as Layout};

use super::fold::fold_all;
use super::words::{escape_name, text_width};

/// A table of text.
pub struct TextTable {
    heads: Vec<String>,
    aligned: Vec<CellAlignment>,
    rows: Vec<Vec<String>>,
    /// The column that gives way where the lines get too long.
    flexible: usize,
}

/// Minimum width of the flexible column.
const LEAST_FLEXIBLE: usize = 12;

/// Width at which the flexible column is mostly readable.
const COMFORTABLE: usize = 28;

const INDENT: usize = 2;

impl TextTable {
    /// Creates a table. Heads starting with `<` are left-aligned, others right-aligned. The column `flexible` wraps if lines get too long.
    pub fn new(heads: &[&str], flexible: usize) -> TextTable {
        let aligned = heads.iter().map(|head| match head.starts_with('<') {
            true => CellAlignment::Left,
            false => CellAlignment::Right,
        });
        TextTable {
            aligned: aligned.collect(),
            heads: heads.iter().map(|head| head.trim_start_matches('<').to_owned()).collect(),
            rows: Vec::new(),
            flexible,
        }
    }

    /// Adds a row of one cell per column.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.heads.len());
        self.rows.push(cells);
    }

    /// Removes groups of columns, in the order of `spare`, until the flexible column fits or has at least [`COMFORTABLE`] columns. Columns are named by
    /// the first line of their heads.
    pub fn sparing(mut self, columns: usize, spare: &[&[&str]]) -> TextTable {
        for group in spare {
            let widths = self.widths();
            let missing = (widths.iter().sum::<usize>() + INDENT * widths.len()).saturating_sub(columns);
            let flexible = widths[self.flexible];
            if missing == 0 || flexible.saturating_sub(missing) >= COMFORTABLE {
                break;
            }
            for head in group.iter() {
                let found = self.heads.iter().position(|text| text.lines().next() == Some(head));
                if let Some(at) = found.filter(|&at| at != self.flexible) {
                    self.remove(at);
                }
            }
        }
        self
    }

    /// Removes the last columns that do not fit, and returns their heads as well.
    pub fn within(mut self, columns: usize) -> (TextTable, Vec<String>) {
        let mut widths = self.widths();
        let mut left_out = Vec::new();
        while widths.len() > 1 && self.least_of(&widths) > columns {
            let at = widths.len() - if self.flexible + 1 == widths.len() { 2 } else { 1 };
            widths.remove(at);
            left_out.insert(0, self.heads[at].clone());
            self.remove(at);
        }
        (self, left_out)
    }

    fn remove(&mut self, at: usize) {
        self.heads.remove(at);
        self.aligned.remove(at);
        for row in &mut self.rows {
            let _ = row.remove(at);
        }
        self.flexible -= usize::from(at < self.flexible);
    }

    /// Returns the total width if the flexible column is as narrow as possible.
    fn least_of(&self, widths: &[usize]) -> usize {
        let flexible = widths[self.flexible];
        widths.iter().sum::<usize>() - flexible + flexible.min(LEAST_FLEXIBLE) + INDENT * widths.len()
    }

    /// Returns the width without wrapping.
    pub fn natural_width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + INDENT * widths.len()
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::with_capacity(self.heads.len());
        for (column, head) in self.heads.iter().enumerate() {
            let cells = self.rows.iter().flat_map(|row| row[column].lines());
            widths.push(cells.chain(head.lines()).map(text_width).max().unwrap_or(0));
        }
        widths
    }

    /// Renders lines of at most `columns`, as far as the other columns allow, with heads in `bold`.
    pub fn render(mut self, columns: usize, bold: anstyle::Style) -> String {
        let widths = self.widths();
        let total: usize = widths.iter().sum::<usize>() + INDENT * widths.len();
        let room = (widths[self.flexible] + columns).saturating_sub(total).max(LEAST_FLEXIBLE);
        let names: Vec<&str> = self.rows.iter().map(|row| row[self.flexible].as_str()).collect();
        let names = fold_all(&names, room);
        for (row, name) in self.rows.iter_mut().zip(names) {
            row[self.flexible] = name;
        }
        let mut layout = Layout::new();
        layout.load_style(comfy_table::presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        layout.set_header(self.aligned_cells(&self.heads));
        for row in &self.rows {
            layout.add_row(self.aligned_cells(row));
        }
        for column in layout.column_iter_mut() {
            column.set_padding((INDENT as u16, 0));
        }
        let head_lines = self.heads.iter().map(|head| head.lines().count()).max().unwrap_or(1);
        let lines = layout.lines().enumerate().map(|(at, line)| match at < head_lines {
            true => format!("{bold}{}{bold:#}\n", line.trim_end()),
            false => format!("{}\n", line.trim_end()),
        });
        lines.collect()
    }

    /// Renders the table as Markdown.
    pub fn to_markdown(&self) -> String {
        let rule = vec!["-".to_owned(); self.heads.len()];
        let lines = [&self.heads, &rule].into_iter().chain(&self.rows);
        let lines = lines.map(|cells| {
            let cells: Vec<String> = cells.iter().map(|cell| escape_markup(&cell.replace('\n', " "))).collect();
            format!("| {} |\n", cells.join(" | "))
        });
        lines.collect()
    }

    fn aligned_cells(&self, row: &[String]) -> Vec<Cell> {
        row.iter().zip(&self.aligned).map(|(text, align)| Cell::new(text).set_alignment(*align)).collect()
    }
}

/// Escapes Markdown markup.
pub(crate) fn escape_markup(text: &str) -> String {
    let markup = ['\\', '`', '*', '_', '<', '>', '[', ']', '|', '#'];
    markup.into_iter().fold(escape_name(text), |text, char| text.replace(char, &format!("\\{char}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable {
        let mut table = TextTable::new(&["<call", "<at", "mean\n[s]", "calls", "bytes"], 1);
        table.row(
            ["Send", "a_function_of_some_length (file.c:120)", "1.00", "12", "13.2 kB"].map(str::to_owned).to_vec(),
        );
        table
    }

    fn heads(table: &TextTable) -> Vec<&str> {
        table.heads.iter().filter_map(|head| head.lines().next()).collect()
    }

    #[test]
    fn columns_are_left_out_only_where_the_flexible_one_has_too_little_room() {
        const SPARE: &[&[&str]] = &[&["bytes"], &["mean", "calls"]];
        assert_eq!(heads(&table().sparing(80, SPARE)), ["call", "at", "mean", "calls", "bytes"]);
        // Its 38 columns become 29, which can still be read.
        assert_eq!(heads(&table().sparing(59, SPARE)).len(), 5);
        assert_eq!(heads(&table().sparing(57, SPARE)), ["call", "at", "mean", "calls"]);
        assert_eq!(heads(&table().sparing(30, SPARE)), ["call", "at"]);
        let text = table().sparing(30, SPARE).render(30, anstyle::Style::new());
        assert!(text.lines().all(|line| text_width(line) <= 30), "{text}");
    }

    #[test]
    fn the_flexible_column_is_found_again_behind_one_that_is_left_out() {
        let text = table().sparing(30, &[&["call"], &["mean", "calls", "bytes"]]).render(30, anstyle::Style::new());
        assert!(text.starts_with("  at\n  a_function_of_some_length\n    (file.c:120)"), "{text}");
    }
}
