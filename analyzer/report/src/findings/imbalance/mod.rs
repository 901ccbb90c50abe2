//! A rank computes longer than the mean.

pub mod asleep_rank;
pub mod control;
pub mod emptied_ranks;
pub mod idle_ranks;
mod kernel_work;
pub mod last_task;
pub mod outside_work;
pub mod rank_in_state;
pub mod serial_code;
mod slowest;
pub mod static_excess;
pub mod uneven_groups;
