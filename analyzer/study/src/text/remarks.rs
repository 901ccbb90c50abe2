//! Writes the remarks below a table.

use std::fmt::Write;

use super::{DIM, NOTE};
use crate::table::FigureTable;
use lbprof_report::rows::words::wrap_text;

pub(super) fn render_table_remarks(table: &FigureTable, columns: usize) -> String {
    let mut text = String::new();
    for remark in &table.remarks {
        let style = if remark.is_warning { NOTE } else { DIM };
        writeln!(text, "  {style}{}{style:#}", wrap_text(&remark.text, columns - 2, 2)).ok();
    }
    if table.sections.iter().flat_map(|section| &section.lines).any(|line| line.best_and_worst().is_some()) {
        writeln!(text, "  {DIM}{}{DIM:#}", wrap_text("+ best and - worst of a line", columns - 2, 2)).ok();
    }
    text
}
