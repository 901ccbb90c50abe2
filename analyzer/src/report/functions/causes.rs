//! What the ranks computed that made others wait.

use std::collections::BTreeMap;

use lbprof_collector::Activity;

use super::Functions;
use super::data::{CauseFunction, CauseFunctions};
use crate::metrics::functions::computing;
use crate::model::RegionIdx;
use crate::model::samples::CpuTime;
use crate::report::blocking::BlockingTable;

/// Most causes of waiting of which the functions are given, and most functions of each.
const MOST_CAUSES: (usize, usize) = (20, 3);

impl Functions<'_> {
    pub(super) fn causes(&self, blocking: &BlockingTable) -> Vec<CauseFunctions> {
        let computing = blocking.causes.iter().filter(|row| row.activity == Some(Activity::Computation));
        let rows = computing.filter_map(|row| {
            let functions = self.of_rank(row.cause.rank, &row.region)?;
            let (rank, region, caused_s) = (row.cause.rank, row.region.clone(), row.cause.caused_s);
            Some(CauseFunctions { rank, region, caused_s, functions })
        });
        rows.take(MOST_CAUSES.0).collect()
    }

    /// The functions in which a rank computes in the region of a path; `None` where none is known.
    fn of_rank(&self, rank: u32, path: &str) -> Option<Vec<CauseFunction>> {
        let rank = self.model.ranks.iter().find(|one| one.rank == rank)?;
        let region = self.model.regions.iter().position(|one| one.path == path)? as RegionIdx;
        let mut functions: BTreeMap<u32, CpuTime> = BTreeMap::new();
        for (node, time) in computing(rank, Some(region)) {
            let function = self.code.nodes.get(node as usize).map_or(0, |node| node.function);
            functions.entry(function).or_default().add(time);
        }
        let all_s: f64 = functions.values().map(|time| time.seconds).sum();
        let mut functions: Vec<(u32, CpuTime)> = functions.into_iter().collect();
        functions.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds).then(a.0.cmp(&b.0)));
        functions.truncate(MOST_CAUSES.1);
        let row = |(function, time): (u32, CpuTime)| CauseFunction {
            name: self.name(function, self.lines_of(Some(region), function).first().map(|line| line.line)),
            cpu_s: time.seconds,
            error_s: time.error_s(),
            share: time.seconds / all_s,
        };
        (all_s > 0.0).then(|| functions.into_iter().map(row).collect())
    }
}
