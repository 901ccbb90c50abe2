//! The sentence above a table: the efficiency that limits the speedup, or the fastest of the runs.

use crate::phrases::format_key;
use crate::table::figures::{EFFICIENCY, TIME};
use crate::table::{FigureTable, TableCell};
use lbprof_report::words::{format_plural, format_seconds};
use lbprof_thresholds::study::{MIN_DIFFERENCE_OF_BEST, MIN_FALL_OF_EFFICIENCY};

/// Returns what the table says first: `From 2 to 6 ranks load balance falls from 75 to 59 %: this limits the speedup.` Empty if all columns are alike.
pub fn scaling_sentence(table: &FigureTable) -> String {
    let n_ranks = |column: &usize| table.columns.get(*column).map_or(0, |column| column.n_ranks);
    let columns = 0..table.columns.len();
    let (Some(few), Some(many)) = (columns.clone().min_by_key(n_ranks), columns.max_by_key(n_ranks)) else {
        return String::new();
    };
    match n_ranks(&few) < n_ranks(&many) {
        true => limit_of_speedup(table, few, many),
        false => fastest_column(table),
    }
}

/// Returns which efficiency falls most from few ranks to many, or that the work itself grows.
fn limit_of_speedup(table: &FigureTable, few: usize, many: usize) -> String {
    let ranks = [few, many].map(|column| table.columns[column].n_ranks);
    let range = format!("From {} to {}", ranks[0], format_plural(u64::from(ranks[1]), "rank"));
    let has_parts = named_cell(table, EFFICIENCY, "transfer", few).is_some();
    let communication: &[&str] = if has_parts { &["micro load balance µLB", "transfer"] } else { &["communication"] };
    let factors = [&["load balance LB"], communication].concat();
    let falls = factors.into_iter().filter_map(|name| {
        let [first, last] = [few, many].map(|column| named_cell(table, EFFICIENCY, name, column));
        Some((name, first?.value, last?.value))
    });
    let work = [few, many].map(|column| {
        let mean = named_cell(table, TIME, "mean computation", column)?;
        Some(mean.value * f64::from(table.columns[column].n_ranks))
    });
    let worst = falls.min_by(|a, b| (a.2 / a.1).total_cmp(&(b.2 / b.1)));
    let growth = if let [Some(first), Some(last)] = work { last / first } else { 1.0 };
    match worst {
        Some((name, first, last)) if last < (1.0 - MIN_FALL_OF_EFFICIENCY) * first && last / first <= 1.0 / growth => {
            let name = name.trim_end_matches(|one: char| one.is_uppercase() || one == 'µ' || one == ' ');
            format!("{range} {name} falls from {:.0} to {:.0} %: this limits the speedup.", 100.0 * first, 100.0 * last)
        }
        _ if growth > 1.0 + MIN_FALL_OF_EFFICIENCY => {
            format!("{range} the computation of all ranks together grows {growth:.2} times: this limits the speedup.")
        }
        Some(_) => format!("{range} no efficiency falls by more than {:.0} %.", 100.0 * MIN_FALL_OF_EFFICIENCY),
        None => String::new(),
    }
}

/// Returns the column with the shortest time against the one with the longest.
fn fastest_column(table: &FigureTable) -> String {
    let times = (0..table.columns.len())
        .filter_map(|column| Some((column, named_cell(table, TIME, "elapsed T", column)?.value)));
    let mut times: Vec<(usize, f64)> = times.collect();
    times.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(&(best, best_s)), Some(&(worst, worst_s))) = (times.first(), times.last()) else { return String::new() };
    let [Some(best_name), Some(worst_name)] = [best, worst].map(|column| column_name(table, column)) else {
        return String::new();
    };
    match best_s < (1.0 - MIN_DIFFERENCE_OF_BEST) * worst_s {
        true => format!(
            "{best_name} is the fastest, in {}: {worst_name} takes {:.2} times as long.",
            format_seconds(best_s),
            worst_s / best_s
        ),
        false => String::new(),
    }
}

fn column_name(table: &FigureTable, column: usize) -> Option<String> {
    let values = table.by.iter().zip(&table.columns.get(column)?.values);
    let names: Vec<String> = values.filter_map(|(key, value)| Some(format_key(key, value.as_ref()?))).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn named_cell(table: &FigureTable, section: &str, name: &str, column: usize) -> Option<TableCell> {
    let section = table.sections.iter().find(|one| one.name == section)?;
    section.lines.iter().find(|line| line.name == name)?.cell(column)
}
