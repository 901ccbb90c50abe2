//! Tests of several modules together, and of the system's answers.

#![allow(
    clippy::deref_addrof,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    reason = "tests"
)]

mod calls_table;
mod hosts;
mod lost;
mod objects;
mod owned_files;
mod requests;
mod sample_period;
mod sampling_advice;
mod sandbox;
mod unwind;

/// Something in the section whose ends `system/loader/own_code.rs` asks for: its functions are left out with the wrappers.
#[used]
#[unsafe(link_section = "lbprof_openmp")]
static NO_WRAPPER: u8 = 0;
