//! Addresses at which samples were taken → functions, and lines of the source.
//!
//! Compilers put functions into one another. A sample lies in all of them, and counts for the innermost that is not of a system header; the functions
//! around it, up to the one that the linker knows, are the nodes around its node:
//!
//! ```text
//!   address   of the source, from the inside out                          node
//!   0x1234    std::vector::operator[] ‹ density ‹ step                    step ─ density, at the line of density
//!   0x1240    step                                                        step
//!   0x9990    exp, of libm                                                exp
//!   0x7000    (a file without symbols)                                    the file
//!   0x5000    a function of liblbprof.so                                  the file: what the recorder does, as a whole
//! ```

use bincode::{Decode, Encode};
use std::collections::HashMap;

use super::code_place::{CodePlace, Position, base_name};
use super::frames::is_system_file;
use crate::model::Module;
use crate::model::sites::Address;

/// The recorder's file. Its functions mean nothing to users, and its cost is that of all of them.
const RECORDER: &str = "liblbprof.so";

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub struct SampledFunction {
    /// Its name without return type and parameters; empty where it is not known.
    pub name: String,
    /// Its source file, where that is known.
    pub file: Option<String>,
    /// Path of the executable or library that has it; `None`: generated code.
    pub module: Option<String>,
}

/// A function, in the functions that it was put into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct SampledNode {
    /// The function, an index of [`SampledCode::functions`].
    pub function: u32,
    /// The node of the function around it, which comes before it.
    pub parent: Option<u32>,
}

/// A line of the source, in a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct SampledLeaf {
    /// The node.
    pub node: u32,
    /// The line; `None`: it is not known.
    pub line: Option<u32>,
}

/// The code that samples hit.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct SampledCode {
    /// Functions.
    pub functions: Vec<SampledFunction>,
    /// The same in one another, each after the one around it.
    pub nodes: Vec<SampledNode>,
    /// Lines of the source.
    pub leaves: Vec<SampledLeaf>,
    by_address: HashMap<Address, u32>,
    /// The leaves of files, for addresses that are not known.
    of_module: HashMap<Option<u32>, u32>,
}

impl SampledCode {
    /// The leaf of an address; `None` where there is no such file.
    pub fn leaf(&self, address: Address) -> Option<u32> {
        let known = self.by_address.get(&address).or_else(|| self.of_module.get(&address.0));
        known.or_else(|| self.of_module.get(&None)).copied()
    }

    /// The function of a node.
    pub fn function(&self, node: u32) -> Option<&SampledFunction> {
        self.functions.get(self.nodes.get(node as usize)?.function as usize)
    }

    /// Returns whether a node is code of the recorder.
    pub fn is_recorder(&self, node: u32) -> bool {
        let module = self.function(node).and_then(|function| function.module.as_deref());
        module.is_some_and(|module| base_name(module) == RECORDER)
    }

    /// Whether nothing is known, not even of files.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }
}

/// Enters code, each function, node and leaf once.
pub(super) struct CodeBuilder {
    code: SampledCode,
    functions: HashMap<SampledFunction, u32>,
    nodes: HashMap<SampledNode, u32>,
    leaves: HashMap<SampledLeaf, u32>,
}

impl CodeBuilder {
    /// The code of these files, of which nothing is known yet.
    pub(super) fn new(modules: &[Module]) -> CodeBuilder {
        let (functions, nodes, leaves) = Default::default();
        let mut builder = CodeBuilder { code: SampledCode::default(), functions, nodes, leaves };
        let files = (0..).zip(modules).map(|(at, module)| (Some(at), Some(module.path.clone())));
        for (at, module) in files.chain([(None, None)]) {
            let leaf = builder.leaf(&[SampledFunction { module, ..SampledFunction::default() }], None);
            builder.code.of_module.insert(at, leaf);
        }
        builder
    }

    /// Enters what is known of an address in a file: `place`, the best of it, and where that stands in the source, from the inside out.
    pub(super) fn add(&mut self, address: Address, module: &str, place: &CodePlace, position: &Position) {
        if base_name(module) == RECORDER {
            return;
        }
        let is_own = |frame: &CodePlace| !frame.file.as_deref().is_some_and(is_system_file);
        let function = |frame: &CodePlace| SampledFunction {
            name: frame.function_label().to_owned(),
            file: frame.file.clone(),
            module: Some(module.to_owned()),
        };
        let frames = || position.iter().map(|(frame, _)| frame).filter(|frame| frame.function.is_some());
        let own: Vec<&CodePlace> = frames().filter(|frame| is_own(frame)).collect();
        // Of code that is all a library's, the function that the linker knows.
        let shown = if own.is_empty() { frames().next_back().into_iter().collect() } else { own };
        let leaf = match shown.first() {
            Some(innermost) => {
                let chain: Vec<SampledFunction> = shown.iter().rev().map(|frame| function(frame)).collect();
                self.leaf(&chain, innermost.line)
            }
            None if place.function.is_some() => self.leaf(&[function(place)], place.line),
            None => return,
        };
        self.code.by_address.insert(address, leaf);
    }

    /// The leaf of a line in the last of functions that lie in one another, the outermost first.
    fn leaf(&mut self, chain: &[SampledFunction], line: Option<u32>) -> u32 {
        let mut parent = None;
        for function in chain {
            let code = &mut self.code;
            let function = *self.functions.entry(function.clone()).or_insert_with(|| {
                code.functions.push(function.clone());
                code.functions.len() as u32 - 1
            });
            let node = SampledNode { function, parent };
            let at = *self.nodes.entry(node).or_insert_with(|| {
                code.nodes.push(node);
                code.nodes.len() as u32 - 1
            });
            parent = Some(at);
        }
        let leaf = SampledLeaf { node: parent.unwrap_or(0), line };
        *self.leaves.entry(leaf.clone()).or_insert_with(|| {
            self.code.leaves.push(leaf);
            self.code.leaves.len() as u32 - 1
        })
    }

    /// All that was entered.
    pub(super) fn finish(self) -> SampledCode {
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
        builder.add((Some(0), 1), "/opt/app", &none, &inlined);
        builder.add((Some(0), 2), "/opt/app", &none, &inlined[2..].to_vec());
        builder.add((Some(0), 3), "/opt/app", &none, &system);
        builder.add((Some(0), 4), "/opt/app", &symbol, &Vec::new());
        builder.add((Some(1), 6), "/opt/liblbprof.so", &symbol, &inlined);
        let code = builder.finish();
        let shown = |address| {
            let leaf = &code.leaves[code.leaf(address).unwrap() as usize];
            let mut names = Vec::new();
            let mut next = Some(leaf.node);
            while let Some(at) = next {
                names.insert(0, code.function(at).unwrap().name.as_str());
                next = code.nodes[at as usize].parent;
            }
            (names.join(" > "), leaf.line)
        };
        assert_eq!(shown((Some(0), 1)), ("step > density".to_owned(), Some(40)));
        assert_eq!(shown((Some(0), 2)), ("step".to_owned(), Some(90)));
        assert_eq!(shown((Some(0), 3)), ("std::sort<int*>".to_owned(), Some(5)));
        assert_eq!(shown((Some(0), 4)), ("exp".to_owned(), None));
        // What is not known is of its file, and of none where it lies in none.
        let module = |address| {
            let leaf = &code.leaves[code.leaf(address).unwrap() as usize];
            code.function(leaf.node).unwrap().module.clone()
        };
        assert_eq!(shown((Some(0), 5)), (String::new(), None));
        assert_eq!((module((Some(0), 5)), module((None, 5))), (Some("/opt/app".to_owned()), None));
        let is_recorder = |address| code.is_recorder(code.leaves[code.leaf(address).unwrap() as usize].node);
        assert_eq!([(Some(0), 4), (Some(0), 5), (Some(1), 6), (None, 5)].map(is_recorder), [false, false, true, false]);
        // So is what the recorder does, though all is known of it.
        assert_eq!(
            (shown((Some(1), 6)), module((Some(1), 6))),
            ((String::new(), None), Some("/opt/liblbprof.so".to_owned()))
        );
    }
}
