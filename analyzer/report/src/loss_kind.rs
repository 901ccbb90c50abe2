//! The kinds of losses. Their words are in `text/losses.rs` and `page/src/lossviews.ts`.

use serde::Serialize;

/// The kind of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LossKind {
    /// Load imbalance: a rank computes longer than the mean. By cause: ranks wait for another's computation.
    #[serde(rename = "imbalance")]
    Imbalance,
    /// Serialization: in different iterations different ranks are the slowest.
    #[serde(rename = "slow in turn")]
    SlowInTurn,
    /// Serialization: in different parts of an iteration different ranks are the slowest.
    #[serde(rename = "slow in parts")]
    SlowInParts,
    /// Serialization: ranks depend on each other in chains within iterations.
    #[serde(rename = "dependency chains")]
    DependencyChains,
    /// Serialization whose kind is unknown.
    #[serde(rename = "serialization")]
    Serialization,
    /// Imbalance in computation that only parallel work needs.
    #[serde(rename = "control of parallelism")]
    Control,
    /// Data transfer and time in MPI calls other than waiting; where the ideal time is not known, all waiting that is not due to imbalance, too.
    #[serde(rename = "communication")]
    Communication,
    /// Access to files through MPI besides waiting for other ranks, and waiting for ranks that access files. The verdict counts it as communication.
    #[serde(rename = "file access")]
    FileAccess,
    /// Functions of the program that MPI calls, as for a user-defined reduction. The verdict counts it as communication.
    #[serde(rename = "called by MPI")]
    CalledByMpi,
    /// Writing the log, and waiting for ranks that do, or of which nothing is known.
    #[serde(rename = "recorder")]
    Recorder,
}
