//! Records of OpenMP's parallel regions.

pub mod parallel;
pub mod parallel_marks;
