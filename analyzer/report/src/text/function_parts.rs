//! Tables of functions: regions, and the functions in each.

use super::{DIM, TextOptions, title};
use crate::functions::{FunctionRow, OtherFunctions};
use crate::table::TextTable;
use crate::words::{TimeUnit, clean, or_dash, percent, plural, quantity, short_path, wrap};
use lbprof_thresholds::wording::MIN_FUNCTION_OF_LIBRARY;

/// Regions, and functions in each, that are shown where not all are.
const FEW: (usize, usize) = (3, 4);

/// Columns that give way where lines are short.
const SPARE: &[&[&str]] = &[&["on"], &["instructions"], &["min"], &["max"], &["IPC"]];

/// A region, or the whole program, and its functions.
pub(super) struct FunctionSection<'a> {
    /// Path of the region.
    pub region: &'a str,
    /// CPU time, the mean over ranks.
    pub cpu_s: f64,
    /// Fraction of the CPU time of the whole program.
    pub share: f64,
    /// Excess of its slowest rank over the mean, and that rank.
    pub excess: Option<(f64, u32)>,
    /// Functions that are rows.
    pub functions: &'a [FunctionRow],
    /// Functions that are not rows.
    pub others: &'a OtherFunctions,
}

impl FunctionSection<'_> {
    /// The number of functions besides the first `shown`, and their mean CPU time.
    fn rest(&self, shown: usize) -> (usize, f64) {
        let hidden = self.functions.iter().skip(shown);
        let (n, sum_s) = hidden.fold((0, 0.0), |(n, sum_s), row| (n + 1, sum_s + row.mean_s));
        (n + self.others.functions, sum_s + self.others.mean_s)
    }
}

/// The regions that are shown; the whole program where it has no other.
pub(super) fn shown<'a, T>(program: &'a T, regions: &'a [T], options: &TextOptions) -> Vec<&'a T> {
    match regions {
        [] | [_] => vec![program],
        regions if options.full => regions.iter().collect(),
        regions => regions.iter().take(FEW.0).collect(),
    }
}

/// The table of these parts, under its name and the facts about it.
pub(super) fn render(
    parts: &[FunctionSection],
    unit: TimeUnit,
    name: &str,
    facts: &str,
    options: &TextOptions,
) -> String {
    let few = match parts {
        _ if options.full => usize::MAX,
        [_] => FEW.0 * FEW.1,
        _ => FEW.1,
    };
    let all: usize = parts.iter().map(|part| part.functions.len() + part.others.functions).sum();
    let shown: usize = parts.iter().map(|part| part.functions.len().min(few)).sum();
    let [mean, min, max] = ["mean", "min", "max"].map(|head| format!("{head}\n[{}]", unit.symbol));
    let excess = format!("slowest rank\n− mean [{}]", unit.symbol);
    // Most virtual machines count nothing.
    let is_counted = parts.iter().flat_map(|part| part.functions).any(|row| row.instructions.is_some());
    let mut heads = vec!["<function", "share", &mean, &min, &max, "on\nrank", &excess];
    if is_counted {
        heads.extend(["instructions", "IPC"]);
    }
    let mut table = TextTable::new(&heads, 0);
    let indent = if parts.len() > 1 { "  " } else { "" };
    for part in parts {
        if parts.len() > 1 {
            let excess = part.excess.map(|(excess_s, rank)| format!("{} (rank {rank})", SignedTime(unit, excess_s)));
            let mut cells = vec![clean(short_path(part.region)), percent(part.share), unit.number(part.cpu_s)];
            cells.extend((0..3).map(|_| String::new()));
            cells.push(excess.unwrap_or_default());
            cells.resize(heads.len(), String::new());
            table.row(cells);
        }
        for row in part.functions.iter().take(few) {
            let mut cells = vec![
                format!("{indent}{}", clean(&row.name.label())),
                percent(row.share),
                unit.number(row.mean_s),
                unit.number(row.min_s),
                unit.number(row.max_s),
                row.max_rank.to_string(),
                or_dash(row.significant.then_some(row.excess_s), |excess_s| {
                    with_error(unit, excess_s, row.excess_error_s)
                }),
            ];
            if is_counted {
                cells.push(or_dash(row.instructions, quantity));
                cells.push(or_dash(row.ipc, |ipc| format!("{ipc:.2}")));
            }
            table.row(cells);
            for library in row.libraries.iter().filter(|library| library.share >= MIN_FUNCTION_OF_LIBRARY) {
                let name = format!("{indent}  calls {}", clean(&library.name.label()));
                let mut cells = vec![name, percent(row.share * library.share), unit.number(library.mean_s)];
                cells.resize(heads.len(), String::new());
                table.row(cells);
            }
        }
        let (hidden, hidden_s) = part.rest(few);
        if hidden > 0 {
            let share = if part.cpu_s > 0.0 { hidden_s / part.cpu_s } else { 0.0 };
            let name = format!("{indent}{}", plural(hidden as u64, "other function"));
            let mut cells = vec![name, percent(share), unit.number(hidden_s)];
            cells.resize(heads.len(), String::new());
            table.row(cells);
        }
    }
    let mut text = title(name, shown, all).trim_end().to_owned();
    if !facts.is_empty() {
        text += &format!("  {DIM}{}{DIM:#}", wrap(facts, options.columns.saturating_sub(4), 2));
    }
    text.push('\n');
    text += &table.sparing(options.columns, SPARE).render(options.columns, DIM);
    text
}

/// `+1.22 ± 0.05`.
fn with_error(unit: TimeUnit, value_s: f64, error_s: f64) -> String {
    format!("{} ± {}", SignedTime(unit, value_s), unit.number(error_s))
}

/// A time with its sign.
struct SignedTime(TimeUnit, f64);

impl std::fmt::Display for SignedTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.1 < 0.0 { "−" } else { "+" };
        write!(f, "{sign}{}", self.0.number(self.1.abs()))
    }
}
