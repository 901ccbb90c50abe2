//! The program's calls as in its source: call paths whose frames are the program's own functions, including inlined ones.
//!
//! ```text
//!   return addresses      in the source                       in the tree
//!   app+0x1a3f            exchange (halo.c:20), inlined        main (app.c:9) ─ step (app.c:55) ─ exchange (halo.c:20)
//!                         into step (app.c:55)
//!   app+0x11c0            main (app.c:9)
//!   libc.so.6+0x271ca     __libc_start_call_main              left out
//! ```
//!
//! If the log has the functions of a script, they stand for the interpreter and for the library that calls MPI for scripts:
//!
//! ```text
//!   return addresses and lines of a script              in the tree
//!   MPI.cpython-311-x86_64-linux-gnu.so+0x5f21          left out: the call site is exchange (halo.py:20)
//!   _PyEval_EvalFrameDefault                            left out
//!   exchange, halo.py:20                                <module> (app.py:9) ─ step (app.py:55) ─ exchange (halo.py:20)
//!   step, app.py:55
//!   <module>, app.py:9
//!   Py_RunMain, main                                    left out
//! ```
//!
//! A call by a pointer is a node for each function that it calls. Frames at one line and column with one path are one node, so that copies of a
//! call, by loop unrolling or tail duplication, are one. If the line is not known, each return address is a node.

use bincode::{Decode, Encode};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::code_place::{CodePlace, SourcePosition};
use super::frames::{is_binding, is_interpreter, is_python_library, is_runtime, own_frames};
use crate::model::code::sites::{CallSite, CallSiteTable};

/// Maximum number of call sites for which a tree is made. Programs have thousands; more are damage, and each costs memory and time.
pub const MOST_SITES: usize = 100_000;

/// Maximum number of calls around a call that are looked at to distinguish it from others at its place.
const MOST_LEVELS: usize = 64;

/// Maximum number of places in the machine code that are kept for a node. Further copies of a call are not looked at.
const MAX_ORIGINS: usize = 8;

/// The tree of call paths.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct CallTree {
    /// Its nodes, each after its parent.
    nodes: Vec<CallTreeNode>,
    /// The node of each call site.
    of_site: Vec<u32>,
    /// For each call site, true if its whole path is known, from the start of the program or thread, and by the program's own functions:
    /// the frames of an interpreter are the same for all functions of a script, unless the log has the script's functions.
    is_whole: Vec<bool>,
    /// For each call site, true if a script makes the call, and the log does not have the script's functions.
    is_interpreted: Vec<bool>,
    shown_as: Vec<u32>,
    /// For each node, the first node in the function that it calls.
    first_callee: Vec<Option<u32>>,
    callers: HashMap<u32, Vec<u32>>,
    origins: Vec<Vec<NodeOrigin>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(in crate::structure) struct NodeOrigin {
    pub(in crate::structure) site: u32,
    /// True if the node's function is inlined there into another one.
    pub(in crate::structure) is_inlined: bool,
}

/// A call in a function of the source that was called in one way.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct CallTreeNode {
    /// The call by which the function around it was called, or `None` if it is the outermost known.
    pub parent: Option<u32>,
    /// Number of nodes around it.
    pub depth: u32,
    /// Place of the call; without offset if the line is known.
    pub place: CodePlace,
    /// Its column in the line, if it is known.
    pub column: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::structure) struct SharedFrame {
    /// The call by which the function is called.
    pub(in crate::structure) around: Option<u32>,
    pub(in crate::structure) first: u32,
    pub(in crate::structure) last: u32,
}

impl CallTree {
    /// Makes the tree of the call sites `all`. `position` returns their frames in the source by index, the innermost first. The tree is empty if
    /// there are more than [`MOST_SITES`].
    pub fn new<'a>(all: &CallSiteTable, position: impl Fn(usize) -> (&'a CodePlace, &'a SourcePosition)) -> CallTree {
        if all.call_sites.len() > MOST_SITES {
            return CallTree::default();
        }
        let order = by_depth(all);
        let sites = read_sites(all, &order, position);
        let mut tree = CallTreeBuilder::default().build(all, order, &sites);
        tree.is_whole = sites.iter().map(|site| site.script.is_whole()).collect();
        tree.is_interpreted = sites.iter().map(|site| site.script.is_interpreted()).collect();
        tree.first_callee = vec![None; tree.nodes.len()];
        for (at, node) in (0..).zip(&tree.nodes) {
            let own = node.parent.and_then(|parent| tree.first_callee.get_mut(parent as usize));
            if let Some(first) = own {
                *first = first.or(Some(at));
            }
        }
        tree.callers = tree.distinguishing(all);
        tree
    }

    /// Returns the node of a call site.
    pub fn node_of(&self, site: u32) -> Option<u32> {
        self.of_site.get(site as usize).copied()
    }

    /// Returns the places of a node in the machine code; there may be several, because compilers copy calls.
    pub(in crate::structure) fn origins(&self, at: u32) -> &[NodeOrigin] {
        self.origins.get(at as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns all nodes, each after its parent.
    pub(in crate::structure) fn nodes(&self) -> &[CallTreeNode] {
        &self.nodes
    }

    /// Returns a node.
    pub fn node(&self, at: u32) -> Option<&CallTreeNode> {
        self.nodes.get(at as usize)
    }

    /// Returns the number of calls that lead to a node.
    pub fn depth(&self, at: u32) -> Option<u32> {
        self.node(at).map(|node| node.depth)
    }

    fn parent(&self, at: u32) -> Option<u32> {
        self.node(at)?.parent
    }

    /// Returns the call site whose place is shown for a call site: the script's own call if it calls MPI on behalf of a script, or else itself.
    pub fn shown_as(&self, site: u32) -> u32 {
        self.shown_as.get(site as usize).copied().unwrap_or(site)
    }

    /// Returns whether the whole path of a call site is known: then no other call of the program is the same.
    pub fn is_whole(&self, site: u32) -> bool {
        self.is_whole.get(site as usize).copied().unwrap_or(false)
    }

    /// Returns whether a script makes the call of a call site, by functions that are not known: all its calls may look the same.
    pub fn is_interpreted(&self, site: u32) -> bool {
        self.is_interpreted.get(site as usize).copied().unwrap_or(false)
    }

    /// Returns for each call site the first one of the same node; empty if there is no tree.
    pub fn first_copies(&self) -> Vec<u32> {
        let mut first: HashMap<u32, u32> = HashMap::new();
        (0..).zip(&self.of_site).map(|(site, &node)| *first.entry(node).or_insert(site)).collect()
    }

    /// Returns the nodes around a node and itself, the outermost first.
    pub fn path(&self, at: u32) -> Vec<u32> {
        let mut path: Vec<u32> = std::iter::successors(Some(at), |&at| self.parent(at)).collect();
        path.reverse();
        path
    }

    /// Returns the two calls at which the paths of two nodes part. Both are in one function that was called in one way. `around` is `None` if that
    /// function is the outermost, or nothing is known.
    pub(in crate::structure) fn meeting(&self, from: u32, to: u32) -> SharedFrame {
        let (mut first, mut last) = (from, to);
        let [first_depth, last_depth] = [first, last].map(|at| self.depth(at).unwrap_or(0));
        for _ in last_depth..first_depth {
            first = self.parent(first).unwrap_or(first);
        }
        for _ in first_depth..last_depth {
            last = self.parent(last).unwrap_or(last);
        }
        loop {
            match [self.parent(first), self.parent(last)] {
                [one, other] if one == other => return SharedFrame { around: one, first, last },
                [Some(one), Some(other)] => (first, last) = (one, other),
                _ => return SharedFrame { around: None, first, last },
            }
        }
    }

    /// Returns the nodes around the node of a call of MPI, the innermost first, that distinguish it from calls at the same place with another
    /// path; none if nothing does.
    pub fn callers(&self, at: u32) -> &[u32] {
        self.callers.get(&at).map_or(&[], Vec::as_slice)
    }

    /// Returns the nodes around one, the innermost first, up to the first whose function is known; none if no function is.
    pub(in crate::structure) fn callers_to_named(&self, at: u32) -> Vec<u32> {
        let mut callers: Vec<u32> = std::iter::successors(self.parent(at), |&at| self.parent(at)).collect();
        let named = callers.iter().position(|&at| self.node(at).is_some_and(|node| node.place.is_named()));
        callers.truncate(named.map_or(0, |named| named + 1));
        callers
    }

    /// Returns the callers of each node that has some. Call sites that are no parents call MPI.
    fn distinguishing(&self, all: &CallSiteTable) -> HashMap<u32, Vec<u32>> {
        let parents: BTreeSet<u32> = all.call_sites.iter().filter_map(|site| site.parent).collect();
        let leaves = (0..).zip(&self.of_site).filter(|(site, _)| !parents.contains(site)).map(|(_, node)| *node);
        let leaves: BTreeSet<u32> = leaves.collect();
        let mut by_place: BTreeMap<&CodePlace, Vec<u32>> = BTreeMap::new();
        for at in leaves {
            if let Some(node) = self.node(at) {
                by_place.entry(&node.place).or_default().push(at);
            }
        }
        let mut callers: HashMap<u32, Vec<u32>> = HashMap::new();
        for nodes in by_place.into_values().filter(|nodes| nodes.len() > 1) {
            self.divide(nodes.into_iter().map(|at| (at, self.parent(at))).collect(), &mut callers);
        }
        callers
    }

    /// Returns for each node the sum of `own` over itself and all nodes below it.
    pub fn sums(&self, own: &HashMap<u32, u64>) -> Vec<u64> {
        let mut sums: Vec<u64> = (0..self.nodes.len() as u32).map(|at| own.get(&at).copied().unwrap_or(0)).collect();
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent.map(|parent| parent as usize) {
                sums[parent] = sums[parent].saturating_add(sums[at]);
            }
        }
        sums
    }

    /// Returns the first node in the function that a call calls, if there is one.
    pub fn callee(&self, call: u32) -> Option<&CallTreeNode> {
        self.first_callee.get(call as usize).copied().flatten().and_then(|at| self.node(at))
    }

    pub(in crate::structure) fn callee_name(&self, call: u32) -> Option<String> {
        Some(self.callee(call)?.place.short_function().to_owned()).filter(|name| !name.is_empty())
    }

    /// Divides nodes that look alike so far by the calls around them. Each comes with the node around it that is looked at.
    fn divide(&self, alike: Vec<(u32, Option<u32>)>, callers: &mut HashMap<u32, Vec<u32>>) {
        let mut pending = vec![(alike, 0)];
        while let Some((alike, level)) = pending.pop() {
            if level >= MOST_LEVELS {
                continue;
            }
            let mut parts: BTreeMap<Option<&CodePlace>, Vec<(u32, Option<u32>)>> = BTreeMap::new();
            for (at, around) in alike {
                let place = around.and_then(|around| self.node(around)).map(|node| &node.place);
                // Levels of a recursion are one place.
                if place.is_some_and(|place| self.is_on_path(at, around, place)) {
                    parts.clear();
                    break;
                }
                parts.entry(place).or_default().push((at, around));
            }
            let divides = parts.len() > 1;
            for part in parts.into_values() {
                for &(at, around) in part.iter().filter(|_| divides) {
                    callers.entry(at).or_default().extend(around);
                }
                let further: Vec<_> =
                    part.into_iter().filter_map(|(at, around)| Some((at, self.node(around?)?.parent))).collect();
                pending.extend(Some((further, level + 1)).filter(|(further, _)| further.len() > 1));
            }
        }
    }

    /// Returns the innermost node around both, which may be one of them, or `None` if there is none.
    pub fn common(&self, one: Option<u32>, other: Option<u32>) -> Option<u32> {
        let path = self.path(one?);
        let others = self.path(other?);
        path.into_iter().zip(others).take_while(|(own, other)| own == other).last().map(|(at, _)| at)
    }

    /// Returns whether `outer` is on the path to `inner`, or is the same.
    pub fn is_around(&self, outer: u32, inner: u32) -> bool {
        let mut path = std::iter::successors(Some(inner), |&at| self.parent(at));
        path.find(|&at| self.depth(at) <= self.depth(outer)) == Some(outer)
    }

    /// Returns whether a function is also called between two nodes of a path, the outer one left out.
    fn is_on_path(&self, inner: u32, outer: Option<u32>, place: &CodePlace) -> bool {
        let path = std::iter::successors(Some(inner), |&at| self.parent(at)).take_while(|at| Some(*at) != outer);
        let mut functions = path.filter_map(|at| self.node(at)).map(|node| (&node.place.function, &node.place.file));
        place.function.is_some() && functions.any(|function| function == (&place.function, &place.file))
    }
}

#[derive(Clone, Copy, Default)]
struct ScriptFrames {
    /// True if the start of the path is not known.
    is_cut: bool,
    /// True if an interpreter is on it.
    are_run: bool,
    /// True if a place of machine code comes again in it, as in an interpreter.
    are_nested: bool,
    /// True if the log has functions of a script.
    are_known: bool,
    /// The innermost call in a function of the program's own scripts.
    innermost: Option<usize>,
}

impl ScriptFrames {
    fn within(outer: Option<ScriptFrames>, site: &CallSite, at: usize, place: &CodePlace) -> ScriptFrames {
        let is_script = site.function.is_some();
        let is_own = is_script && !place.file.as_deref().is_some_and(is_python_library);
        let ScriptFrames { is_cut, are_run, are_nested, are_known, innermost } =
            outer.unwrap_or(ScriptFrames { is_cut: site.cut, ..ScriptFrames::default() });
        ScriptFrames {
            is_cut,
            are_run: are_run || !is_script && (is_interpreter(place) || is_binding(place)),
            are_nested,
            are_known: are_known || is_script,
            innermost: if is_own { Some(at) } else { innermost },
        }
    }

    fn is_interpreted(&self) -> bool {
        (self.are_run || self.are_nested) && !self.are_known
    }

    fn is_whole(&self) -> bool {
        !self.is_cut && (!self.are_run || self.are_known)
    }
}

#[derive(Clone, Default)]
struct SourceSite {
    script: ScriptFrames,
    /// The call site that calls the functions called from here, not in a run-time library: itself, if it is not left out.
    caller: Option<usize>,
    /// The frames, the innermost first.
    frames: Vec<SourceFrame>,
}

/// Returns the call sites in the source, read in the `order` in which each comes after its parent.
fn read_sites<'a>(
    all: &CallSiteTable,
    order: &[usize],
    position: impl Fn(usize) -> (&'a CodePlace, &'a SourcePosition),
) -> Vec<SourceSite> {
    let mut sites = vec![SourceSite::default(); all.call_sites.len()];
    for &at in order {
        let site = &all.call_sites[at];
        let (place, position) = position(at);
        let outer = site.parent.map(|parent| &sites[parent as usize]);
        let mut script = ScriptFrames::within(outer.map(|outer| outer.script), site, at, place);
        // A place of code that leads to itself again may run any part of a script each time.
        let mut callers = std::iter::successors(site.parent, |&at| all.call_sites[at as usize].parent)
            .map(|at| &all.call_sites[at as usize]);
        script.are_nested |= site.module.is_some() && callers.any(|caller| caller.is_at_place_of(site));
        let is_script = site.function.is_some();
        let own = if is_script { position.clone() } else { own_frames(place, position) };
        let is_left_out = match is_script {
            true => script.innermost != Some(at),
            false => is_runtime(place) || own.is_empty() || script.are_known && is_binding(place),
        };
        let caller = if is_left_out { outer.and_then(|outer| outer.caller) } else { Some(at) };
        let frames = if own.is_empty() { vec![(place.clone(), None)] } else { own };
        sites[at] = SourceSite { script, caller, frames };
    }
    join_split(&mut sites, all);
    sites
}

/// Returns the indices of call sites, each after its parent.
fn by_depth(all: &CallSiteTable) -> Vec<usize> {
    let mut depths: Vec<Option<u32>> = vec![None; all.call_sites.len()];
    for at in 0..all.call_sites.len() {
        let mut path = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next.filter(|&at| depths[at].is_none()) {
            path.push(at);
            next = all.call_sites[at].parent.map(|parent| parent as usize);
        }
        let outermost = next.and_then(|at| depths[at]).map_or(0_u32, |depth| depth + 1);
        for (depth, at) in (outermost..).zip(path.into_iter().rev()) {
            depths[at] = Some(depth);
        }
    }
    let mut order: Vec<usize> = (0..depths.len()).collect();
    order.sort_by_key(|&at| depths[at]);
    order
}

/// A frame of the source: its place and column.
type SourceFrame = (CodePlace, Option<u32>);

fn function_of(place: &CodePlace) -> Option<&str> {
    Some(place.function_label()).filter(|name| !name.is_empty())
}

/// Joins the two frames that a compiler makes by splitting a function, so that its head can be inlined: the rest then reads as inlined into the
/// function's own first line. A function that calls itself elsewhere may do so here, too.
fn join_split(sites: &mut [SourceSite], all: &CallSiteTable) {
    let recursive: BTreeSet<String> = (0..sites.len())
        .filter_map(|at| {
            let by = sites[all.call_sites[at].parent? as usize].caller?;
            let own = function_of(&sites[at].frames.last()?.0)?;
            (function_of(&sites[by].frames.first()?.0) == Some(own)).then(|| own.to_owned())
        })
        .collect();
    for site in sites {
        site.frames.dedup_by(|outer, inner| {
            let function = function_of(&outer.0);
            function == function_of(&inner.0) && function.is_some_and(|name| !recursive.contains(name))
        });
    }
}

#[derive(Default)]
struct CallTreeBuilder {
    tree: CallTree,
    /// By parent, frame and the function called there.
    known: HashMap<(Option<u32>, SourceFrame, Option<String>), u32>,
}

impl CallTreeBuilder {
    /// Makes the nodes of all call sites, in the `order` in which each comes after its parent.
    fn build(mut self, all: &CallSiteTable, order: Vec<usize>, sites: &[SourceSite]) -> CallTree {
        let mut around: Vec<Option<u32>> = vec![None; sites.len()];
        self.tree.of_site = vec![0; sites.len()];
        self.tree.shown_as = (0..sites.len() as u32).collect();
        for at in order {
            // A site that calls MPI for a script is shown as the script's call.
            let script = sites[at].script.innermost.filter(|&script| script != at && sites[at].caller == Some(script));
            if let Some(script) = script {
                (self.tree.shown_as[at], self.tree.of_site[at]) = (script as u32, self.tree.of_site[script]);
                continue;
            }
            let called_by = all.call_sites[at].parent.and_then(|parent| sites[parent as usize].caller);
            let callee = sites[at].frames.last().and_then(|(frame, _)| function_of(frame));
            around[at] = called_by.and_then(|by| self.add(around[by], by, &sites[by].frames, callee));
            // A call of MPI is not a call of a function, even at one address.
            self.tree.of_site[at] = self.add(around[at], at, &sites[at].frames, None).unwrap_or(0);
        }
        self.tree
    }

    /// Adds the frames of a call site, the innermost first, that were called from `parent`, and returns the innermost node, or `parent` if there
    /// are none. The innermost frame calls the function `callee`, or MPI or an unknown function if this is `None`.
    fn add(&mut self, parent: Option<u32>, site: usize, frames: &[SourceFrame], callee: Option<&str>) -> Option<u32> {
        (0..frames.len()).rev().fold(parent, |parent, at| {
            let (place, column) = &frames[at];
            let called = at.checked_sub(1).map_or(callee, |inner| function_of(&frames[inner].0)).map(str::to_owned);
            let offset = if place.line.is_some() { 0 } else { place.offset };
            let place = CodePlace { offset, ..place.clone() };
            let tree = &mut self.tree;
            let node = *self.known.entry((parent, (place.clone(), *column), called)).or_insert_with(|| {
                let depth = parent.map_or(0, |parent| tree.nodes[parent as usize].depth + 1);
                tree.nodes.push(CallTreeNode { parent, depth, place, column: *column });
                tree.origins.push(Vec::new());
                tree.nodes.len() as u32 - 1
            });
            let origins = &mut self.tree.origins[node as usize];
            let origin = NodeOrigin { site: site as u32, is_inlined: at + 1 < frames.len() };
            if origins.len() < MAX_ORIGINS && !origins.contains(&origin) {
                origins.push(origin);
            }
            Some(node)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CallSite;

    /// A frame: function and line.
    type FrameLine = (&'static str, u32);

    /// The tree of call sites by their parents and frames, the innermost first.
    fn tree(sites: &[(Option<u32>, &[FrameLine])]) -> CallTree {
        let frame = |&(function, line): &FrameLine| {
            let file = Some("app.c".to_owned());
            (CodePlace { function: Some(function.to_owned()), file, line: Some(line), ..CodePlace::default() }, None)
        };
        let positions: Vec<SourcePosition> =
            sites.iter().map(|(_, frames)| frames.iter().map(frame).collect()).collect();
        let site = |(offset, (parent, _)): (u64, &(Option<u32>, &[FrameLine]))| CallSite {
            function: None,
            column: None,
            module: Some(0),
            offset,
            parent: *parent,
            cut: false,
        };
        let mut all = CallSiteTable::default();
        all.call_sites = (0..).zip(sites).map(site).collect();
        CallTree::new(&all, |at| (&positions[at][0].0, &positions[at]))
    }

    /// The path of a site: functions and lines, the outermost first.
    fn path(tree: &CallTree, site: u32) -> Vec<(String, u32)> {
        let path = tree.path(tree.node_of(site).unwrap());
        let place = |at| &tree.node(at).unwrap().place;
        path.into_iter().map(|at| (place(at).function_label().to_owned(), place(at).line.unwrap())).collect()
    }

    #[test]
    fn a_split_function_is_one_frame() {
        // The head of `halo` begins in line 20; the compiler made a function of the rest and inlined it back.
        let tree = tree(&[(None, &[("main", 9)]), (Some(0), &[("halo", 25), ("halo", 20)])]);
        assert_eq!(path(&tree, 1), [("main".to_owned(), 9), ("halo".to_owned(), 25)]);
    }

    #[test]
    fn a_function_that_calls_itself_has_a_frame_each_time() {
        // Twice inlined, twice by a call.
        let cycle = &[("cycle", 33), ("cycle", 31)][..];
        let tree = tree(&[(None, &[("main", 9)]), (Some(0), cycle), (Some(1), cycle)]);
        assert_eq!(path(&tree, 2).len(), 5);
    }

    #[test]
    fn a_call_by_a_pointer_is_a_node_for_each_function() {
        let calls: [(Option<u32>, &[FrameLine]); 3] =
            [(None, &[("main", 9)]), (Some(0), &[("setup", 3)]), (Some(0), &[("step", 7)])];
        let tree = tree(&calls);
        let [setup, step] = [1, 2].map(|site| tree.node_of(site).unwrap());
        let parents = [setup, step].map(|at| tree.node(at).unwrap().parent.unwrap());
        assert_ne!(parents[0], parents[1]);
        assert_eq!(tree.callee(parents[1]).unwrap().place.function_label(), "step");
        // They are called one after the other, by a function of which nothing more is known.
        assert_eq!(tree.meeting(setup, step), SharedFrame { around: None, first: parents[0], last: parents[1] });
    }
}
