//! The table of pools of threads.

use super::{DIM, TextOptions, title};
use crate::Report;
use crate::table::TextTable;
use crate::thread_pools::{PoolUse, ThreadPoolRow};
use crate::words::{TimeUnit, clean, count, percent_or_dash, wrap};

/// Shows how much of their time the threads of each pool work.
pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let pools = &report.thread_pools;
    if pools.is_empty() {
        return String::new();
    }
    let shown = if options.full { pools.len() } else { pools.len().min(options.top.max(1)) };
    let unit = TimeUnit::for_max(pools.iter().map(|pool| pool.program.cpu_s).fold(0.0, f64::max));
    let mut table = TextTable::new(&["<pool, region", "threads", "used", "±", "CPU", "waiting"], 0);
    for pool in pools.iter().take(shown) {
        table.row(row(&clean(&pool.name), Some(pool), &pool.program, unit));
        let regions = if options.full { pool.regions.len() } else { pool.regions.len().min(options.top.max(1)) };
        for region in pool.regions.iter().take(regions) {
            table.row(row(&format!("  {}", clean(&region.region)), None, region, unit));
        }
    }
    let name = format!("Pools of threads [{}]", unit.symbol);
    let note = "By the routine with which threads start. used: their CPU time without waiting / (threads × time), by samples, ± its standard error; threads: the most at \
                a time, all ranks together; regions: inner ones excluded.";
    let table = table.render(options.columns, DIM);
    format!("{}{table}  {DIM}{}{DIM:#}\n\n", title(&name, shown, pools.len()), wrap(note, options.columns - 2, 2))
}

fn row(name: &str, pool: Option<&ThreadPoolRow>, of: &PoolUse, unit: TimeUnit) -> Vec<String> {
    vec![
        name.to_owned(),
        pool.map(|pool| count(pool.threads)).unwrap_or_default(),
        percent_or_dash(of.utilization),
        percent_or_dash(of.utilization_error),
        unit.number(of.cpu_s),
        unit.number(of.waiting_s),
    ]
}
