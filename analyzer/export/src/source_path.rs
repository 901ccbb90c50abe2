//! The calls of the source that lead to a call of MPI, as one text.

use lbprof_analysis::structure::code::call_tree::CallTree;

/// The calls from the outermost known on to a call site: `main (app.c:9); step (app.c:55); halo (halo.c:20)`; `None` where the tree does not
/// have the site.
pub fn source_path(calls: &CallTree, site: u32) -> Option<String> {
    let path = calls.path(calls.node_of(site)?);
    let labels = path.into_iter().filter_map(|at| calls.node(at)).map(|node| node.place.own_label().replace(';', ":"));
    Some(labels.collect::<Vec<_>>().join("; "))
}
