//! Results of the replay: waits, causes, predictions.

pub mod replay_results;
pub mod solo_time;
pub mod statistics;
pub mod waits;
pub mod what_if;
