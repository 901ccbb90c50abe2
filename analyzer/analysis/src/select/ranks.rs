//! Sets of ranks, as users name them: `0,8-15,0-63:4`, `12-`, `host=node1*`, `cluster=2`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use lbprof_collector::definition::RankList;
use lbprof_collector::format::LogHeader;
use wildmatch::WildMatch;

use super::SelectionError;
use super::names::some_of;
use crate::read::open::{MAX_EXPECTED, RecordedRun, list_ranks};

/// Ranks, as named by the user. [`RankSet::resolve`] finds them in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankSet {
    items: Vec<RankItem>,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RankItem {
    /// Every `step`th rank from the first to the last, or to the last of the run.
    Range {
        first: u32,
        last: Option<u32>,
        step: u32,
    },
    /// Ranks on hosts of this name, in which `*` and `?` stand for any characters and any one.
    Host(String),
    Cluster(u32),
}

impl RankSet {
    /// Returns whether it names clusters, which only an analysis of the whole run knows.
    pub fn needs_clusters(&self) -> bool {
        self.items.iter().any(|item| matches!(item, RankItem::Cluster(_)))
    }

    /// Returns the ranks of `run` in the set, ascending, each once. Ranges leave out the ranks that LBPROF_RANKS left out, but not the ranks
    /// that recorded and whose logs are missing. `clusters`: numbers of clusters and their ranks.
    ///
    /// Errors: a rank, host or cluster that the run does not have, a rank that did not record, or a set in which no rank has a log.
    pub fn resolve(&self, run: &RecordedRun, clusters: &[(u32, Vec<u32>)]) -> Result<Vec<u32>, SelectionError> {
        let known = SelectableRanks::new(run);
        let mut ranks = BTreeSet::new();
        for item in &self.items {
            match item {
                RankItem::Range { first, last, step } => ranks.extend(known.range(*first, *last, *step)?),
                RankItem::Host(pattern) => ranks.extend(known.on_hosts(pattern)?),
                RankItem::Cluster(cluster) => ranks.extend(of_cluster(*cluster, clusters)?),
            }
        }
        let ranks: Vec<u32> = ranks.into_iter().collect();
        if !ranks.iter().any(|rank| run.header(*rank).is_some()) {
            return Err(SelectionError::NoLogs(list_ranks(&ranks)));
        }
        Ok(ranks)
    }
}

impl fmt::Display for RankSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

struct SelectableRanks<'a> {
    headers: &'a [LogHeader],
    n_ranks: u32,
    /// Ranks that recorded, or `None` for all.
    recorded: Option<BTreeSet<u32>>,
}

impl<'a> SelectableRanks<'a> {
    fn new(run: &'a RecordedRun) -> Self {
        let n_ranks = run.headers.iter().map(|header| header.n_ranks).max().unwrap_or(0);
        let recorded: Option<&RankList> = run.headers.first().map(|header| &header.recorded_ranks);
        let recorded = recorded.filter(|list| !list.is_empty() && list.len() <= MAX_EXPECTED);
        SelectableRanks { headers: &run.headers, n_ranks, recorded: recorded.map(|list| list.iter().collect()) }
    }

    fn is_recorded(&self, rank: u32) -> bool {
        self.recorded.as_ref().is_none_or(|recorded| recorded.contains(&rank))
    }

    fn range(&self, first: u32, last: Option<u32>, step: u32) -> Result<Vec<u32>, SelectionError> {
        let largest = self.n_ranks.saturating_sub(1);
        let last = last.unwrap_or(largest.max(first));
        if last > largest {
            return Err(SelectionError::NoRank { rank: if first > largest { first } else { last }, largest });
        }
        if first == last && !self.is_recorded(first) {
            return Err(SelectionError::NotRecorded(first));
        }
        if u64::from(last) >= MAX_EXPECTED {
            // No run is as large: its logs show which ranks exist.
            let ranks = self.headers.iter().map(|header| header.rank);
            return Ok(ranks
                .filter(|rank| (first..=last).contains(rank) && (rank - first).is_multiple_of(step))
                .collect());
        }
        Ok((first..=last).step_by(step as usize).filter(|rank| self.is_recorded(*rank)).collect())
    }

    fn on_hosts(&self, pattern: &str) -> Result<Vec<u32>, SelectionError> {
        let matcher = WildMatch::new(pattern);
        let on = self.headers.iter().filter(|header| header.host == pattern || matcher.matches(&header.host));
        let ranks: Vec<u32> = on.map(|header| header.rank).collect();
        if ranks.is_empty() {
            let hosts: BTreeSet<&str> = self.headers.iter().map(|header| header.host.as_str()).collect();
            return Err(SelectionError::NoHost { pattern: pattern.to_owned(), hosts: some_of(hosts.into_iter()) });
        }
        Ok(ranks)
    }
}

fn of_cluster(cluster: u32, clusters: &[(u32, Vec<u32>)]) -> Result<Vec<u32>, SelectionError> {
    let found = clusters.iter().find(|(number, _)| *number == cluster);
    found.map(|(_, ranks)| ranks.clone()).ok_or_else(|| {
        let numbers: Vec<String> = clusters.iter().map(|(number, _)| number.to_string()).collect();
        SelectionError::NoCluster { cluster, clusters: some_of(numbers.iter().map(String::as_str)) }
    })
}

/// The reason why a text names no set of ranks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part:?} {reason}; ranks are named as in 0,8-15,0-63:4,12-,host=node1*,cluster=2")]
pub struct RankSetError {
    part: String,
    reason: &'static str,
}

impl FromStr for RankSet {
    type Err = RankSetError;

    fn from_str(text: &str) -> Result<Self, RankSetError> {
        let parts = text.split(',').map(str::trim);
        let items =
            parts.map(|part| parse_rank_item(part).map_err(|reason| RankSetError { part: part.to_owned(), reason }));
        Ok(RankSet { items: items.collect::<Result<_, _>>()?, text: text.trim().to_owned() })
    }
}

fn rank_number(text: &str) -> Result<u32, &'static str> {
    text.trim().parse().map_err(|_| "is no rank, range or name=value")
}

fn parse_rank_item(part: &str) -> Result<RankItem, &'static str> {
    if let Some((name, value)) = part.split_once('=') {
        return match (name.trim(), value.trim()) {
            ("host", "") => Err("names no host"),
            ("host", host) => Ok(RankItem::Host(host.to_owned())),
            ("cluster", cluster) => {
                Ok(RankItem::Cluster(cluster.parse().map_err(|_| "names no cluster by its number")?))
            }
            _ => Err("is neither host=NAME nor cluster=NUMBER"),
        };
    }
    let (range, step) = match part.split_once(':') {
        Some((range, step)) if range.contains('-') => (range, rank_number(step)?),
        Some(_) => return Err("has a step and no range"),
        None => (part, 1),
    };
    if step == 0 {
        return Err("has the step 0");
    }
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last) = (rank_number(first)?, Some(last).filter(|last| !last.trim().is_empty()));
    let last = last.map(rank_number).transpose()?;
    match last {
        Some(last) if last < first => Err("ends before it begins"),
        last => Ok(RankItem::Range { first, last, step }),
    }
}

#[cfg(test)]
mod tests {
    use lbprof_simulator::scenario::Scenario;
    use tempfile::TempDir;

    use super::*;

    fn set(text: &str) -> RankSet {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// Resolves a set in a run of twelve ranks on three hosts: 4 is missing, 10 and 11 did not record.
    fn resolve(text: &str) -> Result<Vec<u32>, String> {
        let dir = TempDir::new().unwrap();
        let recorded = RankList::from_ranks(0..10);
        let scenario = Scenario::ranks(12).hosts(|rank| format!("node{}", rank / 4)).missing(4).missing(10).missing(11);
        (0..12)
            .fold(scenario, |all, rank| all.header(rank, |header| header.recorded_ranks = recorded.clone()))
            .write(dir.path())
            .unwrap();
        let run = RecordedRun::open(Some(dir.path())).unwrap();
        set(text).resolve(&run, &[(1, vec![0, 1]), (2, vec![2, 3, 5])]).map_err(|error| error.to_string())
    }

    #[test]
    fn what_the_run_does_not_have_is_reported() {
        assert_eq!(resolve("12"), Err("--ranks: there is no rank 12: the run has 0 to 11".into()));
        assert_eq!(resolve("0-63:4"), Err("--ranks: there is no rank 63: the run has 0 to 11".into()));
        assert_eq!(resolve("20-"), Err("--ranks: there is no rank 20: the run has 0 to 11".into()));
        assert_eq!(resolve("11"), Err("--ranks: rank 11 did not record: LBPROF_RANKS left it out".into()));
        assert_eq!(resolve("4"), Err("--ranks: there is no log of rank 4".into()));
        assert_eq!(
            resolve("host=knot*"),
            Err("--ranks: no rank is on a host knot*; the hosts are node0, node1, node2".into())
        );
        assert_eq!(resolve("cluster=3"), Err("--ranks: there is no cluster 3; there are 1, 2".into()));
    }

    #[test]
    fn what_names_no_ranks_is_refused() {
        let wrong = "|,|a|-|-3|3-1|1:2|0-4:0|0-4:|4294967296|1 2|host=|cluster=x|node=1|0--4|1,,2";
        for text in wrong.split('|') {
            assert!(text.parse::<RankSet>().is_err(), "{text:?}");
        }
        assert_eq!(
            "0,3-1".parse::<RankSet>().unwrap_err().to_string(),
            "\"3-1\" ends before it begins; ranks are named as in 0,8-15,0-63:4,12-,host=node1*,cluster=2"
        );
    }

    #[test]
    fn an_absurd_number_of_ranks_takes_no_memory() {
        let dir = TempDir::new().unwrap();
        let absurd = |header: &mut LogHeader| header.n_ranks = u32::MAX;
        Scenario::ranks(2).header(0, absurd).header(1, absurd).write(dir.path()).unwrap();
        let run = RecordedRun::open(Some(dir.path())).unwrap();
        assert_eq!(set("0-").resolve(&run, &[]), Ok(vec![0, 1]));
        assert_eq!(set("1-4294967294:3").resolve(&run, &[]), Ok(vec![1]));
    }
}
