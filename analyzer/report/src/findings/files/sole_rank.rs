//! Finds the rank that writes or reads nearly all data in storage.

use lbprof_analysis::model::ResourceUsage;
use lbprof_thresholds::verdict::{MIN_BYTES_OF_SOLE_RANK, MIN_SHARE_OF_SOLE_RANK};

use crate::Report;
use crate::run::ranks::RankRow;

/// A rank that accesses storage nearly alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoleStorageRank {
    /// Number of the rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// The access with more bytes: "write" or "read".
    pub access: &'static str,
    /// Bytes that it wrote or read.
    pub bytes: u64,
    /// Most bytes of another rank.
    pub most_of_others: u64,
}

/// Returns the storage access of the slowest rank if it accesses storage nearly alone.
pub fn of_slowest_rank(report: &Report) -> Option<SoleStorageRank> {
    let slowest = report.verdict.worst.as_ref()?.rank;
    sole_rank(&report.ranks).filter(|sole| sole.rank == slowest)
}

/// Returns the verb for the storage access of a rank that accesses storage nearly alone: "write" or "read".
pub fn sole_access_of(report: &Report, rank: u32) -> Option<&'static str> {
    sole_rank(&report.ranks).filter(|sole| sole.rank == rank).map(|sole| sole.access)
}

/// Returns the rank that does much and nearly all of the writing or reading, or `None` if there is none or counts are missing.
fn sole_rank(ranks: &[RankRow]) -> Option<SoleStorageRank> {
    let usages: Vec<(u32, ResourceUsage)> =
        ranks.iter().map(|row| Some((row.rank, row.usage?))).collect::<Option<_>>()?;
    let written = sole_rank_of("write", usages.iter().map(|&(rank, usage)| (rank, usage.written_bytes)));
    let read = sole_rank_of("read", usages.iter().map(|&(rank, usage)| (rank, usage.read_bytes)));
    written.into_iter().chain(read).max_by_key(|sole| sole.bytes)
}

fn sole_rank_of(access: &'static str, bytes_of_ranks: impl Iterator<Item = (u32, u64)>) -> Option<SoleStorageRank> {
    let (mut most, mut second, mut sum) = ((0, 0), 0, 0_u64);
    for (rank, bytes) in bytes_of_ranks {
        sum = sum.saturating_add(bytes);
        if bytes > most.1 {
            (most, second) = ((rank, bytes), most.1);
        } else {
            second = second.max(bytes);
        }
    }
    let (rank, bytes) = most;
    let is_sole = bytes >= MIN_BYTES_OF_SOLE_RANK && bytes as f64 >= MIN_SHARE_OF_SOLE_RANK * sum as f64;
    is_sole.then_some(SoleStorageRank { rank, access, bytes, most_of_others: second })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1_000_000;

    fn writer(bytes: &[u64]) -> Option<(u32, u64)> {
        let sole = sole_rank_of("write", (0..).zip(bytes.iter().copied()))?;
        Some((sole.rank, sole.most_of_others))
    }

    #[test]
    fn a_rank_is_alone_where_it_writes_much_and_nearly_all() {
        assert_eq!(writer(&[MB, 300 * MB, 2 * MB]), Some((1, 2 * MB)));
        assert_eq!(writer(&[300 * MB, 100 * MB, 0]), None, "a quarter is the other's");
        assert_eq!(writer(&[2 * MB, 0, 0]), None, "logs are as large");
        assert_eq!(writer(&[]), None);
    }
}
