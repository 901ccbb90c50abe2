//! What the ranks compute that others wait for.

use lbprof_collector::Activity;

use super::Functions;
use super::data::{DelayingFunction, DelayingRank};
use crate::metrics::functions::FunctionTime;
use crate::model::RegionIdx;
use crate::report::blocking::{BlockingTable, CauseRow};

/// Most ranks and regions that are listed, and most functions of each.
const MOST: (usize, usize) = (20, 3);

impl Functions<'_> {
    /// The ranks and regions whose computation others wait for, the most costly first.
    pub(super) fn delaying_ranks(&self, blocking: &BlockingTable) -> Vec<DelayingRank> {
        let computing = blocking.causes.iter().filter(|row| row.activity == Some(Activity::Computation));
        computing.filter_map(|row| self.delaying_rank(row)).take(MOST.0).collect()
    }

    /// The functions in which the rank of a cause computes in its region; `None` where none is known.
    ///
    /// Of all of the rank's time there: which samples fall into the times that others waited for is not kept. What the rank computes more than the mean is what
    /// makes ranks wait that compute there, too; so that comes first.
    fn delaying_rank(&self, row: &CauseRow) -> Option<DelayingRank> {
        let at = self.model.ranks.iter().position(|one| one.rank == row.cause.rank)?;
        let region = self.model.regions.iter().position(|one| one.path == row.region)? as RegionIdx;
        let functions = self.times.by_function(Some(region), Some(at));
        let cpu_s: f64 = functions.values().map(|time| time.own.seconds).sum();
        let excess = |time: &FunctionTime| time.compared().excess(self.times.ranks, self.times.period_s);
        let order = |time: &FunctionTime| {
            let excess = excess(time);
            if excess.is_significant() { (excess.seconds.max(0.0), time.own.seconds) } else { (0.0, time.own.seconds) }
        };
        let mut functions: Vec<(u32, FunctionTime)> =
            functions.into_iter().filter(|(_, time)| time.own.samples > 0).collect();
        functions.sort_by(|(a, of_a), (b, of_b)| {
            let (of_a, of_b) = (order(of_a), order(of_b));
            of_b.0.total_cmp(&of_a.0).then(of_b.1.total_cmp(&of_a.1)).then(a.cmp(b))
        });
        functions.truncate(MOST.1);
        let row_of = |(function, time): (u32, FunctionTime)| {
            let excess = excess(&time);
            DelayingFunction {
                name: self.name(function, self.lines_of(Some(region), function).first().map(|line| line.line)),
                cpu_s: time.own.seconds,
                error_s: time.own.error_s(),
                share: time.own.seconds / cpu_s,
                excess_s: excess.seconds,
                excess_error_s: excess.error_s,
                significant: excess.is_significant(),
            }
        };
        let (rank, caused_s) = (row.cause.rank, row.cause.caused_s);
        let functions: Vec<DelayingFunction> = functions.into_iter().map(row_of).collect();
        (cpu_s > 0.0).then(|| DelayingRank { rank, region: row.region.clone(), caused_s, cpu_s, functions })
    }
}
