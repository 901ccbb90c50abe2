//! The answer, put together from the findings, and each finding as a row.

pub(super) mod answer;
pub(super) mod notes;
pub(super) mod row;
