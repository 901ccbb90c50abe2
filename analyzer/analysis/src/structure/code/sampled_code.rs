//! Addresses at which samples were taken → functions, and lines of the source.
//!
//! Compilers inline functions into one another. A sample lies in all of them, and counts for the innermost that is not in a system header. The
//! functions around it, up to the one that the linker knows, are the nodes around its node. If the log has the call path of the sample, its
//! functions are further out. The work of a library that calls no MPI belongs to the function of the program that called it:
//!
//! ```text
//!   address   of the source, from the inside out                          called from       node
//!   0x1234    std::vector::operator[] ‹ density ‹ step                    ?                 step ─ density, at the line of density
//!   0x1240    step                                                        main              main ─ step
//!   0x9990    __exp_fma ‹ exp, of libm                                    step ‹ main       main ─ step ─ exp, at the line of step
//!   0x1300    add                                                         MPI ‹ main        main ─ add, which MPI calls for a user-defined reduction
//!   0x7000    (a file without symbols)                                    ?                 the file
//!   0x5000    a function of liblbprof.so                                                    the file: the recorder as a whole
//!   0x8000    dgemm_kernel ‹ cblas_dgemm, of openblas       matmul, of NumPy ‹ relax ‹ main main ─ relax ─ matmul ─ cblas_dgemm, at the line of relax in its script
//!   0x6000    _PyEval_EvalFrameDefault                      relax ‹ main                    main ─ relax: the interpreter works for the script's function
//! ```

use bincode::{Decode, Encode};
use std::collections::{BTreeMap, HashMap};

use super::code_place::{CodePlace, SourcePosition, base_name};
use super::frames::{is_interpreter, is_system_file, is_thread_runtime};
use crate::model::Module;
use crate::model::code::sites::{ScriptFunction, SiteAddress};
use crate::structure::interning::intern;

/// The recorder's file. Its functions mean nothing to users, only their total cost does.
const RECORDER: &str = "liblbprof.so";

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub struct SampledFunction {
    /// Its name without return type and parameters; empty if it is not known.
    pub name: String,
    /// Its source file, if it is known.
    pub file: Option<String>,
    /// Path of the executable or library that has it, or `None` for generated code.
    pub module: Option<String>,
}

impl SampledFunction {
    fn from_place(module: &str, place: &CodePlace) -> SampledFunction {
        SampledFunction {
            name: place.function_label().to_owned(),
            file: place.file.clone(),
            module: Some(module.to_owned()),
        }
    }
}

/// A function, with the functions that it was inlined into, and the functions that called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct SampledNode {
    /// The function, an index of [`SampledCode::functions`].
    pub function: u32,
    /// The node of the function around it, which comes before it.
    pub parent: Option<u32>,
    /// The way in which it came into that.
    pub link: SampledLink,
}

/// The way in which a function came into the one around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum SampledLink {
    /// The compiler put it there.
    Inlined,
    /// The function belongs to the program and was called, or nothing is known around it.
    Called,
    /// The function belongs to a library and was called by the program.
    Library,
    /// The function belongs to the program and was called by MPI, within a call of the program.
    CalledBack,
}

/// A line of the source, in a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct SampledLeaf {
    /// The node.
    pub node: u32,
    /// The line, or `None` if it is not known.
    pub line: Option<u32>,
}

/// The innermost function at which samples hit, with all known functions around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct SampledStack {
    /// Its node.
    pub node: u32,
    /// The line, in the node of the same function without callers.
    pub leaf: u32,
}

/// The code that samples hit.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct SampledCode {
    /// Functions.
    pub functions: Vec<SampledFunction>,
    /// Nodes of functions in one another, each after the one around it.
    pub nodes: Vec<SampledNode>,
    /// For each node, the node of the same function inlined into the same functions, without callers: itself, if none are known.
    pub uncalled: Vec<u32>,
    /// Lines of the source.
    pub leaves: Vec<SampledLeaf>,
    /// The stacks at which samples hit.
    pub stacks: Vec<SampledStack>,
    /// For functions that MPI called, the first of the lines at which they executed.
    called_back_at: BTreeMap<u32, u32>,
    /// For nodes of called functions, the first of the lines at which the function around called them.
    called_at: BTreeMap<u32, u32>,
    by_address: HashMap<(SiteAddress, Option<u32>), u32>,
    /// The stacks of files, for addresses that are not known.
    of_module: HashMap<Option<u32>, u32>,
}

impl SampledCode {
    /// Returns the stack of an address that was reached by a chain of calls, an index of
    /// [`CallSiteTable::chains`](crate::model::code::sites::CallSiteTable::chains), or `None` if there is no such file.
    pub fn stack(&self, address: SiteAddress, chain: Option<u32>) -> Option<u32> {
        let known = self.by_address.get(&(address, chain)).or_else(|| self.by_address.get(&(address, None)));
        known.or_else(|| self.of_module.get(&address.0)).or_else(|| self.of_module.get(&None)).copied()
    }

    /// Returns the node of a stack.
    pub fn node_of(&self, stack: u32) -> u32 {
        self.stacks.get(stack as usize).map_or(0, |stack| stack.node)
    }

    /// Returns the leaf of a stack.
    pub fn leaf_of(&self, stack: u32) -> u32 {
        self.stacks.get(stack as usize).map_or(0, |stack| stack.leaf)
    }

    /// Returns a node and the nodes around it, the innermost first.
    pub fn path(&self, node: u32) -> impl Iterator<Item = &SampledNode> {
        std::iter::successors(self.nodes.get(node as usize), |node| self.nodes.get(node.parent? as usize))
    }

    /// Returns the function that is responsible for the time of a node: the caller of a library's function, unless it waits for other threads.
    pub fn responsible(&self, node: u32) -> u32 {
        self.nodes.get(self.responsible_node(node) as usize).map_or(0, |own| own.function)
    }

    /// Returns the node of that function.
    pub fn responsible_node(&self, mut node: u32) -> u32 {
        let is_wait = self.is_wait_code(node);
        while let Some(&SampledNode { parent: Some(parent), link: SampledLink::Library, .. }) =
            self.nodes.get(node as usize).filter(|_| !is_wait)
        {
            node = parent;
        }
        node
    }

    /// Returns the function that called the function around a node, not counting libraries, and the line of the call, or `None` if it is not known.
    pub fn caller(&self, node: u32) -> Option<(u32, Option<u32>)> {
        let mut at = node;
        while !matches!(self.nodes.get(at as usize)?.link, SampledLink::Called | SampledLink::CalledBack) {
            at = self.nodes.get(at as usize)?.parent?;
        }
        let caller = self.nodes.get(self.nodes.get(at as usize)?.parent? as usize)?;
        Some((caller.function, self.called_at.get(&at).copied()))
    }

    /// Returns the function of the program that MPI called and that a stack lies in, also indirectly, or `None` if MPI called none.
    pub fn called_back(&self, stack: u32) -> Option<u32> {
        let called_back = self.path(self.node_of(stack)).find(|node| node.link == SampledLink::CalledBack)?;
        Some(called_back.function)
    }

    /// Returns the first of the lines at which a function that MPI called executed.
    pub fn called_back_line(&self, function: u32) -> Option<u32> {
        self.called_back_at.get(&function).copied()
    }

    /// Returns the function of a node.
    pub fn function(&self, node: u32) -> Option<&SampledFunction> {
        self.functions.get(self.nodes.get(node as usize)?.function as usize)
    }

    /// Returns whether a thread at a node waits for others: in a library that runs threads, or where it gives up its core.
    pub fn is_wait_code(&self, node: u32) -> bool {
        let Some(function) = self.function(node) else { return false };
        let is_yield = matches!(function.name.as_str(), "sched_yield" | "__sched_yield");
        is_yield || function.module.as_deref().is_some_and(is_thread_runtime)
    }

    /// Returns whether a node is code of the recorder.
    pub fn is_recorder(&self, node: u32) -> bool {
        self.function(node).and_then(|function| function.module.as_deref()).is_some_and(is_recorder_file)
    }

    /// Returns whether nothing is known, not even files.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }
}

pub(super) fn is_recorder_file(path: &str) -> bool {
    base_name(path) == RECORDER
}

/// A function of the source at an address of the program, and the functions inlined into it, the innermost last.
#[derive(Clone, Debug, Default)]
pub(super) struct SampledFrame {
    functions: Vec<SampledFunction>,
    /// The line in the innermost one.
    line: Option<u32>,
    /// The line in the outermost one.
    outer_line: Option<u32>,
}

impl SampledFrame {
    /// Returns the frame at an address in a file. `place` is the best known place, `position` the functions around it, from the inside out.
    /// Returns `None` if nothing is known, or if it is the recorder's.
    pub(in crate::structure) fn new(
        module: &str,
        place: &CodePlace,
        position: &SourcePosition,
    ) -> Option<SampledFrame> {
        if is_recorder_file(module) {
            return None;
        }
        let mut frames = position.iter().map(|(frame, _)| frame).filter(|frame| frame.function.is_some());
        let mut shown: Vec<&CodePlace> =
            frames.clone().filter(|frame| !frame.file.as_deref().is_some_and(is_system_file)).collect();
        if shown.is_empty() {
            // If all code belongs to a library, the function that the linker knows.
            shown.extend(frames.next_back().or(Some(place).filter(|place| place.function.is_some())));
        }
        let (innermost, outermost) = shown.first().zip(shown.last())?;
        let functions = shown.iter().rev().map(|frame| SampledFunction::from_place(module, frame)).collect();
        Some(SampledFrame { functions, line: innermost.line, outer_line: outermost.line })
    }

    pub(super) fn from_script(function: &ScriptFunction, line: u32) -> SampledFrame {
        let line = Some(line).filter(|&line| line > 0);
        let function = SampledFunction { name: function.name.clone(), file: Some(function.file.clone()), module: None };
        SampledFrame { functions: vec![function], line, outer_line: line }
    }

    fn is_interpreter(&self) -> bool {
        let module = self.functions.first().and_then(|function| function.module.clone());
        is_interpreter(&CodePlace { module, ..CodePlace::default() })
    }

    /// Returns the function that the linker knows, or a script's, as a library's function: without the source file of machine code.
    fn library_function(&self) -> Option<SampledFunction> {
        let function = self.functions.first()?;
        let file = function.file.clone().filter(|_| function.module.is_none());
        Some(SampledFunction { file, ..function.clone() })
    }
}

#[derive(Debug, Default)]
pub(super) struct ProgramCalls {
    /// The calls in the program's functions, the outermost first.
    pub(super) frames: Vec<SampledFrame>,
    /// The functions of libraries that were called within the last of them, the outermost first.
    pub(super) libraries: Vec<SampledFrame>,
    /// True if functions of a script are among the calls.
    pub(super) is_script: bool,
    /// Number of calls outside of a call of MPI in which MPI called the function of the next one, or the code that a sample hit.
    pub(super) n_outside_mpi: Option<usize>,
}

impl ProgramCalls {
    fn link_after(&self, n_calls: usize) -> SampledLink {
        if self.n_outside_mpi == Some(n_calls) { SampledLink::CalledBack } else { SampledLink::Called }
    }

    /// Returns the functions of libraries around the code at `frame`: the function that the program called, without those that it calls in turn. A
    /// script calls one library for another: there it is the first function in each.
    fn library_functions(&self, frame: Option<&SampledFrame>) -> Vec<SampledFunction> {
        let all = self.libraries.iter().chain(frame).filter_map(SampledFrame::library_function);
        let mut functions: Vec<SampledFunction> = all.collect();
        functions.dedup_by(|inner, outer| inner.module == outer.module);
        functions.truncate(if self.is_script { functions.len() } else { 1 });
        functions
    }
}

/// Builds the sampled code, with each function, node, leaf and stack once.
#[derive(Default)]
pub(super) struct CodeBuilder {
    code: SampledCode,
    functions: HashMap<SampledFunction, u32>,
    nodes: HashMap<SampledNode, u32>,
    leaves: HashMap<SampledLeaf, u32>,
    stacks: HashMap<SampledStack, u32>,
}

impl CodeBuilder {
    /// Creates a builder for these files, without any known functions.
    pub(in crate::structure) fn new(modules: &[Module]) -> CodeBuilder {
        let mut builder = CodeBuilder::default();
        let files = (0..).zip(modules).map(|(at, module)| (Some(at), Some(module.path.clone())));
        for (at, module) in files.chain([(None, None)]) {
            let file = SampledFunction { module, ..SampledFunction::default() };
            let node = builder.node(&file, None, SampledLink::Called);
            let stack = builder.stack(node, None);
            builder.code.of_module.insert(at, stack);
        }
        builder
    }

    /// Enters an address that was reached by no known call.
    pub(in crate::structure) fn add(&mut self, address: SiteAddress, frame: &SampledFrame) {
        if let Some(node) = self.inlined(None, None, frame, SampledLink::Called) {
            let stack = self.stack(node, frame.line);
            self.code.by_address.insert((address, None), stack);
        }
    }

    /// Enters addresses that were reached by a chain of calls, each with its frame, if it is known, and whether it belongs to the program. Unknown
    /// code, such as stubs for calls of libraries, belongs to the function that called it.
    pub(super) fn add_called<'a>(
        &mut self,
        chain: u32,
        calls: &ProgramCalls,
        addresses: impl Iterator<Item = (SiteAddress, Option<&'a SampledFrame>, bool)>,
    ) {
        let (mut caller, mut call_line) = (None, None);
        for (n_calls, frame) in calls.frames.iter().enumerate() {
            caller = self.inlined(caller, call_line, frame, calls.link_after(n_calls));
            call_line = frame.line;
        }
        let link = calls.link_after(calls.frames.len());
        // An interpreter's function calls whatever the script asks for, so it is not responsible for the libraries' work.
        let is_interpreted = calls.frames.last().is_some_and(SampledFrame::is_interpreter);
        for (address, frame, is_program) in addresses {
            // The interpreter's work for a script's function belongs to that function.
            let frame = frame.filter(|frame| !calls.is_script || !frame.is_interpreter());
            let runtime = self.thread_runtime(address).filter(|_| caller.is_some());
            let entered = match runtime {
                Some(runtime) => vec![runtime],
                None => calls.library_functions(frame.filter(|_| !is_program)),
            };
            let stack = match (frame, caller, entered.first()) {
                (Some(frame), _, _) if is_program || caller.is_none() => {
                    let link = if is_program { link } else { SampledLink::Called };
                    self.inlined(caller, call_line, frame, link).map(|node| self.stack(node, frame.line))
                }
                (_, Some(_), Some(function)) if is_interpreted => {
                    let node = self.node(function, caller, SampledLink::Called);
                    Some(self.stack(node, None))
                }
                (_, Some(caller), Some(_)) => {
                    let node = entered
                        .iter()
                        .fold(caller, |around, function| self.node(function, Some(around), SampledLink::Library));
                    Some(self.stack(node, call_line))
                }
                (None, Some(caller), None) => Some(self.stack(caller, call_line)),
                _ => None,
            };
            if let Some(stack) = stack {
                self.code.by_address.insert((address, Some(chain)), stack);
            }
        }
    }

    /// Returns the file of an address as a function, if it is a library that runs threads: whatever they call there, they wait.
    fn thread_runtime(&self, address: SiteAddress) -> Option<SampledFunction> {
        let stack = *self.code.of_module.get(&address.0)?;
        let file = self.code.function(self.code.node_of(stack))?;
        file.module.as_deref().is_some_and(is_thread_runtime).then(|| file.clone())
    }

    /// Enters the functions of a frame, called from the node `caller` at a line with this link, and returns the node of the innermost.
    fn inlined(
        &mut self,
        caller: Option<u32>,
        call_line: Option<u32>,
        frame: &SampledFrame,
        mut link: SampledLink,
    ) -> Option<u32> {
        let (mut parent, mut node) = (caller, None);
        let is_called_back = link == SampledLink::CalledBack;
        for function in &frame.functions {
            let inner = self.node(function, parent, link);
            if let Some(line) = call_line.filter(|_| link != SampledLink::Inlined) {
                let first = self.code.called_at.entry(inner).or_insert(line);
                *first = line.min(*first);
            }
            (parent, link, node) = (Some(inner), SampledLink::Inlined, Some(inner));
        }
        if let (true, Some(outermost), Some(line)) = (is_called_back, frame.functions.first(), frame.outer_line) {
            let function = self.functions[outermost];
            let first = self.code.called_back_at.entry(function).or_insert(line);
            *first = line.min(*first);
        }
        node
    }

    fn node(&mut self, function: &SampledFunction, parent: Option<u32>, link: SampledLink) -> u32 {
        let function = intern(&mut self.functions, &mut self.code.functions, function.clone());
        self.enter(SampledNode { function, parent, link })
    }

    fn enter(&mut self, node: SampledNode) -> u32 {
        if let Some(&known) = self.nodes.get(&node) {
            return known;
        }
        let around = match node.link {
            SampledLink::Called | SampledLink::CalledBack => None,
            SampledLink::Inlined | SampledLink::Library => {
                node.parent.map(|parent| self.code.uncalled[parent as usize])
            }
        };
        let uncalled = (around != node.parent).then(|| self.enter(SampledNode { parent: around, ..node }));
        let at = self.code.nodes.len() as u32;
        self.code.nodes.push(node);
        self.code.uncalled.push(uncalled.unwrap_or(at));
        self.nodes.insert(node, at);
        at
    }

    fn stack(&mut self, node: u32, line: Option<u32>) -> u32 {
        let code = &mut self.code;
        let leaf = SampledLeaf { node: code.uncalled[node as usize], line };
        let leaf = intern(&mut self.leaves, &mut code.leaves, leaf);
        intern(&mut self.stacks, &mut code.stacks, SampledStack { node, leaf })
    }

    pub(in crate::structure) fn finish(self) -> SampledCode {
        self.code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: &str, line: u32) -> (CodePlace, Option<u32>) {
        let (function, file) = (Some(function.to_owned()), Some(file.to_owned()));
        (CodePlace { function, file, line: Some(line), ..CodePlace::default() }, None)
    }

    fn app_frame(function: &str, line: u32) -> SampledFrame {
        SampledFrame::new("/opt/app", &CodePlace::default(), &vec![frame(function, "/src/app.c", line)]).unwrap()
    }

    fn native_frame(module: &str, function: &str) -> SampledFrame {
        let place = CodePlace { function: Some(function.to_owned()), ..CodePlace::default() };
        SampledFrame::new(module, &place, &Vec::new()).unwrap()
    }

    /// The functions of a node and the nodes around it, the outermost first.
    fn names(code: &SampledCode, node: u32) -> String {
        let mut names: Vec<&str> =
            code.path(node).map(|node| code.functions[node.function as usize].name.as_str()).collect();
        names.reverse();
        names.join(" > ")
    }

    #[test]
    fn a_sample_counts_for_the_innermost_function_that_is_the_users() {
        let modules = ["/opt/app", "/opt/liblbprof.so"].map(|path| Module { path: path.into(), build_id: Vec::new() });
        let mut builder = CodeBuilder::new(&modules);
        let none = CodePlace::default();
        let inlined = vec![
            frame("std::vector<double>::operator[](unsigned long)", "/usr/include/c++/12/bits/stl_vector.h", 1121),
            frame("density(int)", "/src/sph.cpp", 40),
            frame("step(Grid&)", "/src/main.cpp", 90),
        ];
        let system = vec![frame("void std::sort<int*>(int*, int*)", "/usr/include/c++/12/bits/stl_algo.h", 5)];
        let symbol = CodePlace { function: Some("exp".into()), ..CodePlace::default() };
        let mut add = |address, module, place, position: &SourcePosition| {
            if let Some(frame) = SampledFrame::new(module, place, position) {
                builder.add(address, &frame);
            }
        };
        add((Some(0), 1), "/opt/app", &none, &inlined);
        add((Some(0), 2), "/opt/app", &none, &inlined[2..].to_vec());
        add((Some(0), 3), "/opt/app", &none, &system);
        add((Some(0), 4), "/opt/app", &symbol, &Vec::new());
        add((Some(1), 6), "/opt/liblbprof.so", &symbol, &inlined);
        let code = builder.finish();
        let shown = |address| {
            let leaf = &code.leaves[code.leaf_of(code.stack(address, None).unwrap()) as usize];
            (names(&code, leaf.node), leaf.line)
        };
        assert_eq!(shown((Some(0), 1)), ("step > density".to_owned(), Some(40)));
        assert_eq!(shown((Some(0), 2)), ("step".to_owned(), Some(90)));
        assert_eq!(shown((Some(0), 3)), ("std::sort<int*>".to_owned(), Some(5)));
        assert_eq!(shown((Some(0), 4)), ("exp".to_owned(), None));
        // What is not known is of its file, and of none where it lies in none.
        let module = |address| {
            let leaf = &code.leaves[code.leaf_of(code.stack(address, None).unwrap()) as usize];
            code.function(leaf.node).unwrap().module.clone()
        };
        assert_eq!(shown((Some(0), 5)), (String::new(), None));
        assert_eq!((module((Some(0), 5)), module((None, 5))), (Some("/opt/app".to_owned()), None));
        assert_eq!(
            [(Some(0), 4), (Some(0), 5), (Some(1), 6), (None, 5)]
                .map(|address| code.is_recorder(code.node_of(code.stack(address, None).unwrap()))),
            [false, false, true, false]
        );
        // So is what the recorder does, though all is known of it.
        assert_eq!(
            (shown((Some(1), 6)), module((Some(1), 6))),
            ((String::new(), None), Some("/opt/liblbprof.so".to_owned()))
        );
    }

    #[test]
    fn a_function_that_mpi_calls_is_known() {
        let mut builder = CodeBuilder::new(&[]);
        let hit = |at: u64| (Some(0), at);
        let (add, dot, main) = (app_frame("add", 20), app_frame("dot", 30), app_frame("main", 9));
        // main (9) calls MPI, which calls add (20, 21); in line 21 that calls dot.
        let main_calls = || ProgramCalls { frames: vec![main.clone()], ..ProgramCalls::default() };
        let calls = ProgramCalls { n_outside_mpi: Some(1), ..main_calls() };
        builder.add_called(0, &calls, [(hit(1), Some(&add), true)].into_iter());
        let calls = ProgramCalls { frames: vec![main.clone(), app_frame("add", 21)], ..calls };
        builder.add_called(1, &calls, [(hit(2), Some(&dot), true)].into_iter());
        // The calls around MPI are not known.
        let calls = ProgramCalls { n_outside_mpi: Some(0), ..ProgramCalls::default() };
        builder.add_called(2, &calls, [(hit(1), Some(&add), true)].into_iter());
        builder.add_called(3, &main_calls(), [(hit(2), Some(&dot), true)].into_iter());
        builder.add_called(4, &ProgramCalls::default(), [(hit(3), Some(&main), true)].into_iter());
        let code = builder.finish();
        let called_back = |at: u64, chain: u32| {
            let function = code.called_back(code.stack(hit(at), Some(chain)).unwrap())?;
            Some((code.functions[function as usize].name.as_str(), code.called_back_line(function)))
        };
        let add = Some(("add", Some(20)));
        assert_eq!([called_back(1, 0), called_back(2, 1), called_back(1, 2)], [add, add, add]);
        assert_eq!([called_back(2, 3), called_back(3, 4)], [None, None]);
    }

    #[test]
    fn what_a_library_does_is_of_the_function_that_called_it() {
        let mut builder = CodeBuilder::new(&[]);
        let calls = |libraries| ProgramCalls {
            frames: vec![app_frame("main", 9), app_frame("step", 5)],
            libraries,
            ..ProgramCalls::default()
        };
        // main (9) calls step, which calls exp in line 5; that calls __exp_fma. In line 6 step computes itself.
        let called = |at: u64| (Some(0), at);
        let libm = "/lib/libm.so.6";
        let (fma, step) = (native_frame(libm, "__exp_fma"), app_frame("step", 6));
        builder.add_called(0, &calls(vec![native_frame(libm, "exp")]), [(called(1), Some(&fma), false)].into_iter());
        let main = ProgramCalls { frames: vec![app_frame("main", 9)], ..ProgramCalls::default() };
        builder.add_called(1, &main, [(called(2), Some(&step), true), (called(3), None, true)].into_iter());
        builder.add_called(2, &calls(Vec::new()), [(called(1), Some(&fma), false)].into_iter());
        let evaluate = vec![frame("_PyEval_EvalFrameDefault", "/src/ceval.c", 7)];
        let evaluate = SampledFrame::new("/usr/bin/python3.11", &CodePlace::default(), &evaluate).unwrap();
        let script = ProgramCalls { frames: vec![evaluate], ..ProgramCalls::default() };
        builder.add_called(3, &script, [(called(4), Some(&fma), false)].into_iter());
        let code = builder.finish();
        let shown = |at, chain| {
            let stack = code.stack(called(at), Some(chain)).unwrap();
            let leaf = &code.leaves[code.leaf_of(stack) as usize];
            let responsible = &code.functions[code.responsible(code.node_of(stack)) as usize].name;
            (names(&code, code.node_of(stack)), leaf.line, responsible.as_str())
        };
        assert_eq!(shown(1, 0), ("main > step > exp".to_owned(), Some(5), "step"));
        assert_eq!(shown(2, 1), ("main > step".to_owned(), Some(6), "step"));
        assert_eq!(shown(3, 1), ("main".to_owned(), Some(9), "main"), "nothing is known of the place itself");
        assert_eq!(shown(1, 2), ("main > step > __exp_fma".to_owned(), Some(5), "step"));
        let called_by_script = ("_PyEval_EvalFrameDefault > __exp_fma".to_owned(), None, "__exp_fma");
        assert_eq!(shown(4, 3), called_by_script, "an interpreter does not answer for what a script calls");
        // Whatever called step, it is one function.
        let uncalled = |at: u64, chain| {
            let node = code.uncalled[code.node_of(code.stack(called(at), Some(chain)).unwrap()) as usize];
            code.path(node).last().copied()
        };
        assert_eq!(uncalled(1, 0), uncalled(2, 1));
    }

    #[test]
    fn what_an_interpreter_does_is_of_the_scripts_function() {
        let script = |name: &str, line| {
            SampledFrame::from_script(&ScriptFunction { name: name.into(), file: "/home/u/heat.py".into() }, line)
        };
        let mut builder = CodeBuilder::new(&[]);
        let blas = "/opt/libopenblas.so.0";
        let calls = |libraries| ProgramCalls {
            frames: vec![script("main", 40), script("relax", 18)],
            libraries,
            is_script: true,
            n_outside_mpi: None,
        };
        let at = |at: u64| (Some(0), at);
        let evaluate = native_frame("/usr/bin/python3.11", "_PyEval_EvalFrameDefault");
        let kernel = native_frame(blas, "kernel");
        builder.add_called(
            0,
            &calls(Vec::new()),
            [(at(1), Some(&evaluate), false), (at(2), Some(&kernel), false)].into_iter(),
        );
        let numpy = || native_frame("/opt/numpy/umath.so", "matmul");
        let libraries = vec![numpy(), native_frame("/opt/numpy/umath.so", "inner"), native_frame(blas, "dgemm")];
        builder.add_called(1, &calls(libraries), [(at(2), Some(&kernel), false)].into_iter());
        builder.add_called(2, &calls(vec![numpy()]), [(at(1), Some(&evaluate), false)].into_iter());
        let code = builder.finish();
        let shown = |place, chain| {
            let stack = code.stack(at(place), Some(chain)).unwrap();
            let responsible = &code.functions[code.responsible(code.node_of(stack)) as usize];
            assert_eq!((responsible.name.as_str(), responsible.file.as_deref()), ("relax", Some("/home/u/heat.py")));
            assert_eq!(
                code.caller(code.node_of(stack))
                    .map(|(caller, at)| (code.functions[caller as usize].name.as_str(), at)),
                Some(("main", Some(40)))
            );
            (names(&code, code.node_of(stack)), code.leaves[code.leaf_of(stack) as usize].line)
        };
        assert_eq!(shown(1, 0), ("main > relax".to_owned(), Some(18)));
        assert_eq!(shown(2, 0), ("main > relax > kernel".to_owned(), Some(18)));
        assert_eq!(shown(2, 1), ("main > relax > matmul > dgemm".to_owned(), Some(18)));
        assert_eq!(shown(1, 2), ("main > relax > matmul".to_owned(), Some(18)));
    }
}
