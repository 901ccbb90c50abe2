//! The table of pools of threads.

use crate::Report;
use crate::rows::words::escape_name;
use crate::text::columns::{ColumnCell, lay_out_table};
use crate::text::{TextOptions, format_note, format_title};
use crate::threads::thread_pools::PoolUse;
use lbprof_thresholds::wording::MIN_LISTED_ROW;

pub(in crate::text) fn thread_pools_section(report: &Report, options: &TextOptions) -> String {
    let mut lines = Vec::new();
    for pool in &report.thread_pools {
        lines.push(pool_line(&escape_name(&pool.name), ColumnCell::Count(pool.threads), &pool.program));
        let regions = pool.regions.iter().filter(|used| used.cpu_s >= MIN_LISTED_ROW * pool.program.cpu_s);
        let regions = regions.take(options.limit());
        lines.extend(
            regions.map(|used| pool_line(&format!("  {}", escape_name(&used.region)), ColumnCell::Empty, used)),
        );
    }
    if lines.is_empty() {
        return String::new();
    }
    let about = "By the routine with which threads start. used: their CPU time without waiting / (threads × time), by samples, ± its standard error; threads: the most at \
                 a time, all ranks together; regions: inner ones excluded.";
    let heads = ["~pool, region", "threads", "used", "±", "CPU", "waiting"];
    format!(
        "{}{}{}\n",
        format_title("Pools of threads", 0, 0),
        lay_out_table(&heads, &lines, &[], options),
        format_note(about, options)
    )
}

fn pool_line(name: &str, threads: ColumnCell, used: &PoolUse) -> Vec<ColumnCell> {
    vec![
        ColumnCell::Text(name.to_owned()),
        threads,
        ColumnCell::or_dash(used.utilization, ColumnCell::Share),
        ColumnCell::or_dash(used.utilization_error, ColumnCell::Share),
        ColumnCell::Time(used.cpu_s),
        ColumnCell::Time(used.waiting_s),
    ]
}
