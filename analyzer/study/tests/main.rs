//! Studies of runs whose figures are given.

mod papers_study;
mod study_tables;
