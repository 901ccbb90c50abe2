//! Starting persistent requests, and completing requests of all kinds (MPI-4.1 §§3.7.3–3.9, 4.2).
//!
//! A call that completes one request is one record. A call that completes several is followed by a
//! [`Completed`](lbprof_collector::Operation::Completed) part for each.

mod finished;
mod parts;
mod persistent;
mod several;
mod single;

pub use persistent::*;
pub use several::*;
pub use single::*;
