//! A run in forms that other programs read: a file for each.
//!
//! Some are made from the sums. Others need what ranks do when, which nothing keeps: an
//! [`EventExport`](lbprof_analysis::analyse::exported::EventExport) is passed it while the ranks are followed.
//!
//! ```text
//!   replay ─→ ScopeObserver ─→ EventExport ─→ its file
//!             (ranks, time)    (a region)
//! ```

#![deny(unsafe_code)]

pub mod dump;
mod external_sort;
pub mod folded;
pub mod otf2;
pub mod paraver;
pub mod parquet;
pub mod perfetto;
mod region_stack;
mod source_path;
pub mod talp;

use lbprof_analysis::model::Model;
use lbprof_analysis::structure::code::call_tree::CallTree;
use lbprof_analysis::structure::code::symbols::CodePlace;

/// A run, or a part of one, of which the sums are exported.
#[derive(Clone, Copy)]
pub struct AnalysedRun<'a> {
    /// Its model.
    pub model: &'a Model,
    /// The places of its call sites.
    pub places: &'a [CodePlace],
    /// The calls of the source that they are.
    pub calls: &'a CallTree,
}
