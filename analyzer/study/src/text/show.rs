//! Tables of runs side by side.

use std::fmt::Write;

use super::scaling_sentence::scaling_sentence;
use super::{BOLD, DIM, layout, remarks};
use crate::phrases::format_key;
use crate::table::FigureTable;
use lbprof_report::rows::words::{escape_name, short_path, wrap_text};

/// The tables, each with what must be said beside it.
pub fn render_tables(tables: &[FigureTable], columns: usize) -> String {
    tables.iter().map(|table| render_table(table, columns)).collect::<Vec<_>>().join("\n")
}

fn render_table(table: &FigureTable, columns: usize) -> String {
    let program = if table.program.is_empty() { "(program not known)".to_owned() } else { escape_name(&table.program) };
    let region = table.region.iter().map(|region| format!("region {}", escape_name(short_path(region))));
    let facts: Vec<String> = region.chain(table.fixed.iter().map(|(key, value)| format_key(key, value))).collect();
    let facts = facts.join(" · ");
    let mut text = format!("{BOLD}{program}{BOLD:#}");
    if !facts.is_empty() {
        write!(text, "  {DIM}{}{DIM:#}", wrap_text(&facts, columns.saturating_sub(program.len() + 2), 2)).ok();
    }
    let sentence = scaling_sentence(table);
    let sentence = if sentence.is_empty() { sentence } else { format!("\n{}\n\n", wrap_text(&sentence, columns, 0)) };
    text + "\n" + &sentence + &layout::render_figures(table, columns) + &remarks::render_table_remarks(table, columns)
}
