//! Numbers of iterations for each call.

pub mod carried;
pub mod number;
pub mod occasional;
pub mod split;
