//! Waiting between ranks: causes, messages, predictions.

pub mod blocking;
pub mod communication;
pub mod what_if;
