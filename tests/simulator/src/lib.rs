//! Runs for tests, written through the real writer: test equipment, no part of what users install.
//!
//! A [`scenario`] states when each call ends. A [`script`] states what each rank does; when calls end follows from a simulation of its own,
//! which shares no code with the analyzer.

mod joining;
pub mod noise;
pub mod samples;
pub mod scenario;
pub mod script;
pub mod summaries;
