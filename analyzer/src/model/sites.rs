//! The files that a run's calls come from, and the call sites in them: each once, whatever ids the ranks' logs give them.
//!
//! A module is the same on all ranks by its build id, or by its path where it has none; a call site by its module and offset.

use std::collections::HashMap;

use crate::read::definitions::Definitions;

/// Modules and call sites.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    /// Files, by path once sorted.
    pub modules: Vec<Module>,
    /// Call sites, by module and offset once sorted; those in no module last.
    pub call_sites: Vec<CallSite>,
    modules_by_key: HashMap<Vec<u8>, u32>,
    sites_by_key: HashMap<(Option<u32>, u64), u32>,
}

impl Sites {
    /// The index of a module, entered where it is new.
    fn module(&mut self, path: &str, build_id: &[u8]) -> u32 {
        *self.modules_by_key.entry(key(path, build_id).to_vec()).or_insert_with(|| {
            self.modules.push(Module { path: path.to_owned(), build_id: build_id.to_vec() });
            self.modules.len() as u32 - 1
        })
    }

    /// The index of a call site, entered where it is new.
    fn site(&mut self, site: CallSite) -> u32 {
        *self.sites_by_key.entry((site.module, site.offset)).or_insert_with(|| {
            self.call_sites.push(site);
            self.call_sites.len() as u32 - 1
        })
    }

    /// Enters the call sites that a rank's log defines: their indices by the log's ids.
    pub fn enter(&mut self, definitions: &Definitions) -> HashMap<u32, u32> {
        let mut indices = HashMap::new();
        for (&id, site) in &definitions.call_sites {
            let module =
                definitions.modules.get(&site.module).map(|module| self.module(&module.path, &module.build_id));
            indices.insert(id, self.site(CallSite { module, offset: site.offset }));
        }
        indices
    }

    /// The index of the call site that a rank's log defines as `id`; `None` where it is not here.
    pub fn find(&self, definitions: &Definitions, id: u32) -> Option<u32> {
        let site = definitions.call_sites.get(&id)?;
        let module = match definitions.modules.get(&site.module) {
            Some(module) => Some(*self.modules_by_key.get(key(&module.path, &module.build_id))?),
            None => None,
        };
        self.sites_by_key.get(&(module, site.offset)).copied()
    }

    /// Enters those of `other`: their indices here.
    pub fn merge(&mut self, other: &Sites) -> Vec<u32> {
        let modules: Vec<u32> =
            other.modules.iter().map(|module| self.module(&module.path, &module.build_id)).collect();
        let place = |site: &CallSite| CallSite { module: site.module.map(|module| modules[module as usize]), ..*site };
        other.call_sites.iter().map(|site| self.site(place(site))).collect()
    }

    /// The same in an order that does not depend on that of entering, and the new index of each old one.
    pub fn sorted(mut self) -> (Sites, Vec<u32>) {
        let mut modules = self.modules.clone();
        modules.sort_by(|a, b| (&a.path, &a.build_id).cmp(&(&b.path, &b.build_id)));
        let mut all = Sites::default();
        for module in &modules {
            all.module(&module.path, &module.build_id);
        }
        for site in &mut self.call_sites {
            let module = site.module.map(|module| &self.modules[module as usize]);
            site.module = module.map(|module| all.module(&module.path, &module.build_id));
        }
        let mut order = self.call_sites.clone();
        order.sort_by_key(|site| (site.module.is_none(), site.module, site.offset));
        for site in order {
            all.site(site);
        }
        let indices = self.call_sites.iter().map(|site| all.site(*site)).collect();
        (all, indices)
    }
}

/// What distinguishes a module from others.
fn key<'a>(path: &'a str, build_id: &'a [u8]) -> &'a [u8] {
    if build_id.is_empty() { path.as_bytes() } else { build_id }
}

/// A program or shared object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Path of its file as the program loaded it.
    pub path: String,
    /// GNU build id, empty where it has none.
    pub build_id: Vec<u8>,
}

/// A place from which MPI is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// Index in [`Sites::modules`]; `None` where the address lies in none.
    pub module: Option<u32>,
    /// Return address as the module's own tables state it; the raw address where there is no module.
    pub offset: u64,
}
