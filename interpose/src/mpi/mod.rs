//! The MPI library in the process: the addresses of its functions, its binary interface, and its argument conventions.
//!
//! Nothing else in the library knows what a handle or a status looks like.

pub mod abi;
pub mod call;
pub mod detect;
pub mod fortran;
pub mod lang;
pub mod nesting;
pub mod predefined;
pub mod status;
pub mod symbols;
pub mod topology;
pub mod world;
