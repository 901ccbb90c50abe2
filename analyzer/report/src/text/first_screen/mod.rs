//! The first screen, and the head of longer reports.

pub(super) mod answer;
pub(super) mod efficiency;
pub(super) mod findings;
pub(super) mod first_look;
pub(super) mod head;
pub(super) mod next_commands;
