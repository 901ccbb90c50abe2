//! Forms that all rows share: numbers, words, bounds, tables.

pub mod bounds;
pub mod fold;
pub(super) mod numbers;
pub(super) mod serial;
pub(super) mod short_name;
pub mod table;
pub mod words;
