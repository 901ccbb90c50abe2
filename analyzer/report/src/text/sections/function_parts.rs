//! Tables of functions by region.

use crate::code::functions::{FunctionRow, OtherFunctions};
use crate::fraction_of;
use crate::rows::words::{escape_name, short_path};
use crate::text::columns::{ColumnCell, lay_out_table, mean_line};
use crate::text::{TextOptions, format_note, format_title};
use lbprof_thresholds::wording::{MIN_FUNCTION_OF_LIBRARY, MIN_LISTED_ROW};

/// Default numbers of regions and of functions in each.
const FEW: (usize, usize) = (3, 4);

/// Columns that are dropped from short lines.
const SPARE: &[&[&str]] = &[&["on"], &["instructions"], &["min"], &["max"], &["IPC"]];

/// A region, or the whole program, and its functions.
pub(super) struct FunctionSection<'a> {
    pub region: &'a str,
    /// CPU time, the mean over ranks.
    pub cpu_s: f64,
    /// Fraction of the CPU time of the whole program.
    pub share: f64,
    /// Excess of its slowest rank over the mean, and that rank.
    pub excess: Option<(f64, u32)>,
    pub functions: &'a [FunctionRow],
    pub others: &'a OtherFunctions,
}

/// Returns the regions, or the whole program if there is only one.
pub(super) fn regions_of<'a, T>(program: &'a T, regions: &'a [T]) -> &'a [T] {
    if regions.len() > 1 { regions } else { std::slice::from_ref(program) }
}

pub(super) fn render_sections(parts: &[FunctionSection], name: &str, facts: &str, options: &TextOptions) -> String {
    let few = if options.full { (2 * FEW.0, 2 * FEW.1) } else { FEW };
    let (most_parts, most_functions) = if let [_] = parts { (1, few.0 * few.1) } else { few };
    let heads = ["~function", "share", "mean", "min", "max", "on\nrank", "slowest rank\n− mean", "instructions", "IPC"];
    let indent = if parts.len() > 1 { "  " } else { "" };
    let mut lines = Vec::new();
    let large = parts.iter().take_while(|part| part.share >= MIN_LISTED_ROW).count();
    let (listed, others) = parts.split_at(large.min(most_parts));
    for part in listed {
        if parts.len() > 1 {
            let excess =
                part.excess.map(|(excess_s, rank)| [ColumnCell::rank(rank), ColumnCell::Excess(excess_s, None)]);
            let more = [ColumnCell::Empty, ColumnCell::Empty].into_iter().chain(excess.into_iter().flatten());
            lines.push(mean_line(escape_name(short_path(part.region)), part.share, part.cpu_s, more));
        }
        let listed = part.functions.iter().filter(|row| row.share * part.share >= MIN_LISTED_ROW).take(most_functions);
        let (mut n, mut shown_s) = (0, 0.0);
        for row in listed {
            (n, shown_s) = (n + 1, shown_s + row.mean_s);
            lines.push(mean_line(
                format!("{indent}{}", escape_name(&row.name.label())),
                row.share,
                row.mean_s,
                function_figures(row),
            ));
            for library in row.libraries.iter().filter(|library| library.share >= MIN_FUNCTION_OF_LIBRARY) {
                let name = format!("{indent}  calls {}", escape_name(&library.name.label()));
                lines.push(mean_line(name, row.share * library.share, library.mean_s, []));
            }
        }
        let hidden = part.functions.len() + part.others.functions - n;
        let hidden_s: f64 = part.functions.iter().map(|row| row.mean_s).sum::<f64>() + part.others.mean_s - shown_s;
        if hidden > 0 {
            lines.push(mean_line(
                format!("{indent}others ({hidden})"),
                fraction_of(hidden_s, part.cpu_s),
                hidden_s,
                [],
            ));
        }
    }
    if !others.is_empty() {
        let (share, cpu_s) = others.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.share, sum.1 + part.cpu_s));
        lines.push(mean_line(format!("others ({})", others.len()), share, cpu_s, []));
    }
    let facts = if facts.is_empty() { facts.to_owned() } else { format_note(facts, options) };
    format!("{}{facts}{}", format_title(name, 0, 0), lay_out_table(&heads, &lines, SPARE, options))
}

fn function_figures(row: &FunctionRow) -> [ColumnCell; 6] {
    [
        ColumnCell::Time(row.min_s),
        ColumnCell::Time(row.max_s),
        ColumnCell::rank(row.max_rank),
        ColumnCell::or_dash(row.significant.then_some(row.excess_s), |excess_s| {
            ColumnCell::Excess(excess_s, Some(row.excess_error_s))
        }),
        // Most virtual machines have no counters.
        ColumnCell::of_some(row.instructions, ColumnCell::Quantity),
        ColumnCell::of_some(row.ipc, ColumnCell::Ratio),
    ]
}
