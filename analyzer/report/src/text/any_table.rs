//! Prints any list of the JSON as a table, by its name.

use crate::Report;
use crate::rows::fold::fold_text;
use crate::rows::table::TextTable;
use crate::rows::words::format_quantity;
use crate::text::csv;
use crate::text::csv::CsvTable;
use crate::text::{DIM, TextOptions, format_note, format_title};

const MAX_HEAD: usize = 14;

/// An error: the report has no table of this name.
#[derive(Debug, thiserror::Error)]
#[error("there is no table {name} in this report, but {}", others.join(", "))]
pub struct NoSuchTable {
    name: String,
    others: Vec<String>,
}

/// Returns the list of the JSON with this name as text or Markdown. Its columns are the keys, except those that are null in every row.
pub fn list_as_table(
    report: &Report,
    name: &str,
    options: &TextOptions,
    is_markdown: bool,
) -> Result<String, NoSuchTable> {
    let tables = csv::csv_tables(report);
    let Some(wanted) = tables.iter().find(|table| table.name == name) else {
        let others = tables.into_iter().map(|table| table.name).collect();
        return Err(NoSuchTable { name: name.to_owned(), others });
    };
    let table = with_short_numbers(wanted);
    if is_markdown {
        return Ok(table.to_markdown());
    }
    let (table, left_out) = table.within(options.columns);
    let text = format!("{}{}", format_title(name, 0, 0), table.render(options.columns, DIM));
    if left_out.is_empty() {
        return Ok(text);
    }
    let left_out: Vec<String> = left_out.iter().map(|head| head.split_whitespace().collect()).collect();
    Ok(text + &format_note(&format!("no room for {}; --csv DIR writes all", left_out.join(", ")), options))
}

/// Right-aligns numbers and drops columns without values.
fn with_short_numbers(table: &CsvTable) -> TextTable {
    let columns = (0..table.columns.len()).filter(|&at| table.rows.iter().any(|row| !row[at].is_empty()));
    let columns: Vec<usize> = columns.collect();
    let is_number = columns.iter().map(|&at| table.rows.iter().all(|row| is_number(&row[at])));
    let is_number: Vec<bool> = is_number.collect();
    let heads = columns.iter().zip(&is_number).map(|(&at, is_number)| {
        let name = table.columns[at].as_str();
        let head = if name.len() > MAX_HEAD { fold_text(&name.replace('.', ". "), MAX_HEAD) } else { name.to_owned() };
        if *is_number { head } else { format!("<{head}") }
    });
    let heads: Vec<String> = heads.collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut text = TextTable::new(&heads, is_number.iter().position(|is_number| !is_number).unwrap_or(0));
    for row in &table.rows {
        text.row(columns.iter().map(|&at| short_number(&row[at])).collect());
    }
    text
}

fn is_number(cell: &str) -> bool {
    cell.is_empty() || cell.parse::<f64>().is_ok()
}

/// Rounds a number that is not whole, and strips the apostrophe that protects spreadsheets from formulas.
fn short_number(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(value) if cell.contains(['.', 'e']) => format_quantity(value),
        _ => cell.strip_prefix('\'').filter(|rest| rest.starts_with(['=', '+', '-', '@'])).unwrap_or(cell).to_owned(),
    }
}
