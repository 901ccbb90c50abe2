//! The objects of the process, and what they define.

pub mod by_caller;
pub mod dynamic_symbols;
pub mod foreign;
pub mod loader_tables;
pub mod objects;
pub mod own_code;
