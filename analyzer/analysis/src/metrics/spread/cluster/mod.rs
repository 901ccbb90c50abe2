//! Groups of like regions (k-means, docs/metrics.md §2) and of ranks that run the same code (DBSCAN, docs/metrics.md §1).

mod code;
mod dbscan;
mod difference;
mod distinctive_code;
mod k_means;
mod ranks;
mod regions;

pub use code::{CodePiece, CodeUsage, RankCode, RunCode, run_code};
pub use distinctive_code::{DistinctiveCode, own_code};
pub use ranks::{ClusterOrRank, RankClusters, cluster_ranks};
pub use regions::{RegionGroups, group_regions};
