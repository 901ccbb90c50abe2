//! The functions in which ranks compute, and in which of them the slow rank does so longer than the others.

use super::{DIM, Options, title};
use crate::report::Report;
use crate::report::functions::{ExplainedExcess, FunctionTable, RegionFunctions};
use crate::report::table::Table;
use crate::report::words::{
    TimeUnit, clean, percent, plural, quantity, seconds, seconds_like, short_path, shorten, wrap,
};

/// Regions, and functions in each, that are shown where not all are.
const FEW: (usize, usize) = (3, 4);

/// Share of the computation of a region from which on it is reported that a rank did not run.
const NOT_RUNNING: f64 = 0.05;

/// Share of an excess from which on a function is named for it.
const NAMED: f64 = 0.1;

/// Most functions in a sentence.
const MOST_NAMED: usize = 2;

/// Most columns of a function in a sentence.
const LONGEST_NAME: usize = 60;

/// Columns that give way where lines are short.
const SPARE: &[&[&str]] = &[&["on rank"], &["least"], &["most"]];

pub(super) fn section(report: &Report, options: &Options) -> String {
    let Some(table) = report.functions.as_ref().filter(|table| table.samples > 0) else { return String::new() };
    let parts = parts(table, options);
    let all: usize = parts.iter().map(|part| part.functions.len() + part.others.functions).sum();
    let few = |part: &RegionFunctions| if options.full { usize::MAX } else { most(table, part) };
    let shown: usize = parts.iter().map(|part| part.functions.len().min(few(part))).sum();
    let unit = TimeUnit::for_max(parts.iter().map(|part| part.slowest_computation_s).fold(0.0, f64::max));
    let with_unit = |head: &str| format!("{head}\n[{}]", unit.symbol);
    let (mean, least, most_s, excess) =
        (with_unit("mean"), with_unit("least"), with_unit("most"), with_unit("slowest rank − mean"));
    let mut shown_table = Table::new(&["<function", "share", &mean, &least, &most_s, "on rank", &excess], 0);
    let dash = || "–".to_owned();
    for part in &parts {
        if parts.len() > 1 {
            let who =
                part.slowest_rank.map_or_else(dash, |rank| format!("{} (rank {rank})", Signed(unit, part.excess_s)));
            let share = if table.program.cpu_s > 0.0 { part.cpu_s / table.program.cpu_s } else { 0.0 };
            let name = clean(short_path(&part.region));
            shown_table.row(vec![
                name,
                percent(share),
                unit.number(part.cpu_s),
                String::new(),
                String::new(),
                String::new(),
                who,
            ]);
        }
        let indent = if parts.len() > 1 { "  " } else { "" };
        for row in part.functions.iter().take(few(part)) {
            shown_table.row(vec![
                format!("{indent}{}", clean(&row.name.label())),
                percent(row.share),
                unit.number(row.mean_s),
                unit.number(row.min_s),
                unit.number(row.max_s),
                row.max_rank.to_string(),
                if row.significant { with_error(unit, row.excess_s, row.excess_error_s) } else { dash() },
            ]);
        }
        let rest = rest(part, few(part));
        if rest.0 > 0 {
            let share = if part.cpu_s > 0.0 { rest.1 / part.cpu_s } else { 0.0 };
            let name = format!("{indent}{}", plural(rest.0 as u64, "other function"));
            let mut cells = vec![name, percent(share), unit.number(rest.1)];
            cells.extend((0..4).map(|_| String::new()));
            shown_table.row(cells);
        }
    }
    let facts = format!(
        "CPU time of computation by {} on {}, one each {}; ± is a standard error, – a difference within two",
        plural(table.samples, "sample"),
        plural(table.ranks as u64, "rank"),
        seconds(table.period_s)
    );
    let mut text = format!(
        "{}  {DIM}{}{DIM:#}\n",
        title("Functions", shown, all).trim_end(),
        wrap(&facts, options.columns.saturating_sub(4), 2)
    );
    text += &shown_table.sparing(options.columns, SPARE).render(options.columns, DIM);
    for line in notes(table) {
        text += &format!("  {DIM}{}{DIM:#}\n", wrap(&line, options.columns - 2, 2));
    }
    text + "\n"
}

/// The regions that are shown; the whole program where it has no other.
fn parts<'a>(table: &'a FunctionTable, options: &Options) -> Vec<&'a RegionFunctions> {
    match table.regions.as_slice() {
        [] | [_] => vec![&table.program],
        regions if options.full => regions.iter().collect(),
        regions => regions.iter().take(FEW.0).collect(),
    }
}

fn most(table: &FunctionTable, part: &RegionFunctions) -> usize {
    if std::ptr::eq(part, &table.program) { FEW.0 * FEW.1 } else { FEW.1 }
}

/// How many functions of a part are not shown, and their mean CPU time.
fn rest(part: &RegionFunctions, shown: usize) -> (usize, f64) {
    let hidden = part.functions.iter().skip(shown);
    let (n, sum_s) = hidden.fold((0, 0.0), |(n, sum_s), row| (n + 1, sum_s + row.mean_s));
    (n + part.others.functions, sum_s + part.others.mean_s)
}

/// `+1.22 ± 0.05`.
fn with_error(unit: TimeUnit, value_s: f64, error_s: f64) -> String {
    format!("{} ± {}", Signed(unit, value_s), unit.number(error_s))
}

/// A time with its sign.
struct Signed(TimeUnit, f64);

impl std::fmt::Display for Signed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.1 < 0.0 { "−" } else { "+" };
        write!(f, "{sign}{}", self.0.number(self.1.abs()))
    }
}

/// What is not in the table.
fn notes(table: &FunctionTable) -> Vec<String> {
    let mut notes = Vec::new();
    let program = &table.program;
    if let Some(rank) =
        program.not_running_rank.filter(|_| program.max_not_running_s >= NOT_RUNNING * program.computation_s)
    {
        notes.push(format!(
            "Not running (asleep, without a core, or in the kernel): {} of the computation in the mean, {} on rank {rank}.",
            seconds_like(program.not_running_s.max(0.0), program.computation_s),
            seconds_like(program.max_not_running_s, program.computation_s),
        ));
    }
    notes.extend(hardware(table));
    if table.other_threads_s > 0.0 {
        let ranks = table.ranks.max(1) as f64;
        notes.push(format!(
            "Other threads computed {} of CPU time a rank in the mean.",
            seconds(table.other_threads_s / ranks)
        ));
    }
    let all_s = table.computation_s + table.mpi_s;
    if table.unplaced_s > 0.01 * all_s {
        notes.push(format!(
            "{} of CPU time is not in the table: records are missing there, or calls were recorded as sums.",
            seconds(table.unplaced_s)
        ));
    }
    notes
}

/// What the processors counted.
fn hardware(table: &FunctionTable) -> Option<String> {
    let program = &table.program;
    let (row, rank) = (program.hardware.as_ref()?, program.slowest_rank?);
    let gigahertz =
        |frequency: Option<f64>| frequency.map_or_else(|| "–".to_owned(), |hz| format!("{:.2} GHz", hz * 1e-9));
    let per_cycle = |ipc: Option<f64>| ipc.map_or_else(|| "–".to_owned(), |ipc| format!("{ipc:.2}"));
    let mut text = format!(
        "Processor: {} instructions a rank in the mean, {} per cycle at {}",
        quantity(row.instructions),
        per_cycle(row.ipc),
        gigahertz(row.frequency_hz)
    );
    if row.ranks > 1 {
        let time = |part_s: f64| seconds_like(part_s, program.slowest_computation_s);
        let (more, slower) = (time(row.more_instructions_s), time(row.slower_instructions_s));
        text += &format!(
            "; rank {rank}: {}, {} per cycle at {}. Of its CPU time more than the mean, {more} is more instructions, {slower} slower ones",
            quantity(row.slowest_instructions),
            per_cycle(row.slowest_ipc),
            gigahertz(row.slowest_frequency_hz)
        );
    }
    Some(text + ".")
}

/// Where an excess is, in words: `92 % of it in PairLJCut::compute (pair_lj_cut.cpp:112)`, `of it` being `whole`; empty where samples do not show it.
pub(super) fn explained(excess: &ExplainedExcess, whole: &str) -> String {
    let functions = excess.functions.iter().take(MOST_NAMED);
    let named = functions.map(|one| (one.share, format!("in {}", shorten(&clean(&one.name.label()), LONGEST_NAME))));
    let not_running = (excess.not_running_share, "not running".to_owned());
    let mut shares: Vec<(f64, String)> = named
        .chain([not_running])
        .filter_map(|(share, what)| Some((share.filter(|&share| share >= NAMED)?, what)))
        .collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut parts: Vec<String> =
        shares.into_iter().map(|(share, what)| format!("{} {what}", share_of_it(share))).collect();
    match parts.split_first_mut() {
        Some((first, _)) => {
            *first = first.replacen('%', &format!("% {whole}"), 1);
            parts.join(", ")
        }
        None => String::new(),
    }
}

/// A share by samples, which does not say more than whole percents, and no more than all.
fn share_of_it(share: f64) -> String {
    format!("{:.0} %", 100.0 * share.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::functions::{ExcessIn, FunctionName};

    #[test]
    fn an_excess_is_laid_to_its_functions() {
        let function = |name: &str, share: f64| ExcessIn {
            name: FunctionName {
                function: Some(name.into()),
                file: Some("/src/f.c".into()),
                line: Some(7),
                module: None,
            },
            excess_s: share,
            excess_error_s: 0.01,
            share: Some(share),
        };
        let functions = vec![function("force", 0.92), function("tiny", 0.02)];
        let excess = ExplainedExcess { functions, ..ExplainedExcess::default() };
        assert_eq!(explained(&excess, "of it"), "92 % of it in force (f.c:7)");
        let excess = ExplainedExcess { not_running_share: Some(0.4), not_running_s: Some(0.4), ..excess };
        assert_eq!(explained(&excess, "of it"), "92 % of it in force (f.c:7), 40 % not running");
        assert_eq!(explained(&ExplainedExcess::default(), "of it"), "");
    }
}
