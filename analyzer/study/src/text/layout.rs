//! A table's figures: runs as columns, as papers print them, or as rows where there are too many for the line.

use anstyle::Style;

use super::{BAD, DASH, DIM, GOOD};
use crate::phrases::format_value;
use crate::table::{FigureLine, FigureTable, FigureUnit, RunColumn, TableCell, TableSection, figures};
use lbprof_report::rows::table::TextTable as Layout;
use lbprof_report::rows::words::{TimeUnit, escape_name, format_plural, wrap_text};
use lbprof_thresholds::study::MIN_PRINTED_FIGURE;

/// After the best figure of a line, and after the worst.
const BEST: char = '+';
const WORST: char = '-';

pub(super) fn render_figures(table: &FigureTable, columns: usize) -> String {
    let side_by_side = as_columns(table);
    let text = match side_by_side.natural_width() <= columns {
        true => side_by_side.render(columns, DIM),
        false => as_rows(table, columns),
    };
    colour_figures(&text)
}

/// A run is a column; a line shows its unit where a section begins.
fn as_columns(table: &FigureTable) -> Layout {
    let key: Vec<String> = table.by.iter().map(|key| escape_name(key)).collect();
    let mut heads = vec![format!("<{}", key.join("\n"))];
    heads.extend(table.columns.iter().map(|column| column_values(column).collect::<Vec<_>>().join("\n")));
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut layout = Layout::new(&heads, 0);
    let numbers = table.columns.iter().map(|column| format!("{} ", column_number(column))).collect();
    layout.row(named_row("run", numbers));
    for section in &table.sections {
        let format = FigureFormat::for_section(section);
        let head = format!("{}{}", section.name, format.unit());
        layout.row(named_row(&head, vec![String::new(); table.columns.len()]));
        for line in section.lines.iter().filter(|line| is_shown(section, line)) {
            layout.row(named_row(&format!("  {}", line.name), line_cells(line, &format)));
            if let Some(ranges) = line_ranges(line, section, &format) {
                layout.row(named_row("    from – to", ranges));
            }
        }
    }
    layout
}

fn named_row(name: &str, cells: Vec<String>) -> Vec<String> {
    [vec![name.to_owned()], cells].concat()
}

fn is_shown(section: &TableSection, line: &FigureLine) -> bool {
    section.unit != FigureUnit::Share || line.cells.iter().flatten().any(|cell| cell.value.abs() >= MIN_PRINTED_FIGURE)
}

/// A run is a row; a table for each section, or more where its lines are too many.
fn as_rows(table: &FigureTable, columns: usize) -> String {
    let mut text = String::new();
    for section in &table.sections {
        let format = FigureFormat::for_section(section);
        let shown: Vec<&FigureLine> = section.lines.iter().filter(|line| is_shown(section, line)).collect();
        let mut rest: &[&FigureLine] = &shown;
        while !rest.is_empty() {
            let mut n = rest.len();
            while n > 1 && rows_layout(table, section, &rest[..n], &format).natural_width() > columns {
                n -= 1;
            }
            text.push_str(&rows_layout(table, section, &rest[..n], &format).render(columns, DIM));
            text.push('\n');
            rest = &rest[n..];
        }
    }
    text.pop();
    text
}

fn rows_layout(table: &FigureTable, section: &TableSection, lines: &[&FigureLine], format: &FigureFormat) -> Layout {
    const NAME: usize = 15;
    let keys = table.by.iter().map(|key| format!("{} ", escape_name(key)));
    let names = lines.iter().map(|line| {
        let broken = wrap_text(line.name, NAME, 0);
        broken.lines().map(|line| format!("{line} ")).collect::<Vec<_>>().join("\n")
    });
    let first = format!("<{}\n{}", section.name, format.unit().trim_start());
    let heads: Vec<String> = std::iter::once(first).chain(keys).chain(names).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut layout = Layout::new(&heads, 0);
    let cells: Vec<Vec<String>> = lines.iter().map(|line| line_cells(line, format)).collect();
    for (at, column) in table.columns.iter().enumerate() {
        let own = cells.iter().filter_map(|line| line.get(at).cloned());
        let name = if column.runs.len() > 1 { column_number(column) } else { format!("run {}", column_number(column)) };
        layout.row(std::iter::once(name).chain(column_values(column)).chain(own).collect());
    }
    layout
}

fn column_values(column: &RunColumn) -> impl Iterator<Item = String> {
    column.values.iter().map(|of| format!("{} ", of.as_ref().map_or_else(|| DASH.to_owned(), format_value)))
}

fn column_number(column: &RunColumn) -> String {
    match column.runs.as_slice() {
        [one] => one.to_string(),
        several => format_plural(several.len() as u64, "run"),
    }
}

/// The format of the figures of a section: all in one unit.
struct FigureFormat {
    unit: FigureUnit,
    time: TimeUnit,
}

impl FigureFormat {
    fn for_section(section: &TableSection) -> FigureFormat {
        let all = section.lines.iter().flat_map(|line| line.cells.iter().flatten());
        let max = all.map(|cell| cell.value).fold(0.0, f64::max);
        FigureFormat { unit: section.unit, time: TimeUnit::for_max(max) }
    }

    fn unit(&self) -> String {
        match self.unit {
            FigureUnit::Seconds => format!(" [{}]", self.time.symbol),
            FigureUnit::Share => " [%]".to_owned(),
            FigureUnit::Ratio => String::new(),
        }
    }

    fn number(&self, figure: f64) -> String {
        match self.unit {
            FigureUnit::Seconds => self.time.number(figure),
            FigureUnit::Share => format!("{:.1}", 100.0 * figure),
            FigureUnit::Ratio => format!("{figure:.3}"),
        }
    }
}

fn line_cells(line: &FigureLine, format: &FigureFormat) -> Vec<String> {
    let marked = line.best_and_worst();
    let texts = line.cells.iter().enumerate().map(|(at, cell)| {
        let sign = match marked {
            Some((best, _)) if best == at => BEST,
            Some((_, worst)) if worst == at => WORST,
            _ => ' ',
        };
        let number = cell.map_or_else(|| DASH.to_owned(), |cell| format.number(cell.value));
        format!("{number}{sign}")
    });
    texts.collect()
}

/// From where to where the first line of a section goes in repeated runs; `None` where there are none.
fn line_ranges(line: &FigureLine, section: &TableSection, format: &FigureFormat) -> Option<Vec<String>> {
    let is_first = section.lines.first().is_some_and(|first| first.name == line.name);
    if !is_first || section.name == figures::OVERHEADS || !line.cells.iter().flatten().any(TableCell::has_range) {
        return None;
    }
    let texts = line.cells.iter().map(|cell| match cell.filter(TableCell::has_range) {
        Some(TableCell { range: (from, to), .. }) => format!("{}–{} ", format.number(from), format.number(to)),
        None => String::new(),
    });
    Some(texts.collect())
}

fn colour_figures(text: &str) -> String {
    text.split_inclusive('\n').map(|line| line.split_inclusive(' ').map(colour_word).collect::<String>()).collect()
}

fn colour_word(word: &str) -> String {
    let figure = word.trim_end();
    let style: Style = match figure.chars().last() {
        _ if !figure.starts_with(|first: char| first.is_ascii_digit()) => return word.to_owned(),
        Some(BEST) => GOOD,
        Some(WORST) => BAD,
        _ => return word.to_owned(),
    };
    format!("{style}{figure}{style:#}{}", &word[figure.len()..])
}
