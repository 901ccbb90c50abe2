//! Waiting between ranks: causes, messages, predictions.

pub mod blocking;
pub mod blocking_left_out;
pub mod communication;
pub mod what_if;
