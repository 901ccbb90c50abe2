//! The sentence above a table: the efficiency that limits the speedup, or the fastest of the runs.

use crate::table::figures::{BALANCE, EFFICIENCY, ELAPSED, TIME};
use crate::table::{FigureTable, TableCell, name_column};
use lbprof_report::rows::words::{format_plural, format_seconds};
use lbprof_thresholds::study::{MIN_DIFFERENCE_OF_BEST, MIN_FALL_OF_EFFICIENCY};

/// Returns what the table says first: `From 2 to 6 ranks load balance falls from 75 to 59 %: this limits the speedup.` Empty if all columns are alike.
pub fn scaling_sentence(table: &FigureTable) -> String {
    let columns = table.columns.iter().map(|column| column.n_ranks).enumerate();
    let few = columns.clone().min_by_key(|&(_, n_ranks)| n_ranks);
    match (few, columns.max_by_key(|&(_, n_ranks)| n_ranks)) {
        (Some((few, fewest)), Some((many, most))) if fewest < most => limit_of_speedup(table, few, many),
        _ => fastest_column(table),
    }
}

/// Returns which efficiency falls most from few ranks to many, or that the work itself grows.
fn limit_of_speedup(table: &FigureTable, few: usize, many: usize) -> String {
    let ranks = [few, many].map(|column| table.columns[column].n_ranks);
    let range = format!("From {} to {}", ranks[0], format_plural(u64::from(ranks[1]), "rank"));
    let has_parts = named_cell(table, EFFICIENCY, "transfer", few).is_some();
    let communication: &[&str] = if has_parts { &["micro load balance µLB", "transfer"] } else { &["communication"] };
    let factors = [&[BALANCE], communication].concat();
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
    let times =
        (0..table.columns.len()).filter_map(|column| Some((column, named_cell(table, TIME, ELAPSED, column)?.value)));
    let mut times: Vec<(usize, f64)> = times.collect();
    times.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(&(best, best_s)), Some(&(worst, worst_s))) = (times.first(), times.last()) else { return String::new() };
    let [best_name, worst_name] = [best, worst].map(|column| name_column(table, column));
    match best_s < (1.0 - MIN_DIFFERENCE_OF_BEST) * worst_s {
        true => format!(
            "{best_name} is the fastest, in {}: {worst_name} takes {:.2} times as long.",
            format_seconds(best_s),
            worst_s / best_s
        ),
        false => String::new(),
    }
}

fn named_cell(table: &FigureTable, section: &str, name: &str, column: usize) -> Option<TableCell> {
    table.line(section, name)?.cell(column)
}
