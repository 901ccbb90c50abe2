//! Parts of sentences that findings, texts and tables share.

pub mod doubts;
pub mod functions;
pub mod lifetime;
pub mod names;
pub mod ranks;
pub mod threads;
