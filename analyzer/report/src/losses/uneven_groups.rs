//! Groups of ranks with different code, e.g. coupled programs, of which one computes longest in each iteration.

use super::verdict::Verdict;
use crate::balance::clusters::{ClusterRow, ClusterTable, OwnCodeSegment};
use lbprof_thresholds::verdict::MIN_EXCESS_OF_GROUP;

/// Groups of ranks that go through the same iterations with different code.
#[derive(Clone, Debug, PartialEq)]
pub struct UnevenGroups {
    /// The group that computes longest.
    pub slow: CodeGroup,
    /// The other groups, by number.
    pub others: Vec<CodeGroup>,
}

/// Ranks that run the same code.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeGroup {
    /// The ranks, ascending.
    pub ranks: Vec<u32>,
    /// The code with most time that they alone run, or `None` if there is none with a name.
    pub code: Option<OwnCodeSegment>,
    /// Seconds of their computation, on average.
    pub mean_s: f64,
}

impl UnevenGroups {
    /// Returns the groups if they explain why a rank computes longest.
    pub(crate) fn find(clusters: &ClusterTable, verdict: &Verdict) -> Option<UnevenGroups> {
        let is_imbalance = verdict.is_mostly_imbalance() && verdict.cluster.is_none();
        let worst = verdict.worst.as_ref().filter(|_| is_imbalance && clusters.rows.len() > 1)?;
        let (slow, others): (Vec<&ClusterRow>, Vec<&ClusterRow>) =
            clusters.rows.iter().partition(|row| row.contains(worst.rank));
        let slow = CodeGroup::from_cluster(slow.first()?);
        let is_cause = slow.mean_s - worst.mean_s >= MIN_EXCESS_OF_GROUP * worst.over_mean_s;
        is_cause.then(|| UnevenGroups { slow, others: others.into_iter().map(CodeGroup::from_cluster).collect() })
    }
}

impl CodeGroup {
    fn from_cluster(row: &ClusterRow) -> CodeGroup {
        let named = row.own_code.iter().find(|own| own.region.is_some() || own.place.function.is_some());
        CodeGroup { ranks: row.ranks.clone(), code: named.cloned(), mean_s: row.efficiency.times.avg_computation_s }
    }
}
