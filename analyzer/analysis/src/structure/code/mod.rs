//! Names of code: call paths, symbols, debug information, the call tree.

pub mod call_tree;
pub mod code_place;
pub mod code_readers;
pub(super) mod demangled_name;
pub mod frames;
pub(super) mod function_symbols;
pub mod sampled_code;
pub(super) mod source_name;
pub(super) mod sources;
pub mod symbols;
