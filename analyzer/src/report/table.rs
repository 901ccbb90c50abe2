//! Tables of text: a head, rows, one column that gives way when the lines get too long.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table as Layout};

use super::words::{shorten, width};

/// A table. The cells of its first row are heads.
pub struct Table {
    heads: Vec<String>,
    aligned: Vec<CellAlignment>,
    rows: Vec<Vec<String>>,
    /// The column that is shortened where the lines get too long.
    flexible: usize,
}

/// Least columns of a terminal that the flexible column keeps.
const LEAST_FLEXIBLE: usize = 12;

/// Spaces before a table, and between its columns.
const INDENT: usize = 2;

impl Table {
    /// A table with a head for each column; one that begins with `<` is aligned to the left, others to the right. The
    /// column `flexible` is shortened where the lines get too long.
    pub fn new(heads: &[&str], flexible: usize) -> Table {
        let aligned = heads.iter().map(|head| match head.starts_with('<') {
            true => CellAlignment::Left,
            false => CellAlignment::Right,
        });
        Table {
            aligned: aligned.collect(),
            heads: heads.iter().map(|head| head.trim_start_matches('<').to_owned()).collect(),
            rows: Vec::new(),
            flexible,
        }
    }

    /// Adds a row, one cell a column.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.heads.len());
        self.rows.push(cells);
    }

    /// Columns of the terminal that it takes when its flexible column is as short as can be.
    pub fn least_width(&self) -> usize {
        let widths = self.widths();
        let flexible = widths[self.flexible];
        widths.iter().sum::<usize>() - flexible + flexible.min(LEAST_FLEXIBLE) + INDENT * widths.len()
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| {
            let cells = self.rows.iter().map(|row| width(&row[column]));
            cells.chain(self.heads[column].lines().map(width)).max().unwrap_or(0)
        };
        (0..self.heads.len()).map(widest).collect()
    }

    /// The table as lines of at most `columns`, as long as the other columns allow it; the heads in `bold`.
    pub fn render(mut self, columns: usize, bold: anstyle::Style) -> String {
        let widths = self.widths();
        let total: usize = widths.iter().sum::<usize>() + INDENT * widths.len();
        let room = (widths[self.flexible] + columns).saturating_sub(total).max(LEAST_FLEXIBLE);
        for row in &mut self.rows {
            row[self.flexible] = shorten(&row[self.flexible], room);
        }
        let mut layout = Layout::new();
        layout.load_style(comfy_table::presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let cell = |(text, align): (&String, &CellAlignment)| Cell::new(text).set_alignment(*align);
        layout.set_header(self.heads.iter().zip(&self.aligned).map(cell));
        for row in &self.rows {
            layout.add_row(row.iter().zip(&self.aligned).map(cell));
        }
        for column in layout.column_iter_mut() {
            column.set_padding((INDENT as u16, 0));
        }
        let head_lines = self.heads.iter().map(|head| head.lines().count()).max().unwrap_or(1);
        let line = |(at, line): (usize, String)| match at < head_lines {
            true => format!("{bold}{}{bold:#}\n", line.trim_end()),
            false => format!("{}\n", line.trim_end()),
        };
        layout.lines().enumerate().map(line).collect()
    }
}
