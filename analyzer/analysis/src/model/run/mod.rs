//! Facts about a run.

pub(super) mod facts;
pub mod moment;
pub(crate) mod program_list;
pub mod selected;
pub mod summary;
