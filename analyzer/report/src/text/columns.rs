//! Tables whose columns describe themselves: a head, a function for the cell of a row, and whether cells add up.
//!
//! Rows below 0.1 % of the whole and rows beyond the limit form one row `others (12)`. Columns without cells are omitted. Times share the unit of the
//! longest.

use super::{DIM, TextOptions, format_note, format_title};
use crate::rows::table::TextTable;
use crate::rows::words::{
    TimeUnit, format_bytes, format_count, format_percent, format_quantity, or_dash, signed_percent,
};
use lbprof_thresholds::wording::MIN_LISTED_ROW;

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ColumnCell {
    /// Nothing: the row has no such value.
    Empty,
    /// A value that is not known: a dash.
    Unknown,
    Text(String),
    /// Seconds.
    Time(f64),
    /// Seconds more than others, and their standard error.
    Excess(f64, Option<f64>),
    /// A fraction of a whole.
    Share(f64),
    /// A relative difference, with its sign.
    Change(f64),
    Count(u64),
    /// The number of a rank, thread or cluster.
    Number(u64),
    Bytes(u64),
    /// A number of any size from the user.
    Quantity(f64),
    /// A quotient.
    Ratio(f64),
}

impl ColumnCell {
    /// Returns a value as a cell, or a dash.
    pub(super) fn or_dash<T>(value: Option<T>, cell: impl FnOnce(T) -> ColumnCell) -> ColumnCell {
        value.map_or(ColumnCell::Unknown, cell)
    }

    /// Returns a value as a cell, or an empty one.
    pub(super) fn of_some<T>(value: Option<T>, cell: impl FnOnce(T) -> ColumnCell) -> ColumnCell {
        value.map_or(ColumnCell::Empty, cell)
    }

    /// Returns a number as a cell, or an empty one for 0.
    pub(super) fn nonzero(value: u64, cell: impl FnOnce(u64) -> ColumnCell) -> ColumnCell {
        ColumnCell::of_some((value > 0).then_some(value), cell)
    }

    pub(super) fn rank(rank: u32) -> ColumnCell {
        ColumnCell::Number(rank.into())
    }

    fn plus(self, other: ColumnCell) -> ColumnCell {
        match (self, other) {
            (ColumnCell::Time(a), ColumnCell::Time(b)) => ColumnCell::Time(a + b),
            (ColumnCell::Share(a), ColumnCell::Share(b)) => ColumnCell::Share(a + b),
            (ColumnCell::Count(a), ColumnCell::Count(b)) => ColumnCell::Count(a.saturating_add(b)),
            (ColumnCell::Bytes(a), ColumnCell::Bytes(b)) => ColumnCell::Bytes(a.saturating_add(b)),
            (ColumnCell::Empty | ColumnCell::Unknown, other) => other,
            (cell, _) => cell,
        }
    }

    fn seconds(&self) -> Option<f64> {
        match *self {
            ColumnCell::Time(seconds) | ColumnCell::Excess(seconds, _) => Some(seconds),
            _ => None,
        }
    }

    fn in_words(&self, unit: TimeUnit) -> String {
        match self {
            ColumnCell::Empty => String::new(),
            ColumnCell::Unknown => "–".to_owned(),
            ColumnCell::Text(text) => text.clone(),
            ColumnCell::Time(seconds) => unit.number(*seconds).replace('-', "−"),
            ColumnCell::Excess(seconds, error_s) => {
                let sign = if *seconds < 0.0 { "−" } else { "+" };
                let error = error_s.map(|error_s| format!(" ± {}", unit.number(error_s)));
                format!("{sign}{}{}", unit.number(seconds.abs()), error.unwrap_or_default())
            }
            ColumnCell::Share(share) => format_percent(*share).replace('-', "−"),
            ColumnCell::Change(share) => signed_percent(*share),
            ColumnCell::Count(n) => format_count(*n),
            ColumnCell::Number(n) => n.to_string(),
            ColumnCell::Bytes(n) => format_bytes(*n),
            ColumnCell::Quantity(value) => format_quantity(*value),
            ColumnCell::Ratio(value) => {
                or_dash(Some(value).filter(|value| value.is_finite()), |value| format!("{value:.2}"))
            }
        }
    }
}

/// A column: its head and the cell of a row. A head starts with `<` for words, `~` for names that wrap in narrow tables, and `+` if cells add up.
pub(super) struct TextColumn<Row>(pub(super) &'static str, pub(super) fn(&Row) -> ColumnCell);

/// A table with rows of one type.
pub(super) struct ColumnTable<Row: 'static> {
    pub(super) name: &'static str,
    pub(super) columns: &'static [TextColumn<Row>],
    /// Groups of columns that are dropped from short lines, in this order, by the first lines of their heads.
    pub(super) spare: &'static [&'static [&'static str]],
    /// Share of the whole of a row, by which small ones are summed up, or `None` if rows do not add up.
    pub(super) weight: Option<fn(&Row) -> f64>,
}

impl<Row: 'static> ColumnTable<Row> {
    /// Renders the table with its title and notes, the largest rows first. Returns nothing without rows.
    pub(super) fn section<'a>(
        &self,
        rows: impl IntoIterator<Item = &'a Row>,
        notes: &[&str],
        options: &TextOptions,
    ) -> String {
        let rows: Vec<&Row> = rows.into_iter().collect();
        let (mut listed, mut others): (Vec<&Row>, Vec<&Row>) =
            rows.iter().copied().partition(|row| self.weight.is_none_or(|weight| weight(row) >= MIN_LISTED_ROW));
        let most = if self.weight.is_some() { options.limit_of_sums() } else { options.limit() };
        let beyond = listed.split_off(listed.len().min(most));
        let is_cut = self.weight.is_none() && !beyond.is_empty();
        let shown = if is_cut { listed.len() } else { rows.len() };
        others.extend(beyond.into_iter().filter(|_| !is_cut));
        let mut lines: Vec<Vec<ColumnCell>> = listed.into_iter().map(|row| self.cells(row)).collect();
        // Less is printed as 0.0 %.
        let others_share: f64 = others.iter().filter_map(|row| Some(self.weight?(row))).sum();
        lines.extend(self.sum_of(&others).filter(|_| others_share >= MIN_LISTED_ROW / 2.0));
        if lines.is_empty() {
            return String::new();
        }
        let heads: Vec<&'static str> = self.columns.iter().map(|column| column.0).collect();
        let table = lay_out_table(&heads, &lines, self.spare, options);
        let notes: String = notes.iter().map(|text| format_note(text, options)).collect();
        format!("{}{table}{notes}\n", format_title(self.name, shown, rows.len()))
    }

    fn cells(&self, row: &Row) -> Vec<ColumnCell> {
        self.columns.iter().map(|column| (column.1)(row)).collect()
    }

    fn sum_of(&self, rows: &[&Row]) -> Option<Vec<ColumnCell>> {
        let lines = rows.iter().map(|row| self.cells(row));
        let sums = lines.reduce(|sums, line| sums.into_iter().zip(line).map(|(sum, cell)| sum.plus(cell)).collect())?;
        let name = ColumnCell::Text(format!("others ({})", format_count(rows.len() as u64)));
        let sums = sums.into_iter().zip(self.columns).skip(1);
        let sums = sums.map(|(sum, column)| if column.0.starts_with('+') { sum } else { ColumnCell::Empty });
        Some(std::iter::once(name).chain(sums).collect())
    }
}

/// Returns a line of a name, its share and mean time, and further cells.
pub(super) fn mean_line(
    name: String,
    share: f64,
    mean_s: f64,
    more: impl IntoIterator<Item = ColumnCell>,
) -> Vec<ColumnCell> {
    let cells = [ColumnCell::Text(name), ColumnCell::Share(share), ColumnCell::Time(mean_s)];
    cells.into_iter().chain(more).collect()
}

/// Renders lines under heads with the marks of [`TextColumn`]. Short lines are filled up, and columns without cells are omitted.
pub(super) fn lay_out_table(
    heads: &[&str],
    lines: &[Vec<ColumnCell>],
    spare: &[&[&str]],
    options: &TextOptions,
) -> String {
    let mut lines = lines.to_vec();
    for line in &mut lines {
        line.resize(heads.len(), ColumnCell::Empty);
    }
    let longest_s = lines.iter().flatten().filter_map(ColumnCell::seconds).map(f64::abs).fold(0.0, f64::max);
    let unit = TimeUnit::for_max(longest_s);
    let used = (0..heads.len()).filter(|&at| lines.iter().any(|line| line[at] != ColumnCell::Empty));
    let used: Vec<usize> = used.collect();
    if used.is_empty() {
        return String::new();
    }
    let flexible = used.iter().position(|&at| heads[at].starts_with('~')).unwrap_or(0);
    let heads = used.iter().map(|&at| {
        let head = heads[at].trim_start_matches('+').replace('~', "<");
        let is_time = lines.iter().any(|line| line[at].seconds().is_some());
        if is_time { format!("{head}\n[{}]", unit.symbol) } else { head }
    });
    let heads: Vec<String> = heads.collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = TextTable::new(&heads, flexible);
    for line in &lines {
        table.row(used.iter().map(|&at| line[at].in_words(unit)).collect());
    }
    table.sparing(options.columns, spare).render(options.columns, DIM)
}
