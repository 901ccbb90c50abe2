//! The table of regions.

use lbprof_collector::definition::RegionKind;

use super::{DIM, Options, WIDE, title};
use crate::report::Report;
use crate::report::table::Table;
use crate::report::words::{TimeUnit, clean, count, percent, percent_or_dash};

pub(super) fn section(report: &Report, options: &Options) -> String {
    if report.regions.len() < 2 {
        return String::new();
    }
    let all = report.regions.len();
    let mut rows: Vec<_> = report.regions.iter().collect();
    let shown = if options.full { all } else { all.min(options.top.max(1)) };
    if shown < all {
        rows.sort_by(|a, b| b.time_s.total_cmp(&a.time_s).then(a.path.cmp(&b.path)));
        rows.truncate(shown);
        rows.sort_by_key(|row| row.idx);
    }
    let unit = TimeUnit::for_max(report.data.elapsed_s);
    let elapsed = format!("elapsed\n[{}]", unit.symbol);
    let wide = options.columns >= WIDE;
    let mut heads = vec!["<region", "share\nalone", &elapsed, "parallel", "load\nbalance", "micro\nbalance"];
    heads.extend(wide.then_some("transfer"));
    heads.push("slowest\nrank");
    heads.extend(wide.then_some("invo-\ncations"));
    let mut table = Table::new(&heads, 0);
    for row in rows {
        let times = &row.efficiency.times;
        // Where hardly anything is computed, how that is balanced says nothing.
        let computes = times.max_computation_s >= 0.01 * times.elapsed_s;
        let of_computation = |value: Option<f64>| percent_or_dash(value.filter(|_| computes));
        // Above 100 %: ranks wait elsewhere than in this region, as where it only computes.
        let transfer = times.transfer().filter(|&transfer| transfer < 1.0005);
        let kind = match row.kind {
            RegionKind::Useful => "",
            RegionKind::Control => " (control)",
            RegionKind::Serial => " (serial)",
        };
        let mut cells = vec![
            clean(&row.path) + kind,
            percent(row.share),
            unit.number(times.elapsed_s),
            percent_or_dash(times.parallel()),
            of_computation(times.load_balance()),
            of_computation(times.micro_load_balance()),
        ];
        cells.extend(wide.then(|| of_computation(transfer)));
        cells.push(row.slowest_rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string()));
        cells.extend(wide.then(|| if row.idx == 0 { String::new() } else { count(row.totals.invocations) }));
        table.row(cells);
    }
    format!("{}{}\n", title("Regions", shown, all), table.render(options.columns, DIM))
}
