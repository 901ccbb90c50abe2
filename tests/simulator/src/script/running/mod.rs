//! A script that runs: the world of simulated ranks, their calls and who meets whom.

pub(super) mod calls;
pub(super) mod epochs;
pub(super) mod matching;
pub(super) mod meeting;
pub(super) mod simulate;
pub(super) mod simulation;
pub(super) mod state;
pub(super) mod world;
