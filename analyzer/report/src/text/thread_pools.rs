//! The table of pools of threads.

use super::columns::{ColumnCell, layout};
use super::{TextOptions, note, title};
use crate::Report;
use crate::thread_pools::PoolUse;
use crate::words::clean;
use lbprof_thresholds::wording::MIN_LISTED_ROW;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let mut lines = Vec::new();
    for pool in &report.thread_pools {
        lines.push(line(&clean(&pool.name), ColumnCell::Count(pool.threads), &pool.program));
        let regions = pool.regions.iter().filter(|used| used.cpu_s >= MIN_LISTED_ROW * pool.program.cpu_s);
        let regions = regions.take(options.limit());
        lines.extend(regions.map(|used| line(&format!("  {}", clean(&used.region)), ColumnCell::Empty, used)));
    }
    if lines.is_empty() {
        return String::new();
    }
    let about = "By the routine with which threads start. used: their CPU time without waiting / (threads × time), by samples, ± its standard error; threads: the most at \
                 a time, all ranks together; regions: inner ones excluded.";
    let heads = ["~pool, region", "threads", "used", "±", "CPU", "waiting"];
    format!("{}{}{}\n", title("Pools of threads", 0, 0), layout(&heads, &lines, &[], options), note(about, options))
}

fn line(name: &str, threads: ColumnCell, used: &PoolUse) -> Vec<ColumnCell> {
    vec![
        ColumnCell::Text(name.to_owned()),
        threads,
        ColumnCell::or_dash(used.utilization, ColumnCell::Share),
        ColumnCell::or_dash(used.utilization_error, ColumnCell::Share),
        ColumnCell::Time(used.cpu_s),
        ColumnCell::Time(used.waiting_s),
    ]
}
