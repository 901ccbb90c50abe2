//! Phrases shared by findings, texts and tables.

pub mod doubts;
pub mod functions;
pub mod lifetime;
pub mod ranks;
pub mod threads;
pub mod working_pool;
