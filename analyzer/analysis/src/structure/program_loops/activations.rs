//! The function whose code runs between two calls: the innermost that makes both in one activation.
//!
//! Call paths alone do not show it: a function may be called again and again with the same path. Each call is another activation, and its
//! caller runs between two of them. The machine code shows this: a function that cannot get from one call to the other without returning
//! ([`super::control_flow`]) has been called again. Inlined code counts as its function as long as no jumps and calls of other code are
//! passed. If the code is not known, the order of lines decides: a return to the same or an earlier line is a new activation.

use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;

use super::control_flow::{ControlFlow, ReachableCalls};
use super::loop_body::{CallInLoop, SilentWays};
use super::machine_code::MachineCode;
use crate::model::code::sites::{CallSite, CallSiteTable};
use crate::structure::code::call_tree::{CallTree, NodeOrigin, SharedFrame};
use crate::structure::code::code_place::{CodePlace, SourcePosition};
use crate::structure::code::code_readers::FileReader;
use crate::structure::code::symbols::ResolvedNames;

use rustc_hash::FxHashSet;

/// Maximum number of instructions that are looked at, counting repetitions. Programs have some thousand calls in functions of some thousand
/// instructions; beyond that the order of lines has to do.
const MAX_INSTRUCTIONS: usize = 50_000_000;

/// Maximum number of pairs of copies of two calls that are looked at.
const MAX_PAIRS_OF_COPIES: usize = 64;

/// Finds the functions in which calls follow one another.
pub(in crate::structure) struct ActivationFinder<'a> {
    names: &'a ResolvedNames,
    sites: &'a CallSiteTable,
    modules: HashMap<u32, Option<ModuleCode>>,
    /// Calls that can follow a call, by its call site and the depth of its function among the functions inlined into one another there.
    reachable: HashMap<(u32, usize), Option<ReachableCalls>>,
    instructions: usize,
    /// Relations of calls to loops, by two call sites in a loop and another one.
    in_loops: HashMap<([u32; 2], u32), Option<LoopRelation>>,
}

/// The function in which a loop runs, and the relation of another call to it.
type LoopRelation = (RunningFunction, CallInLoop);

/// A function that was called in one way, identified by the call of it, or `None` for the outermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::structure) struct RunningFunction(Option<u32>);

/// A call or a loop in the code between two calls: its place in the source, or else its address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::structure) struct WorkItem {
    position: SourcePosition,
    address: Option<u64>,
}

struct ModuleCode {
    code: MachineCode,
    /// The addresses to which the calls return that lead to MPI.
    calls: FxHashSet<u64>,
    reader: FileReader,
    /// By an address that was asked for.
    functions: HashMap<u64, Option<Rc<ControlFlow>>>,
    /// The frames of the source at addresses of jumps and calls.
    positions: HashMap<u64, SourcePosition>,
}

impl<'a> ActivationFinder<'a> {
    pub(in crate::structure) fn new(names: &'a ResolvedNames, sites: &'a CallSiteTable) -> ActivationFinder<'a> {
        ActivationFinder {
            names,
            sites,
            modules: HashMap::new(),
            reachable: HashMap::new(),
            instructions: 0,
            in_loops: HashMap::new(),
        }
    }

    /// Returns the innermost call around both nodes whose function makes both calls in one activation, and the calls in it that lead to them.
    pub(in crate::structure) fn meeting(&mut self, from: u32, to: u32) -> SharedFrame {
        let calls = &self.names.calls;
        let mut meeting = calls.meeting(from, to);
        while let Some(call) = meeting.around
            && !self.is_one_activation(to, call, &meeting)
        {
            meeting = SharedFrame { around: calls.node(call).and_then(|node| node.parent), first: call, last: call };
        }
        meeting
    }

    /// Returns the function that runs between two call sites, or `None` if one of them is unknown.
    pub(in crate::structure) fn function_between(&mut self, from: u32, to: u32) -> Option<RunningFunction> {
        let calls = &self.names.calls;
        let (from, to) = (calls.node_of(from)?, calls.node_of(to)?);
        Some(RunningFunction(self.meeting(from, to).around))
    }

    pub(in crate::structure) fn is_around(&self, outer: RunningFunction, inner: RunningFunction) -> bool {
        match (outer.0, inner.0) {
            (Some(outer), Some(inner)) => self.names.calls.is_around(outer, inner),
            (outer, _) => outer.is_none(),
        }
    }

    /// Returns the calls and loops that the code between two calls of MPI, whose paths meet there, always passes, or `None` if they are not known.
    /// Code that does the same work is the same code, whatever calls of MPI come before and after it on a rank.
    pub(in crate::structure) fn work_between(
        &mut self,
        from: u32,
        to: u32,
        meeting: &SharedFrame,
    ) -> Option<BTreeSet<WorkItem>> {
        let first = self.origins_on_path(meeting.first, from);
        let last = self.origins_on_path(meeting.last, to);
        let origin = first.first()?;
        let module = self.site_of(origin)?.module?;
        let [from, to] = [&first, &last].map(|origins| {
            let sites = origins.iter().filter_map(|origin| self.site_of(origin));
            sites.filter(|site| site.module == Some(module)).map(|site| site.offset).collect::<Vec<u64>>()
        });
        let place = &self.names.calls.node(meeting.first)?.place;
        let code = self.unlimited_code(module)?;
        let instance = if origin.is_inlined { code.instance(*from.first()?, place) } else { None };
        let flow = code.function(*from.first()?)?;
        let work = flow.work_between(&from, &to, |address| code.can_pass(instance.as_ref(), address))?;
        let items = work.into_iter().map(|address| {
            let position = code.position(address).clone();
            WorkItem { address: position.is_empty().then_some(address), position }
        });
        let items = items.collect();
        self.instructions += flow.len();
        Some(items)
    }

    /// Returns the role of a call site in the innermost loop around two others, and the function of that loop, which is around all of them.
    /// Returns `None` if the role is not known.
    pub(in crate::structure) fn call_in_loop(
        &mut self,
        looped: [u32; 2],
        other: u32,
    ) -> Option<(RunningFunction, CallInLoop)> {
        if let Some(&known) = self.in_loops.get(&(looped, other)) {
            return known;
        }
        let found = self.find_call_in_loop(looped, other);
        self.in_loops.insert((looped, other), found);
        found
    }

    fn find_call_in_loop(&mut self, looped: [u32; 2], other: u32) -> Option<(RunningFunction, CallInLoop)> {
        let calls = &self.names.calls;
        let other = calls.node_of(other)?;
        let [from, to] = [calls.node_of(looped[0])?, calls.node_of(looped[1])?];
        let [first, second] = [from, to].map(|leaf| calls.meeting(leaf, other));
        // In a deeper function the loop may have only one of them.
        if first.around != second.around {
            let [one, two] =
                [&first, &second].map(|meeting| meeting.around.and_then(|at| calls.node(at)).map(|node| node.depth));
            let deeper = if one > two { first.around } else { second.around };
            return Some((RunningFunction(deeper), CallInLoop::NoLoop));
        }
        let [one, two] = [(first.first, from), (second.first, to)].map(|(node, leaf)| self.origins_on_path(node, leaf));
        let last = self.origins_on_path(second.last, other);
        let module = self.site_of(last.first()?)?.module?;
        let (one, two) = (self.own_offsets(module, &one)?, self.own_offsets(module, &two)?);
        let last = self.own_offsets(module, &last)?;
        let place = &calls.node(second.last)?.place;
        let is_inlined = calls.origins(second.last).iter().any(|origin| origin.is_inlined);
        let code = self.unlimited_code(module)?;
        let instance = if is_inlined { code.instance(*last.first()?, place) } else { None };
        let flow = code.function(*last.first()?)?;
        let mut found: Vec<Option<CallInLoop>> = Vec::new();
        for &other in &last {
            found.extend(one.iter().zip(two.iter().cycle()).map(|(&one, &two)| {
                flow.call_in_loop(&[one, two], other, |address| code.can_pass(instance.as_ref(), address))
            }));
        }
        self.instructions += flow.len() * found.len();
        let first_found = found.first().copied().flatten()?;
        found.iter().all(|&one| one == Some(first_found)).then_some((RunningFunction(second.around), first_found))
    }

    /// Counts the loops around a call site in its function and in the functions that call it, as far as their code is known. Copies of a call
    /// show that the compiler has unrolled a loop.
    pub(in crate::structure) fn count_loops_around(&mut self, site: u32) -> usize {
        let mut n_loops = 0;
        for frame in self.frames_of(site) {
            let own = self.sites.call_sites.get(frame as usize).filter(|own| own.function.is_none());
            let in_function = own.and_then(|own| {
                let flow = self.unlimited_code(own.module?)?.function(own.offset)?;
                self.instructions += flow.len();
                flow.count_loops_around(own.offset)
            });
            n_loops += in_function.unwrap_or(0) + usize::from(self.copies_of(frame).len() > 1);
        }
        n_loops
    }

    /// Counts the loops by which a program may get from one call site to another without another call of MPI, in the function that makes both
    /// calls and in the functions that call it, as far as their code is known. Copies of a call show that the compiler has unrolled a loop.
    pub(in crate::structure) fn count_silent_loops(&mut self, from: u32, to: u32) -> usize {
        let [from, to] = [from, to].map(|site| self.frames_of(site));
        let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
        let turn = from.get(shared).zip(to.get(shared));
        let pairs = turn.into_iter().chain(from[..shared].iter().zip(&to).rev());
        let mut n_loops = 0;
        for (&from, &to) in pairs {
            let copies = [self.copies_of(from), self.copies_of(to)];
            let pairs = copies[0].iter().flat_map(|&from| copies[1].iter().map(move |&to| (from, to)));
            let pairs: Vec<(u32, u32)> = pairs.take(MAX_PAIRS_OF_COPIES).collect();
            let ways: Vec<SilentWays> = pairs.iter().filter_map(|&(from, to)| self.silent_ways(from, to)).collect();
            n_loops += ways.iter().map(|ways| ways.n_loops).max().unwrap_or(0);
            n_loops += usize::from(copies.iter().all(|copies| copies.len() > 1));
            if !ways.iter().any(|ways| ways.may_return) {
                break;
            }
        }
        n_loops
    }

    /// Returns the copies of a call site, including itself: calls of the same place in the source by the same function.
    fn copies_of(&mut self, site: u32) -> Vec<u32> {
        let sites = &self.sites.call_sites;
        let Some(own) = sites.get(site as usize).filter(|own| own.function.is_none()) else { return vec![site] };
        let beside = (0..)
            .zip(sites)
            .filter(|(_, other)| (other.parent, other.module) == (own.parent, own.module) && other.function.is_none());
        let mut copies: Vec<u32> = beside.map(|(at, _)| at).collect();
        let Some(code) = own.module.and_then(|module| self.module_code(module)) else { return vec![site] };
        let position = code.position(own.offset.wrapping_sub(1)).clone();
        copies.retain(|&other| {
            other == site
                || !position.is_empty() && *code.position(sites[other as usize].offset.wrapping_sub(1)) == position
        });
        copies
    }

    /// Returns the call sites on the path to one, the outermost first.
    fn frames_of(&self, site: u32) -> Vec<u32> {
        let sites = &self.sites.call_sites;
        let mut frames: Vec<u32> =
            std::iter::successors(Some(site), |&frame| sites.get(frame as usize)?.parent).collect();
        frames.reverse();
        frames
    }

    /// Returns the ways from one call of a function to another one without a further call of MPI, or `None` if they are not known.
    fn silent_ways(&mut self, from: u32, to: u32) -> Option<SilentWays> {
        let sites = self.sites;
        let (from, to) = (sites.call_sites.get(from as usize)?, sites.call_sites.get(to as usize)?);
        let is_code = from.module == to.module && from.function.is_none() && to.function.is_none();
        let flow = self.unlimited_code(from.module.filter(|_| is_code)?)?.function(from.offset)?;
        self.instructions += flow.len();
        flow.silent_ways(from.offset, to.offset)
    }

    fn site_of(&self, origin: &NodeOrigin) -> Option<&'a CallSite> {
        self.sites.call_sites.get(origin.site as usize)
    }

    /// Returns the offsets of places in the machine code of a module, or `None` if one of them is elsewhere.
    fn own_offsets(&self, module: u32, origins: &[NodeOrigin]) -> Option<Vec<u64>> {
        let sites = origins
            .iter()
            .map(|origin| self.site_of(origin).filter(|site| site.module == Some(module) && site.function.is_none()));
        sites.map(|site| Some(site?.offset)).collect()
    }

    /// Returns the places in the machine code of a node on the path to a call of MPI.
    fn origins_on_path(&self, node: u32, leaf: u32) -> Vec<NodeOrigin> {
        let calls = &self.names.calls;
        let (all, of_leaf) = (calls.origins(node), calls.origins(leaf));
        let own = all.iter().filter(|one| of_leaf.iter().any(|other| other.site == one.site));
        let own: Vec<NodeOrigin> = own.copied().collect();
        if own.is_empty() { all.to_vec() } else { own }
    }

    /// Returns the code of a module, or `None` if it is not known or enough instructions were looked at.
    fn unlimited_code(&mut self, module: u32) -> Option<&mut ModuleCode> {
        if self.instructions > MAX_INSTRUCTIONS { None } else { self.module_code(module) }
    }

    /// Returns the code of a module, or `None` if it is not known.
    fn module_code(&mut self, module: u32) -> Option<&mut ModuleCode> {
        let (names, sites) = (self.names, self.sites);
        let code = self.modules.entry(module).or_insert_with(|| {
            let file = names.files.contains(&module).then(|| sites.modules.get(module as usize))??;
            let own = sites.call_sites.iter().filter(|site| site.module == Some(module) && site.function.is_none());
            let reader = names.readers.open(&file.path, &file.build_id);
            ModuleCode::open(&file.path, reader, own.map(|site| site.offset).collect())
        });
        code.as_mut()
    }

    /// Returns whether a function can make one call after the other without being called again. `call` calls it; `leaf` is the call of MPI that
    /// ends the code.
    fn is_one_activation(&mut self, leaf: u32, call: u32, meeting: &SharedFrame) -> bool {
        let calls = &self.names.calls;
        let mut can_follow = None;
        for &first in calls.origins(meeting.first) {
            for &last in calls.origins(meeting.last) {
                match self.can_follow(meeting, first, last) {
                    Some(true) => return true,
                    Some(false) => can_follow = Some(false),
                    None => {}
                }
            }
        }
        can_follow.unwrap_or_else(|| is_later(calls, leaf, call, meeting))
    }

    /// Returns whether the call at one place in the machine code can follow the call at another, or `None` if the code is not known.
    fn can_follow(&mut self, meeting: &SharedFrame, first: NodeOrigin, last: NodeOrigin) -> Option<bool> {
        let [from, to] = [first, last].map(|origin| self.sites.call_sites.get(origin.site as usize));
        let (from, to) = (from?, to?);
        let module = from.module.filter(|_| from.module == to.module && from.function.is_none())?;
        let place = &self.names.calls.node(meeting.first)?.place;
        let is_over = self.instructions > MAX_INSTRUCTIONS;
        let code = self.module_code(module)?;
        let instance = if first.is_inlined { code.instance(from.offset, place) } else { None };
        let depth = instance.as_ref().map_or(0, |instance| instance.outer.len());
        let key = (first.site, depth);
        if !is_over && !self.reachable.contains_key(&key) {
            let code = self.module_code(module)?;
            let flow = code.function(from.offset);
            let calls = flow
                .as_ref()
                .map(|flow| flow.reachable_calls(from.offset, |address| code.can_pass(instance.as_ref(), address)));
            self.instructions += flow.map_or(0, |flow| flow.len());
            self.reachable.insert(key, calls);
        }
        let reachable = self.reachable.get(&key)?.as_ref()?;
        let can_follow = reachable.return_addresses.contains(&to.offset);
        (can_follow || reachable.is_complete).then_some(can_follow)
    }
}

/// Returns whether a call comes later in the source than the other, which decides if the code is not known. A script's code outside of
/// functions runs once, so that it does not call a function again in an unknown loop. Without lines only the same call again, in a function
/// that is called from several places, is likely to be in a new activation.
fn is_later(calls: &CallTree, leaf: u32, call: u32, meeting: &SharedFrame) -> bool {
    let (Some(first), Some(last)) = (calls.node(meeting.first), calls.node(meeting.last)) else { return true };
    let (first, last) = (&first.place, &last.place);
    let is_script = first.module.is_none() && first.file.as_deref().is_some_and(|file| file.ends_with(".py"));
    let is_outermost = calls.node(call).is_some_and(|node| node.parent.is_none());
    match (first.line, last.line) {
        (Some(first), Some(last)) => first < last || is_script && is_outermost,
        _ => meeting.first != meeting.last || !calls.callers(leaf).last().is_some_and(|&at| calls.is_around(at, call)),
    }
}

struct InlineInstance {
    function: Option<String>,
    /// The frames around it, the innermost first.
    outer: SourcePosition,
}

impl InlineInstance {
    fn contains(&self, position: &SourcePosition) -> bool {
        let Some(own) = position.len().checked_sub(self.outer.len() + 1) else { return false };
        position[own].0.function == self.function && position[own + 1..] == self.outer
    }
}

impl ModuleCode {
    fn open(path: &str, reader: FileReader, calls: FxHashSet<u64>) -> Option<ModuleCode> {
        // Readers panic on some damaged files.
        let code = catch_unwind(|| MachineCode::open(Path::new(path))).ok()??;
        Some(ModuleCode { code, calls, reader, functions: HashMap::new(), positions: HashMap::new() })
    }

    /// Returns the inlined instance of a frame's function at a return address, or `None` if nothing is inlined there.
    fn instance(&mut self, return_address: u64, frame: &CodePlace) -> Option<InlineInstance> {
        let position = self.position(return_address.wrapping_sub(1));
        let own = position.iter().position(|(place, _)| {
            (&place.function, &place.file, place.line) == (&frame.function, &frame.file, frame.line)
        })?;
        let outer = position.get(own + 1..)?.to_vec();
        Some(InlineInstance { function: frame.function.clone(), outer }).filter(|instance| !instance.outer.is_empty())
    }

    fn position(&mut self, address: u64) -> &SourcePosition {
        let reader = &mut self.reader;
        self.positions.entry(address).or_insert_with(|| reader.position(address))
    }

    fn can_pass(&mut self, instance: Option<&InlineInstance>, address: u64) -> bool {
        instance.is_none_or(|instance| instance.contains(self.position(address)))
    }

    /// Returns the function with a call that returns to an address.
    fn function(&mut self, return_address: u64) -> Option<Rc<ControlFlow>> {
        let address = return_address.wrapping_sub(1);
        let (code, calls) = (&self.code, &self.calls);
        let function = self.functions.entry(address).or_insert_with(|| {
            let found = catch_unwind(AssertUnwindSafe(|| {
                let (begin, bytes) = code.function(address)?;
                Some(Rc::new(ControlFlow::decode(&bytes, begin, calls)))
            }));
            found.ok().flatten()
        });
        function.clone()
    }
}
