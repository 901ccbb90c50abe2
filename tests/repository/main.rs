//! The repository itself: what its documents, layers and names keep to, and what is installed from it.

mod documents;
mod habits;
mod installation;
mod layers;
#[cfg(target_arch = "x86_64")]
mod lines;
mod tutorial;
