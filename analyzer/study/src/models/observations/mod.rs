//! Values that laws are fitted to, by quantity and phase.

pub(super) mod phases;
pub(super) mod quantity;
pub(super) mod remarks;
pub(super) mod totals;
pub mod variables;
