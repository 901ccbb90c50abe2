//! What is known of the MPI library in the process: where its functions are, its binary interface, how arguments are read.

pub mod abi;
pub mod lang;
pub mod nesting;
pub mod topology;
