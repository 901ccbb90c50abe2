//! Time by code: regions, functions, call sites, the call tree.

pub mod call_sites;
pub mod call_tree;
pub mod functions;
pub mod regions;
