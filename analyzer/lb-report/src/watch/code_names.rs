//! Names the code that a running rank executes. Each place is looked up once in the program's files.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use lbprof_analysis::model::Module;
use lbprof_analysis::model::code::sites::CallSiteTable;
use lbprof_analysis::structure::code::code_readers::CodeReaders;
use lbprof_analysis::structure::code::symbols::{base_name, resolve_names};
use lbprof_collector::Operation;
use lbprof_collector::definition::CallSite;
use lbprof_collector::record::NONE;

use super::rank_activity::{RankActivity, RepeatedAction};

/// Processor time for names per update.
const NAMES_WITHIN: Duration = Duration::from_millis(500);

/// Maximum number of places per lookup, those with most time.
const MOST_PLACES: usize = 48;

/// Path and address.
type CodeAddress = (String, u64);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct NamedCode {
    function: String,
    line: Option<String>,
}

/// The function in which a rank spends most time.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaviestFunction {
    /// Its name, with file and line where they are known.
    pub name: String,
    pub share: f64,
}

#[derive(Default)]
pub struct CodeNames {
    known: HashMap<CodeAddress, Option<NamedCode>>,
    readers: CodeReaders,
}

impl CodeNames {
    pub fn new(readers: CodeReaders) -> CodeNames {
        CodeNames { known: HashMap::new(), readers }
    }

    /// Finds the function with most CPU time since `since_ns`.
    pub fn heaviest_function(&mut self, activity: &RankActivity, since_ns: i64) -> Option<HeaviestFunction> {
        let by_place = activity.sampled_since(since_ns);
        let mut places: Vec<(CodeAddress, u64)> = Vec::new();
        for (location, weight_ns) in &by_place {
            let module = activity.modules.get(&location.module);
            places.extend(module.map(|module| ((module.path.clone(), location.offset), *weight_ns)));
        }
        places.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        places.truncate(MOST_PLACES);
        self.look_up(activity, places.iter().map(|(place, _)| place.clone()));
        let mut by_function: HashMap<&str, (u64, &NamedCode)> = HashMap::new();
        for (place, weight_ns) in &places {
            if let Some(Some(code)) = self.known.get(place) {
                by_function.entry(&code.function).or_insert((0, code)).0 += weight_ns;
            }
        }
        let (ns, code) =
            by_function.into_values().max_by(|a, b| a.0.cmp(&b.0).then(b.1.function.cmp(&a.1.function)))?;
        let all_ns: u64 = by_place.values().sum();
        Some(HeaviestFunction { name: code.label(), share: ns as f64 / all_ns.max(1) as f64 })
    }

    /// Names a repeated action, e.g. `iterations of main/step` or `Allreduce in norm (cg.c:38)`.
    pub fn recurring(&mut self, activity: &RankActivity, what: RepeatedAction) -> String {
        match what {
            RepeatedAction::Iterations(region) => format!("iterations of {}", region_path(activity, region)),
            RepeatedAction::Calls(site, operation) => {
                let operation = Operation::from_number(operation).map_or("MPI functions", Operation::name);
                let code = activity.call_sites.get(&site).and_then(|site| self.call_site(activity, site));
                code.map_or_else(|| format!("calls of {operation}"), |code| format!("calls of {operation} in {code}"))
            }
        }
    }

    fn call_site(&mut self, activity: &RankActivity, site: &CallSite) -> Option<String> {
        if site.function != NONE {
            let function = activity.functions.get(&site.function)?;
            return Some(format!("{} ({}:{})", function.name, base_name(&function.file), site.offset));
        }
        let module = activity.modules.get(&site.module)?;
        // The call precedes the return address.
        let place = (module.path.clone(), site.offset.saturating_sub(1));
        self.look_up(activity, std::iter::once(place.clone()));
        self.known.get(&place)?.as_ref().map(NamedCode::label)
    }

    fn look_up(&mut self, activity: &RankActivity, places: impl Iterator<Item = CodeAddress>) {
        let new: BTreeSet<CodeAddress> = places.filter(|place| !self.known.contains_key(place)).collect();
        if new.is_empty() {
            return;
        }
        let mut sites = CallSiteTable::default();
        let mut index_of: HashMap<&str, u32> = HashMap::new();
        for (path, offset) in &new {
            let index = *index_of.entry(path).or_insert_with(|| {
                let build_id = activity.modules.values().find(|module| module.path == *path);
                let build_id = build_id.map_or_else(Vec::new, |module| module.build_id.clone());
                sites.modules.push(Module { path: path.clone(), build_id });
                sites.modules.len() as u32 - 1
            });
            sites.sampled.insert((Some(index), *offset));
        }
        let code = resolve_names(&sites, &self.readers, NAMES_WITHIN).sampled;
        for (path, offset) in &new {
            let stack = code.stack((index_of.get(path.as_str()).copied(), *offset), None);
            let leaf = stack.and_then(|stack| code.leaves.get(code.leaf_of(stack) as usize));
            let named = leaf.and_then(|leaf| Some((leaf.line, code.function(leaf.node)?)));
            let named = named.filter(|(_, function)| !function.name.is_empty()).map(|(line, function)| NamedCode {
                function: function.name.clone(),
                line: function.file.as_deref().zip(line).map(|(file, line)| format!("{}:{line}", base_name(file))),
            });
            self.known.insert((path.clone(), *offset), named);
        }
    }
}

impl NamedCode {
    fn label(&self) -> String {
        match &self.line {
            Some(line) => format!("{} ({line})", self.function),
            None => self.function.clone(),
        }
    }
}

fn region_path(activity: &RankActivity, region: u32) -> String {
    let mut names = Vec::new();
    let mut next = activity.regions.get(&region);
    while let Some(region) = next.filter(|_| names.len() < activity.regions.len()) {
        names.push(region.name.as_str());
        next = (region.parent != region.id).then(|| activity.regions.get(&region.parent)).flatten();
    }
    names.reverse();
    names.join("/")
}
