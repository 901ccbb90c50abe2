//! The files that a run's calls come from, and the call sites in them: each once, whatever ids the ranks' logs give them.
//!
//! A module is the same on all ranks by its build id, or by its path where it has none; a call site by its module and offset, and by the
//! site from which the function around it was called: call sites are the nodes of the tree of call paths. One in a function of an interpreted program
//! is the same by that function's name and file, and by line and column. Addresses at which samples were taken are the same by module and offset.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use std::collections::{BTreeSet, HashMap};

use lbprof_collector::definition;
use lbprof_collector::record::NONE;
use lbprof_collector::sample::CodeAddress;

use crate::read::definitions::RankDefinitions;

/// Modules and call sites.
#[derive(Clone, Debug, Default)]
pub struct CallSiteTable {
    /// Files, by path once sorted.
    pub modules: Vec<Module>,
    /// Functions of interpreted programs, by name and file once sorted.
    pub functions: Vec<ScriptFunction>,
    /// Call sites, each after its parent; by module and offset once [`CallSiteTable::sorted`], those in no module last.
    pub call_sites: Vec<CallSite>,
    /// Addresses at which samples were taken, at most [`MOST_ADDRESSES`].
    pub sampled: BTreeSet<SiteAddress>,
    /// Calls by which the program came to samples.
    pub chains: Vec<SampleChain>,
    /// The addresses at which samples were taken, and by which of the chains the program had come there; likewise.
    pub sampled_by: BTreeSet<(SiteAddress, u32)>,
    modules_by_key: HashMap<Vec<u8>, u32>,
    functions_by_key: HashMap<ScriptFunction, u32>,
    sites_by_key: HashMap<CallSite, u32>,
    chains_by_key: HashMap<SampleChain, u32>,
}

/// An address: index in [`CallSiteTable::modules`] of the file that it lies in, and its place there as that file's own tables state it; `None`, and the
/// address itself, where it lies in none.
pub type SiteAddress = (Option<u32>, u64);

/// Calls by which the program came to samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct SampleChain {
    /// The calls, the innermost first.
    pub callers: Vec<ChainCall>,
    /// True if there may be more around them.
    pub is_cut: bool,
}

/// A call by which the program came to samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum ChainCall {
    /// The call returns to this address.
    To(SiteAddress),
    /// The call is in this function of an interpreted program, on this line; 0: none.
    InScript(u32, u32),
}

impl SampleChain {
    fn renumbered(&self, modules: &[u32], functions: &[u32]) -> SampleChain {
        let callers = self.callers.iter().map(|caller| match caller {
            ChainCall::To(address) => ChainCall::To(renumber_address(address, modules)),
            ChainCall::InScript(function, line) => ChainCall::InScript(functions[*function as usize], *line),
        });
        SampleChain { callers: callers.collect(), is_cut: self.is_cut }
    }
}

/// An address with the index of its module in another table, by its index in this one.
fn renumber_address(address: &SiteAddress, modules: &[u32]) -> SiteAddress {
    let (module, offset) = *address;
    (module.map(|module| modules[module as usize]), offset)
}

/// Most addresses of samples that are distinguished, those that come first; of the others only the file is known. Programs have some ten thousand.
pub const MOST_ADDRESSES: usize = 1 << 18;

/// Most call sites of a path: more than the recorder has. The site of a longer one is not known.
const MAX_DEPTH: usize = 1024;

impl CallSiteTable {
    fn module(&mut self, path: &str, build_id: &[u8]) -> u32 {
        *self.modules_by_key.entry(module_key(path, build_id).to_vec()).or_insert_with(|| {
            self.modules.push(Module { path: path.to_owned(), build_id: build_id.to_vec() });
            self.modules.len() as u32 - 1
        })
    }

    fn function(&mut self, function: &ScriptFunction) -> u32 {
        *self.functions_by_key.entry(function.clone()).or_insert_with(|| {
            self.functions.push(function.clone());
            self.functions.len() as u32 - 1
        })
    }

    fn site(&mut self, site: CallSite) -> u32 {
        *self.sites_by_key.entry(site).or_insert_with(|| {
            self.call_sites.push(site);
            self.call_sites.len() as u32 - 1
        })
    }

    /// Enters the call sites that a rank's log defines: their indices by the log's ids.
    pub fn enter(&mut self, definitions: &RankDefinitions) -> HashMap<u32, u32> {
        let mut indices = HashMap::new();
        let mut depths: HashMap<u32, usize> = HashMap::new();
        for (&id, site) in &definitions.call_sites {
            let parent = parent_of(id, site).filter(|parent| definitions.call_sites.contains_key(parent));
            let depth = parent.map_or(Some(0), |parent| Some(depths.get(&parent)? + 1));
            let Some(depth) = depth.filter(|&depth| depth < MAX_DEPTH) else { continue };
            depths.insert(id, depth);
            let parent = parent.and_then(|parent| indices.get(&parent).copied());
            let module = self.enter_module(definitions, site.module);
            let function = definitions.functions.get(&site.function).map(|function| self.function(&function.into()));
            indices.insert(id, self.site(CallSite::new(module, function, site, parent)));
        }
        indices
    }

    /// Enters addresses at which samples were taken and the calls that led there, by ids of modules and of callers that a rank's log defines.
    pub fn enter_sampled<'a>(
        &mut self,
        definitions: &RankDefinitions,
        samples: impl Iterator<Item = &'a (CodeAddress, u32)>,
    ) {
        let mut modules: HashMap<u32, Option<u32>> = HashMap::new();
        let mut chains: HashMap<u32, u32> = HashMap::new();
        for &(CodeAddress { module, offset }, call_path) in samples {
            let module = *modules.entry(module).or_insert_with(|| self.enter_module(definitions, module));
            self.sampled.insert((module, offset));
            if call_path != NONE {
                let chain = *chains.entry(call_path).or_insert_with(|| {
                    let (callers, is_cut) = definitions.sample_chain(call_path);
                    let calls = callers.into_iter().map(|caller| match definitions.functions.get(&caller.function) {
                        Some(function) => ChainCall::InScript(self.function(&function.into()), caller.offset as u32),
                        None => ChainCall::To((self.enter_module(definitions, caller.module), caller.offset)),
                    });
                    let callers = calls.collect();
                    self.chain(SampleChain { callers, is_cut })
                });
                self.sampled_by.insert(((module, offset), chain));
            }
        }
        self.limit_sampled();
    }

    fn chain(&mut self, chain: SampleChain) -> u32 {
        *self.chains_by_key.entry(chain).or_insert_with_key(|chain| {
            self.chains.push(chain.clone());
            self.chains.len() as u32 - 1
        })
    }

    /// The index of the calls that led to samples with a call path of a rank's log; `None` where it is not here, or not known.
    pub fn chain_of(&self, definitions: &RankDefinitions, call_path: u32) -> Option<u32> {
        let (callers, is_cut) = definitions.sample_chain(call_path);
        let callers = callers.into_iter().map(|caller| match definitions.functions.get(&caller.function) {
            Some(function) => {
                Some(ChainCall::InScript(*self.functions_by_key.get(&function.into())?, caller.offset as u32))
            }
            None => Some(ChainCall::To((self.module_of(definitions, caller.module), caller.offset))),
        });
        self.chains_by_key.get(&SampleChain { callers: callers.collect::<Option<_>>()?, is_cut }).copied()
    }

    /// Keeps samples up to a limit. The order of merging does not matter.
    fn limit_sampled(&mut self) {
        while self.sampled.len() > MOST_ADDRESSES {
            self.sampled.pop_last();
        }
        while self.sampled_by.len() > MOST_ADDRESSES {
            self.sampled_by.pop_last();
        }
    }

    /// The index of a module that a rank's log defines as `id`; `None` where it is not here.
    pub fn module_of(&self, definitions: &RankDefinitions, id: u32) -> Option<u32> {
        let module = definitions.modules.get(&id)?;
        self.modules_by_key.get(module_key(&module.path, &module.build_id)).copied()
    }

    fn enter_module(&mut self, definitions: &RankDefinitions, id: u32) -> Option<u32> {
        definitions.modules.get(&id).map(|module| self.module(&module.path, &module.build_id))
    }

    /// The index of the call site that a rank's log defines as `id`; `None` where it is not here.
    pub fn find(&self, definitions: &RankDefinitions, id: u32) -> Option<u32> {
        let mut path = Vec::new();
        let mut next = Some(id);
        while let Some((id, site)) = next.and_then(|id| Some((id, definitions.call_sites.get(&id)?))) {
            path.push(site);
            next = parent_of(id, site).filter(|_| path.len() <= MAX_DEPTH);
        }
        if path.len() > MAX_DEPTH {
            return None;
        }
        path.into_iter().rev().try_fold(None, |parent, site| {
            let module = match definitions.modules.get(&site.module) {
                Some(module) => Some(*self.modules_by_key.get(module_key(&module.path, &module.build_id))?),
                None => None,
            };
            let function = match definitions.functions.get(&site.function) {
                Some(function) => Some(*self.functions_by_key.get(&function.into())?),
                None => None,
            };
            Some(Some(*self.sites_by_key.get(&CallSite::new(module, function, site, parent))?))
        })?
    }

    /// Enters the call sites of `other`, and returns their indices here.
    pub fn merge(&mut self, other: &CallSiteTable) -> Vec<u32> {
        let modules: Vec<u32> =
            other.modules.iter().map(|module| self.module(&module.path, &module.build_id)).collect();
        let functions: Vec<u32> = other.functions.iter().map(|function| self.function(function)).collect();
        let mut indices: Vec<u32> = Vec::with_capacity(other.call_sites.len());
        for site in &other.call_sites {
            let module = site.module.map(|module| modules[module as usize]);
            let parent = site.parent.map(|parent| indices[parent as usize]);
            let function = site.function.map(|function| functions[function as usize]);
            indices.push(self.site(CallSite { module, function, parent, ..*site }));
        }
        self.sampled.extend(other.sampled.iter().map(|at| renumber_address(at, &modules)));
        let chains: Vec<u32> =
            other.chains.iter().map(|chain| self.chain(chain.renumbered(&modules, &functions))).collect();
        let sampled_by =
            other.sampled_by.iter().map(|(at, chain)| (renumber_address(at, &modules), chains[*chain as usize]));
        self.sampled_by.extend(sampled_by);
        self.limit_sampled();
        indices
    }

    /// Returns the table in an order that does not depend on the order of entering, and the new index of each old entry.
    pub fn sorted(mut self) -> (CallSiteTable, Vec<u32>) {
        let mut modules = self.modules.clone();
        modules.sort_by(|a, b| (&a.path, &a.build_id).cmp(&(&b.path, &b.build_id)));
        let mut all = CallSiteTable::default();
        for module in &modules {
            all.module(&module.path, &module.build_id);
        }
        let mut functions = self.functions.clone();
        functions.sort();
        for function in &functions {
            all.function(function);
        }
        let functions: Vec<u32> = self.functions.iter().map(|function| all.function(function)).collect();
        let modules: Vec<u32> = self.modules.iter().map(|module| all.module(&module.path, &module.build_id)).collect();
        for site in &mut self.call_sites {
            site.module = site.module.map(|module| modules[module as usize]);
            site.function = site.function.map(|function| functions[function as usize]);
        }
        all.sampled = self.sampled.iter().map(|at| renumber_address(at, &modules)).collect();
        let chains: Vec<SampleChain> = self.chains.iter().map(|chain| chain.renumbered(&modules, &functions)).collect();
        let sampled_by: Vec<(SiteAddress, u32)> =
            self.sampled_by.iter().map(|(at, chain)| (renumber_address(at, &modules), *chain)).collect();
        let mut by_order: Vec<&SampleChain> = chains.iter().collect();
        by_order.sort();
        for chain in by_order {
            all.chain(chain.clone());
        }
        all.sampled_by =
            sampled_by.into_iter().map(|(at, chain)| (at, (all.chains_by_key[&chains[chain as usize]]))).collect();
        let places = self.places_by_level();
        let mut order: Vec<u32> = (0..self.call_sites.len() as u32).collect();
        order.sort_by_key(|at| {
            let site = &self.call_sites[*at as usize];
            (site.own_order(), places[*at as usize])
        });
        let mut indices = vec![0; order.len()];
        for (new, &old) in (0..).zip(&order) {
            indices[old as usize] = new;
        }
        all.call_sites = order.iter().map(|&old| self.call_sites[old as usize]).collect();
        for site in &mut all.call_sites {
            site.parent = site.parent.map(|parent| indices[parent as usize]);
        }
        all.sites_by_key = all.call_sites.iter().copied().zip(0..).collect();
        (all, indices)
    }

    /// For each call site how many are around it, and its place among those with as many: by what it is, then by the place of the one that it
    /// was called from.
    fn places_by_level(&self) -> Vec<(u32, u32)> {
        let mut places: Vec<(u32, u32)> = Vec::with_capacity(self.call_sites.len());
        let mut levels: Vec<Vec<u32>> = Vec::new();
        for (at, site) in (0..).zip(&self.call_sites) {
            let level = site.parent.map_or(0, |parent| places[parent as usize].0 + 1);
            places.push((level, 0));
            if level as usize == levels.len() {
                levels.push(Vec::new());
            }
            levels[level as usize].push(at);
        }
        for mut level in levels {
            level.sort_by_key(|&at| {
                let site = &self.call_sites[at as usize];
                let around = site.parent.map(|parent| places[parent as usize].1);
                (site.own_order(), site.cut, around)
            });
            for (place, at) in (0..).zip(level) {
                places[at as usize].1 = place;
            }
        }
        places
    }
}

type ListedTables = (
    Vec<Module>,
    Vec<ScriptFunction>,
    Vec<CallSite>,
    BTreeSet<SiteAddress>,
    Vec<SampleChain>,
    BTreeSet<(SiteAddress, u32)>,
);

impl Encode for CallSiteTable {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        (&self.modules, &self.functions, &self.call_sites, &self.sampled, &self.chains, &self.sampled_by)
            .encode(encoder)
    }
}

impl<Context> Decode<Context> for CallSiteTable {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<CallSiteTable, DecodeError> {
        let (modules, functions, call_sites, sampled, chains, sampled_by) = ListedTables::decode(decoder)?;
        let module_keys = modules.iter().map(|module| module_key(&module.path, &module.build_id).to_vec());
        Ok(CallSiteTable {
            modules_by_key: module_keys.zip(0..).collect(),
            functions_by_key: functions.iter().cloned().zip(0..).collect(),
            sites_by_key: call_sites.iter().copied().zip(0..).collect(),
            chains_by_key: chains.iter().cloned().zip(0..).collect(),
            chains,
            sampled_by,
            modules,
            functions,
            call_sites,
            sampled,
        })
    }
}

bincode::impl_borrow_decode!(CallSiteTable);

fn module_key<'a>(path: &'a str, build_id: &'a [u8]) -> &'a [u8] {
    if build_id.is_empty() { path.as_bytes() } else { build_id }
}

/// A program or shared object.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Module {
    /// Path of its file as the program loaded it.
    pub path: String,
    /// GNU build id, empty where it has none.
    pub build_id: Vec<u8>,
}

/// A function of an interpreted program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct ScriptFunction {
    /// Its qualified name.
    pub name: String,
    /// Its file.
    pub file: String,
}

impl From<&definition::InterpretedFunction> for ScriptFunction {
    fn from(function: &definition::InterpretedFunction) -> ScriptFunction {
        ScriptFunction { name: function.name.clone(), file: function.file.clone() }
    }
}

/// A place from which a function is called, and how the program got there. Those that records refer to call MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct CallSite {
    /// Index in [`CallSiteTable::modules`]; `None` where the address lies in none.
    pub module: Option<u32>,
    /// Index in [`CallSiteTable::functions`] of the interpreted function that it is in; `None`: it is machine code that calls.
    pub function: Option<u32>,
    /// Return address as the module's own tables state it; the raw address where there is no module; the line of an interpreted function, 0: none.
    pub offset: u64,
    /// The column in that line, from 0 on, where it is known.
    pub column: Option<u32>,
    /// Index of the site from which the function around this one was called; `None`: it is the outermost known.
    pub parent: Option<u32>,
    /// True if an outermost one was called from somewhere that is not known.
    pub cut: bool,
}

impl CallSite {
    fn new(module: Option<u32>, function: Option<u32>, site: &definition::CallSite, parent: Option<u32>) -> CallSite {
        let is_lost = parent.is_none() && site.parent != NONE;
        let column = Some(site.column).filter(|&column| column != NONE && function.is_some());
        let cut = is_lost || parent.is_none() && site.cut;
        CallSite { module, function, offset: site.offset, column, parent, cut }
    }

    /// Returns whether both are at one place of the code, called from anywhere.
    pub(crate) fn is_at_place_of(&self, other: &CallSite) -> bool {
        self.own_order() == other.own_order()
    }

    fn own_order(&self) -> (bool, Option<u32>, Option<u32>, u64, Option<u32>) {
        (self.module.is_none(), self.module, self.function, self.offset, self.column)
    }
}

/// The id of the site that one was called from. A site is defined after that one, so ids grow inwards; anything else may be a circle.
fn parent_of(id: u32, site: &definition::CallSite) -> Option<u32> {
    Some(site.parent).filter(|&parent| parent < id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sites of a log that defines these: offset and parent, by id.
    fn defined(sites: &[(u64, u32)]) -> RankDefinitions {
        let mut definitions = RankDefinitions::default();
        for (id, &(offset, parent)) in (0..).zip(sites) {
            let site = definition::CallSite { parent, cut: false, ..definition::CallSite::alone(id, 0, offset) };
            definitions.call_sites.insert(id, site);
        }
        definitions
    }

    fn path(sites: &CallSiteTable, at: u32) -> Vec<u64> {
        let mut path = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next {
            path.push(sites.call_sites[at as usize].offset);
            next = sites.call_sites[at as usize].parent;
        }
        path
    }

    #[test]
    fn paths_are_the_same_on_ranks_that_define_them_in_another_order() {
        let one = defined(&[(1, NONE), (5, 0), (9, 1), (6, 0), (9, 3)]);
        let other = defined(&[(1, NONE), (6, 0), (9, 1), (5, 0), (9, 3), (9, 0)]);
        let mut sites = CallSiteTable::default();
        let of_one = sites.enter(&one);
        let mut others = CallSiteTable::default();
        others.enter(&other);
        let merged = sites.merge(&others);
        assert_eq!((sites.call_sites.len(), merged.len()), (6, 6));
        let (sites, indices) = sites.sorted();
        for (id, expected) in [(2, [9, 5, 1]), (4, [9, 6, 1])] {
            let found = sites.find(&one, id).unwrap();
            assert_eq!(path(&sites, found), expected);
            assert_eq!(indices[of_one[&id] as usize], found);
        }
        assert_eq!(sites.find(&one, 2), sites.find(&other, 4));
        let mut again = CallSiteTable::default();
        again.enter(&other);
        again.enter(&one);
        assert_eq!(again.sorted().0.call_sites, sites.call_sites);
    }

    #[test]
    fn circles_and_endless_paths_end() {
        let circle = defined(&[(1, 1), (2, 0), (3, 2)]);
        let mut sites = CallSiteTable::default();
        let entered = sites.enter(&circle);
        assert_eq!(path(&sites, sites.find(&circle, 1).unwrap()), [2, 1]);
        assert_eq!(path(&sites, entered[&2]), [3]);
        let deep: Vec<(u64, u32)> = (0..3000).map(|id: u32| (u64::from(id), id.wrapping_sub(1))).collect();
        let deep = defined(&deep);
        let mut sites = CallSiteTable::default();
        let entered = sites.enter(&deep);
        assert_eq!(path(&sites, entered[&1023]).len(), MAX_DEPTH);
        assert_eq!(sites.find(&deep, 1023), Some(entered[&1023]));
        assert_eq!((sites.find(&deep, 1024), entered.get(&1024)), (None, None), "too long");
        assert_eq!((sites.find(&deep, 2999), entered.get(&2999)), (None, None));
    }
}
