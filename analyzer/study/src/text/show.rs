//! Tables of runs side by side.

use std::fmt::Write;

use super::scaling_sentence::scaling_sentence;
use super::{BOLD, DIM, layout, named, remarks};
use crate::table::FigureTable;
use lbprof_report::words::{clean, short_path, wrap};

/// The tables, each with what must be said beside it.
pub fn show(tables: &[FigureTable], columns: usize) -> String {
    tables.iter().map(|table| render_table(table, columns)).collect::<Vec<_>>().join("\n")
}

fn render_table(table: &FigureTable, columns: usize) -> String {
    let program = if table.program.is_empty() { "(program not known)".to_owned() } else { clean(&table.program) };
    let mut parts = Vec::new();
    if let Some(region) = &table.region {
        parts.push(format!("region {}", clean(short_path(region))));
    }
    parts.extend(table.fixed.iter().map(|(key, value)| named(key, value)));
    let facts = parts.join(" · ");
    let mut text = format!("{BOLD}{program}{BOLD:#}");
    if !facts.is_empty() {
        write!(text, "  {DIM}{}{DIM:#}", wrap(&facts, columns.saturating_sub(program.len() + 2), 2)).ok();
    }
    text.push('\n');
    let sentence = scaling_sentence(table);
    if !sentence.is_empty() {
        writeln!(text, "\n{}\n", wrap(&sentence, columns, 0)).ok();
    }
    text.push_str(&layout::lines(table, columns));
    text.push_str(&remarks::lines(table, columns));
    text
}
