//! Conditions of a run because of which its figures are not the answer.

pub mod few_calls;
pub mod no_cores;
pub mod one_rank;
pub mod set_up;
pub mod unended;
