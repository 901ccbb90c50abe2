//! The run over time: loops, iterations, windows.

pub mod course;
pub mod excess_iterations;
pub mod iteration;
pub mod iteration_groups;
pub mod iterations;
pub mod loops;
pub mod windows;
