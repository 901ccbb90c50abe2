//! Groups of like regions (k-means, METRICS §2) and of ranks that run the same code (DBSCAN, METRICS §1).

mod code;
mod ranks;
mod regions;

pub use code::{Code, RankCode, codes};
pub use ranks::{Clusters, OwnCode, Radius, clusters};
pub use regions::{Groups, groups};
