//! The code between two calls as regions, and the functions around it.
//!
//! Between two calls runs the innermost function around both, with what it calls on the way: where the call paths part, there is the code.
//!
//! ```text
//!   main (app.c:9) ─ step (app.c:55) ─ exchange (halo.c:20)        Waitall
//!                         │  computation                           ┐
//!                         ▼                                        ├ region "step (app.c:55 → 61)"
//!   main (app.c:9) ─ step (app.c:61) ─ norm (norm.c:7)             Allreduce, its time included
//! ```
//!
//! A function in which enough time goes by is a region around those in it, for each way in which it is called. Code in a function that does the
//! same work ([`super::activations`]) is one region, whatever calls come before and after it: ranks end their iterations with different
//! calls. Without call paths each of the two calls is all that is known: "exchange (halo.c:20) → norm (norm.c:7)".

use bincode::{Decode, Encode};
use rustc_hash::FxHashSet;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::{CodeEnds, CodeName};
use crate::structure::activations::{ActivationFinder, WorkItem};
use crate::structure::call_tree::CallTree;
use crate::structure::code_place::{CodePlace, short};
use crate::structure::segment_name::{
    CallPoint, START, call_points, called_name, describe_code, label, name_code, name_without_lines,
};
use crate::structure::survey::CallSurvey;
use crate::structure::symbols::ResolvedNames;
use lbprof_thresholds::regions::{MAX_CODE_REGIONS, MIN_NAMED_PLACES, MIN_REGION_TIME};

/// The name of all code between places that has no region of its own.
pub const OTHER: &str = "other code between calls";

/// Regions by the places before and after them.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct CodeSegments {
    calls: CallTree,
    /// The place of each call site: 0 where it is not known.
    place_of_site: Vec<u32>,
    /// The region between two places; place 0 is also the begin of the program.
    between: HashMap<(u32, u32), u32>,
    /// The call whose function runs between two places, where it is known.
    function_between: HashMap<(u32, u32), Option<u32>>,
    /// The regions that end at a place, those with most time first.
    ending: HashMap<u32, Vec<u32>>,
    /// The first is [`OTHER`].
    segments: Vec<CodeSegment>,
    /// Each after the one around it.
    functions: Vec<FunctionRegion>,
}

/// Code between calls.
#[derive(Clone, Debug, Default, Encode, Decode)]
struct CodeSegment {
    /// Its name, or `None` if it is what is left of the function around it.
    name: Option<String>,
    /// Its name without lines.
    code: CodeName,
    /// The innermost function around it that is a region, as an index.
    function: Option<usize>,
    /// The call of the function whose code it is; `None`: that of several, or not known.
    call: Option<u32>,
    /// Description of these calls, if they are known and in one function.
    between: Option<String>,
    /// The nodes of the calls before and after it; of the first one `None` at the begin of the program.
    calls: Option<(Option<u32>, u32)>,
}

/// A function that is a region.
#[derive(Clone, Debug, Encode, Decode)]
struct FunctionRegion {
    name: String,
    /// Its name without lines.
    code: CodeName,
    parent: Option<usize>,
    /// The call by which it is called.
    call: u32,
}

/// Code between calls, as a part of the regions around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodePath {
    /// The names of the functions around it that are regions, the outermost first, and then its own.
    pub names: Vec<String>,
    /// The names without lines.
    pub codes: Vec<CodeName>,
    /// Number of functions among the regions.
    pub n_functions: usize,
    /// The call of the function that each is, or whose code it is, as a node of the call tree; `None` where it is not known.
    pub calls: Vec<Option<u32>>,
    /// The calls after and before which it comes, of which those in a region are those in the code around the outermost of these functions.
    /// `None` where it is not the code between two places.
    pub ends: Option<CodeEnds>,
    /// Of code between calls of one function, these calls in words: "from the call of forces (h.c:9) to the call of fields (h.c:10)".
    pub between: Option<String>,
}

/// The key that distinguishes the code between two calls: the call of the innermost function around both, and what this one calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SegmentKey {
    function: Option<u32>,
    from: Option<CallPoint>,
    to: CallPoint,
}

/// The code of a key.
#[derive(Clone, Debug, Default)]
struct SegmentCode {
    ns: u64,
    /// The places before and after it.
    pairs: Vec<(u32, u32)>,
    calls: (Option<u32>, u32),
    /// The calls before it and after it.
    from: BTreeSet<CallPoint>,
    to: BTreeSet<CallPoint>,
}

impl SegmentCode {
    /// Adds code that does the same work.
    fn merge(&mut self, other: SegmentCode) {
        self.ns = self.ns.saturating_add(other.ns);
        self.pairs.extend(other.pairs);
        self.from.extend(other.from);
        self.to.extend(other.to);
    }
}

impl CodeSegments {
    /// The regions of a surveyed run, of whose call sites `names` are known.
    pub fn new(survey: &CallSurvey, names: &ResolvedNames) -> CodeSegments {
        let calls = &names.calls;
        let n_sites = names.places.len() as u32;
        let place_of_site: Vec<u32> = (0..n_sites).map(|site| calls.node_of(site).map_or(0, |node| node + 1)).collect();
        let mut times: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        let mut all = 0_u64;
        for (&(from, to), pair) in &survey.pairs {
            let [from, to] = [from, to].map(|site| {
                let place = site.and_then(|site| place_of_site.get(site as usize));
                place.copied().unwrap_or(0)
            });
            let time = times.entry((from, to)).or_default();
            *time = time.saturating_add(pair.ns);
            all = all.saturating_add(pair.ns);
        }
        let codes = find_code(times, survey, names);
        let functions = functions(calls, &codes, all);
        let mut found = CodeSegments {
            calls: calls.clone(),
            place_of_site,
            functions: functions.regions.clone(),
            ..CodeSegments::default()
        };
        found.segments.push(CodeSegment {
            name: Some(OTHER.to_owned()),
            code: CodeName::of_loop(OTHER),
            ..CodeSegment::default()
        });
        let mut code_names = name_codes(&codes);
        let mut order: Vec<(SegmentKey, SegmentCode)> = codes.into_iter().collect();
        order.sort_by(|a, b| b.1.ns.cmp(&a.1.ns).then_with(|| a.0.cmp(&b.0)));
        // The code of functions that is no region of its own, by the function.
        let mut rest: HashMap<usize, u32> = HashMap::new();
        for (at, (key, code)) in order.into_iter().enumerate() {
            let function = functions.around(calls, key.function);
            let is_named = code.ns > 0 && (at < MIN_NAMED_PLACES || at < MAX_CODE_REGIONS && is_heavy(code.ns, all));
            let segment = match function {
                _ if is_named => {
                    let [from, to] = [&code.from, &code.to].map(|calls| calls.iter().cloned().collect::<Vec<_>>());
                    let name = Some(name_code(&from, &to));
                    let (call, calls) = (key.function, Some(code.calls));
                    let between = describe_code(&from, &to);
                    let code = code_names.remove(&key).unwrap_or_default();
                    found.segments.push(CodeSegment { name, code, function, call, between, calls });
                    found.segments.len() as u32 - 1
                }
                Some(function) => *rest.entry(function).or_insert_with(|| {
                    let call = Some(found.functions[function].call);
                    found.segments.push(CodeSegment { function: Some(function), call, ..CodeSegment::default() });
                    found.segments.len() as u32 - 1
                }),
                None => 0,
            };
            for pair in code.pairs {
                found.function_between.insert(pair, key.function);
                if segment == 0 {
                    continue;
                }
                found.between.insert(pair, segment);
                found.ending.entry(pair.1).or_default().push(segment);
            }
        }
        found
    }

    /// The place of a call site.
    pub fn place(&self, site: Option<u32>) -> u32 {
        site.and_then(|site| self.place_of_site.get(site as usize).copied()).unwrap_or(0)
    }

    /// The region between two places.
    pub fn between(&self, from: u32, to: u32) -> u32 {
        self.between.get(&(from, to)).copied().unwrap_or(0)
    }

    /// Returns the call of the innermost function around all code between these places; `None` where it is the outermost function, or nothing
    /// is known.
    pub fn function_around(&self, places: &FxHashSet<u32>) -> Option<u32> {
        let pairs = self.function_between.iter();
        let inside = pairs.filter(|((from, to), _)| places.contains(from) && places.contains(to));
        let functions = inside.map(|(_, function)| *function);
        functions.reduce(|one, other| self.calls.common(one, other)).flatten()
    }

    /// Returns the regions between two of these places, ascending.
    pub fn code_within(&self, places: &FxHashSet<u32>) -> Vec<u32> {
        let pairs = self.between.iter().filter(|((from, to), _)| places.contains(from) && places.contains(to));
        let mut found: Vec<u32> = pairs.map(|(_, at)| *at).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns whether a region lies in the function that `call` calls; also where that is not known.
    pub fn is_in(&self, segment: u32, call: Option<u32>) -> bool {
        let Some(one) = self.segments.get(segment as usize).filter(|_| segment > 0) else { return true };
        call.is_none_or(|call| one.call.is_some_and(|own| self.calls.is_around(call, own)))
    }

    /// Returns the regions that end at a place, those with most time first.
    pub fn ending_at(&self, place: u32) -> &[u32] {
        self.ending.get(&place).map_or(&[], Vec::as_slice)
    }

    /// The name of a region and of the functions around it, up to that which `call` calls (all where it is `None`).
    pub fn path(&self, segment: u32, call: Option<u32>) -> Option<CodePath> {
        let segment = self.segments.get(segment as usize)?;
        let outside = call.map_or_else(Vec::new, |call| self.calls.path(call));
        let (mut names, mut codes, mut calls) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = segment.function.and_then(|at| self.functions.get(at));
        while let Some(one) = next.filter(|one| !outside.contains(&one.call)) {
            names.push(one.name.clone());
            codes.push(one.code.clone());
            calls.push(Some(one.call));
            next = one.parent.and_then(|at| self.functions.get(at));
        }
        names.reverse();
        codes.reverse();
        calls.reverse();
        let n_functions = names.len();
        names.extend(segment.name.clone());
        codes.extend(segment.name.as_ref().map(|_| segment.code.clone()));
        calls.extend(segment.name.as_ref().map(|_| segment.call));
        if names.is_empty() {
            names.push(OTHER.to_owned());
            codes.push(CodeName::of_loop(OTHER));
        }
        let function = segment.call.map_or_else(Vec::new, |call| self.calls.path(call));
        let ends = segment.calls.map(|(from, to)| {
            let [in_region, in_function] = [&outside, &function].map(|outside| {
                let from = from.map_or_else(|| START.to_owned(), |from| self.label_within(from, outside));
                (from, self.label_within(to, outside))
            });
            CodeEnds { in_region, in_function }
        });
        Some(CodePath { names, codes, n_functions, calls, ends, between: segment.between.clone() })
    }

    /// Returns the label of the outermost call on the path to a node that is not one of `outside`, else of the node itself.
    fn label_within(&self, node: u32, outside: &[u32]) -> String {
        let shown = self.calls.path(node).into_iter().find(|at| !outside.contains(at)).unwrap_or(node);
        self.calls.node(shown).map(|node| label(&node.place)).unwrap_or_default()
    }
}

/// Returns the code between places, with the times between their calls.
fn find_code(
    times: BTreeMap<(u32, u32), u64>,
    survey: &CallSurvey,
    names: &ResolvedNames,
) -> BTreeMap<SegmentKey, SegmentCode> {
    let points = call_points(&names.calls, survey);
    let mut codes: BTreeMap<SegmentKey, SegmentCode> = BTreeMap::new();
    let mut activations = ActivationFinder::new(names, &survey.sites);
    let mut same_work: BTreeMap<(Option<u32>, BTreeSet<WorkItem>), SegmentKey> = BTreeMap::new();
    for ((from, to), ns) in times {
        let Some(last) = to.checked_sub(1) else { continue };
        let first = from.checked_sub(1);
        let meeting = first.map(|first| activations.meeting(first, last));
        let key = SegmentKey {
            function: meeting.and_then(|meeting| meeting.around),
            from: meeting.map(|meeting| point_at(&points, meeting.first)),
            to: point_at(&points, meeting.map_or(last, |meeting| meeting.last)),
        };
        let code = SegmentCode {
            ns,
            pairs: vec![(from, to)],
            calls: (first, last),
            from: key.from.iter().cloned().collect(),
            to: BTreeSet::from([key.to.clone()]),
        };
        let work = first.zip(meeting).and_then(|(first, meeting)| activations.work_between(first, last, &meeting));
        let key = match work.filter(|work| !work.is_empty()) {
            Some(work) => same_work.entry((key.function, work)).or_insert(key).clone(),
            None => key,
        };
        match codes.entry(key) {
            Entry::Occupied(known) => known.into_mut().merge(code),
            Entry::Vacant(new) => _ = new.insert(code),
        }
    }
    codes
}

/// Returns the names of codes without lines. Those that are alike have numbers in the order of the source.
fn name_codes(codes: &BTreeMap<SegmentKey, SegmentCode>) -> BTreeMap<SegmentKey, CodeName> {
    let mut alike: BTreeMap<CodeName, Vec<(SourceOrder, &SegmentKey)>> = BTreeMap::new();
    for (key, code) in codes {
        let [from, to] = [&code.from, &code.to].map(|calls| calls.iter().cloned().collect::<Vec<_>>());
        let order = [from.first(), to.first()].map(|point| point.map(CallPoint::source_order));
        alike.entry(name_without_lines(&from, &to)).or_default().push((order, key));
    }
    let mut names = BTreeMap::new();
    for (name, mut keys) in alike {
        keys.sort();
        for (ordinal, (_, key)) in (1..).zip(keys) {
            names.insert(key.clone(), CodeName { ordinal, ..name.clone() });
        }
    }
    names
}

/// Positions in the source of the calls before and after code.
type SourceOrder = [Option<(u32, u64)>; 2];

/// Returns whether a time is long enough for a region of its own.
fn is_heavy(ns: u64, all: u64) -> bool {
    ns as f64 >= MIN_REGION_TIME * all as f64 && ns > 0
}

/// The functions that are regions.
#[derive(Default)]
struct FunctionRegions {
    regions: Vec<FunctionRegion>,
    /// The time that goes by in each, with those in it.
    ns: Vec<u64>,
    /// Their indices by the call.
    of_call: HashMap<u32, usize>,
}

impl FunctionRegions {
    /// The innermost of them around the function that `call` calls, itself among them.
    fn around(&self, calls: &CallTree, call: Option<u32>) -> Option<usize> {
        let mut path = std::iter::successors(call, |&at| calls.node(at)?.parent);
        path.find_map(|at| self.of_call.get(&at).copied())
    }
}

fn point_at(points: &[CallPoint], node: u32) -> CallPoint {
    points.get(node as usize).cloned().unwrap_or_default()
}

/// The functions in which time goes by between calls, if it is not all of the program's: in themselves, or in several of them that they call.
fn functions(calls: &CallTree, codes: &BTreeMap<SegmentKey, SegmentCode>, all: u64) -> FunctionRegions {
    let mut own: HashMap<u32, u64> = HashMap::new();
    for (call, ns) in codes.iter().filter_map(|(key, code)| Some((key.function?, code.ns))) {
        let time = own.entry(call).or_default();
        *time = time.saturating_add(ns);
    }
    let with_callees = calls.sums(&own);
    // How many regions there are in what each calls, that are in no other region in it.
    let mut in_it: HashMap<u32, usize> = HashMap::new();
    let mut kept: Vec<u32> = Vec::new();
    // A node comes after its parent.
    for (call, &time) in with_callees.iter().enumerate().rev() {
        let call = call as u32;
        let several = in_it.get(&call).copied().unwrap_or(0);
        let is_kept = time > 0 && time < all && (own.get(&call).is_some_and(|&ns| ns > 0) || several > 1);
        if let Some(parent) = calls.node(call).and_then(|node| node.parent) {
            *in_it.entry(parent).or_default() += if is_kept { 1 } else { several };
        }
        kept.extend(is_kept.then_some(call));
    }
    kept.sort_by_key(|&call| (std::cmp::Reverse(with_callees[call as usize]), calls.depth(call), call));
    kept.truncate(MAX_CODE_REGIONS);
    let mut place = 0..;
    kept.retain(|&call| {
        place.next().is_some_and(|at| at < MIN_NAMED_PLACES) || is_heavy(with_callees[call as usize], all)
    });
    kept.sort_by_key(|&call| (calls.depth(call), call));
    let mut found = FunctionRegions::default();
    for &call in &kept {
        let parent = found.around(calls, calls.node(call).and_then(|node| node.parent));
        found.of_call.insert(call, found.regions.len());
        found.ns.push(with_callees[call as usize]);
        let name = calls.callee(call).map(|node| called_name(&node.place)).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| "code".to_owned());
        let code = CodeName { function: name.clone(), calls: String::new(), ordinal: 1 };
        found.regions.push(FunctionRegion { name, code, parent, call });
    }
    number_functions(calls, &mut found.regions);
    let names: Vec<(Option<usize>, String)> = found.regions.iter().map(|one| (one.parent, one.name.clone())).collect();
    for (one, own) in found.regions.iter_mut().zip(&names) {
        if let Some(node) = calls.node(one.call).filter(|_| names.iter().filter(|other| *other == own).count() > 1) {
            one.name = format!("{} from {}", one.name, label_of_call(&node.place));
        }
    }
    found
}

/// Numbers the functions of one name in a function, in the order in which the source calls them.
fn number_functions(calls: &CallTree, regions: &mut [FunctionRegion]) {
    let mut alike: BTreeMap<(Option<usize>, String), Vec<usize>> = BTreeMap::new();
    for (at, one) in regions.iter().enumerate() {
        alike.entry((one.parent, one.name.clone())).or_default().push(at);
    }
    for mut functions in alike.into_values() {
        functions.sort_by_key(|&at| (calls.node(regions[at].call).and_then(|node| node.place.line), regions[at].call));
        for (number, at) in (1..).zip(functions) {
            regions[at].code.ordinal = number;
        }
    }
}

/// A call of a function by where it is; the offset distinguishes several where the line is not known.
fn label_of_call(place: &CodePlace) -> String {
    let function = place.function.as_ref().map(|_| short(place.function_label()).to_owned());
    CodePlace { function, callers: Vec::new(), ..place.clone() }.label()
}
