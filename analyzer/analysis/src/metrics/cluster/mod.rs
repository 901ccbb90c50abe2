//! Groups of like regions (k-means, docs/metrics.md §2) and of ranks that run the same code (DBSCAN, docs/metrics.md §1).

mod code;
mod difference;
mod own;
mod ranks;
mod regions;

pub use code::{Code, Codes, RankCode, Run, codes};
pub use own::{OwnCode, own_code};
pub use ranks::{ClusterOrRank, Clusters, Radius, clusters};
pub use regions::{Groups, groups};
