//! The code between two calls as regions, and the functions around it.
//!
//! Between two calls runs the innermost function around both, with the functions that it calls on the way: where the call paths part, there is
//! the code.
//!
//! ```text
//!   main (app.c:9) ─ step (app.c:55) ─ exchange (halo.c:20)        Waitall
//!                         │  computation                           ┐
//!                         ▼                                        ├ region "step (app.c:55 → 61)"
//!   main (app.c:9) ─ step (app.c:61) ─ norm (norm.c:7)             Allreduce, its time included
//! ```
//!
//! A function that takes enough time is a region around the regions in it, for each way in which it is called. Code in a function that does the
//! same work ([`super::program_loops::activations`]) is one region, whatever calls come before and after it: ranks end their iterations with different
//! calls. Without call paths only the two calls are known: "exchange (halo.c:20) → norm (norm.c:7)".

use bincode::{Decode, Encode};
use rustc_hash::FxHashSet;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::{CodeEnds, CodeName};
use crate::structure::code::call_tree::CallTree;
use crate::structure::code::symbols::ResolvedNames;
use crate::structure::program_loops::activations::{ActivationFinder, WorkItem};
use crate::structure::segment_name::{
    CallPoint, START, call_points, describe_code, name_code, name_without_lines, place_label,
};
use crate::structure::survey::CallSurvey;
use lbprof_thresholds::regions::{MAX_CODE_REGIONS, MIN_NAMED_PLACES, MIN_REGION_TIME};

/// The name of all code between places that has no region of its own.
pub const OTHER: &str = "other code between calls";

/// Regions by the places before and after them.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct CodeSegments {
    calls: CallTree,
    /// The place of each call site, or 0 if it is not known.
    place_of_site: Vec<u32>,
    /// The region between two places; place 0 is also the start of the program.
    between: HashMap<(u32, u32), u32>,
    /// The call whose function runs between two places, if it is known.
    function_between: HashMap<(u32, u32), Option<u32>>,
    /// The regions that end at a place, those with most time first.
    ending: HashMap<u32, Vec<u32>>,
    /// The first is [`OTHER`].
    segments: Vec<CodeSegment>,
    /// Each after the one around it.
    functions: Vec<FunctionRegion>,
}

#[derive(Clone, Debug, Default, Encode, Decode)]
struct CodeSegment {
    /// Its names, or `None` for the remainder of the function around it.
    part: Option<CodePart>,
    /// The innermost function around it that is a region, as an index.
    function: Option<usize>,
    /// The call of the function whose code it is, or `None` if they are several or not known.
    call: Option<u32>,
    /// Description of the calls before and after it, if they are known and in one function.
    between: Option<String>,
    /// The nodes of the calls before and after it; the first is `None` at the start of the program.
    calls: Option<(Option<u32>, u32)>,
}

#[derive(Clone, Debug, Encode, Decode)]
struct FunctionRegion {
    part: CodePart,
    parent: Option<usize>,
    /// The call by which it is called.
    call: u32,
}

/// Code between calls, as a part of the regions around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodePath {
    /// The functions around it that are regions, the outermost first, and then itself.
    pub parts: Vec<CodePart>,
    /// The calls after and before which it comes, or `None` if it is not the code between two places.
    pub ends: Option<CodeEnds>,
    /// Description of these calls, if they are in one function: "from the call of forces (h.c:9) to the call of fields (h.c:10)".
    pub between: Option<String>,
}

/// A function, or code between calls, that is a region.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct CodePart {
    /// Its name.
    pub name: String,
    /// Its name without lines.
    pub code: CodeName,
    /// True if it is a function.
    pub is_function: bool,
    /// The call of the function, as a node of the call tree, or `None` if it is not known.
    pub call: Option<u32>,
}

impl CodePart {
    /// Returns the part that stands for code without a region.
    pub fn other() -> CodePart {
        CodePart { name: OTHER.to_owned(), code: CodeName::of_loop(OTHER), is_function: false, call: None }
    }
}

/// The key that distinguishes the code between two calls: the call of the innermost function around both, and the calls that this function makes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SegmentKey {
    function: Option<u32>,
    from: Option<CallPoint>,
    to: CallPoint,
}

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
    fn merge(&mut self, other: SegmentCode) {
        self.ns = self.ns.saturating_add(other.ns);
        self.pairs.extend(other.pairs);
        self.from.extend(other.from);
        self.to.extend(other.to);
    }
}

impl CodeSegments {
    /// Makes the regions of a surveyed run with these names.
    pub fn new(survey: &CallSurvey, names: &ResolvedNames) -> CodeSegments {
        let calls = &names.calls;
        let n_sites = names.places.len() as u32;
        let place_of_site: Vec<u32> = (0..n_sites).map(|site| calls.node_of(site).map_or(0, |node| node + 1)).collect();
        let mut times: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        let mut all = 0_u64;
        for (&(from, to), &ns) in &survey.pairs {
            let [from, to] = [from, to].map(|site| {
                let place = site.and_then(|site| place_of_site.get(site as usize));
                place.copied().unwrap_or(0)
            });
            let time = times.entry((from, to)).or_default();
            *time = time.saturating_add(ns);
            all = all.saturating_add(ns);
        }
        let codes = find_code(times, survey, names);
        let functions = function_regions(calls, &codes, all);
        let mut found = CodeSegments { calls: calls.clone(), place_of_site, ..CodeSegments::default() };
        found.segments.push(CodeSegment { part: Some(CodePart::other()), ..CodeSegment::default() });
        found.add_segments(codes, &functions, all);
        found.functions = functions.regions;
        found
    }

    /// Makes regions of the code that takes enough of all time. The rest belongs to the functions around it.
    fn add_segments(&mut self, codes: BTreeMap<SegmentKey, SegmentCode>, functions: &FunctionRegions, all: u64) {
        let mut code_names = name_codes(&codes);
        let mut order: Vec<(SegmentKey, SegmentCode)> = codes.into_iter().collect();
        order.sort_by(|a, b| b.1.ns.cmp(&a.1.ns).then_with(|| a.0.cmp(&b.0)));
        // Segments for the rest of the code in functions, by the function.
        let mut rest: HashMap<usize, u32> = HashMap::new();
        for (at, (key, code)) in order.into_iter().enumerate() {
            let function = functions.around(&self.calls, key.function);
            let is_named = code.ns > 0 && (at < MIN_NAMED_PLACES || at < MAX_CODE_REGIONS && is_heavy(code.ns, all));
            let next = self.segments.len() as u32;
            let segment = match function {
                _ if is_named => {
                    let [from, to] = [code.from, code.to].map(|calls| calls.into_iter().collect::<Vec<_>>());
                    let (call, calls) = (key.function, Some(code.calls));
                    let code = code_names.remove(&key).unwrap_or_default();
                    let part = Some(CodePart { name: name_code(&from, &to), code, is_function: false, call });
                    self.segments.push(CodeSegment { part, function, call, between: describe_code(&from, &to), calls });
                    next
                }
                Some(function) => *rest.entry(function).or_insert_with(|| {
                    let call = Some(functions.regions[function].call);
                    self.segments.push(CodeSegment { function: Some(function), call, ..CodeSegment::default() });
                    next
                }),
                None => 0,
            };
            for pair in code.pairs {
                self.function_between.insert(pair, key.function);
                if segment > 0 {
                    self.between.insert(pair, segment);
                    self.ending.entry(pair.1).or_default().push(segment);
                }
            }
        }
    }

    /// Returns the place of a call site.
    pub fn place(&self, site: Option<u32>) -> u32 {
        site.and_then(|site| self.place_of_site.get(site as usize).copied()).unwrap_or(0)
    }

    /// Returns the region between two places.
    pub fn between(&self, from: u32, to: u32) -> u32 {
        self.between.get(&(from, to)).copied().unwrap_or(0)
    }

    /// Returns the call of the innermost function around all code between these places, or `None` if it is the outermost or unknown.
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

    /// Returns whether a region lies in the function that `call` calls, or may lie in it.
    pub fn is_in(&self, segment: u32, call: Option<u32>) -> bool {
        let Some(one) = self.segments.get(segment as usize).filter(|_| segment > 0) else { return true };
        call.is_none_or(|call| one.call.is_some_and(|own| self.calls.is_around(call, own)))
    }

    /// Returns the regions that end at a place, those with most time first.
    pub fn ending_at(&self, place: u32) -> &[u32] {
        self.ending.get(&place).map_or(&[], Vec::as_slice)
    }

    /// Returns a region and the functions around it, up to the function that `call` calls, or all if it is `None`.
    pub fn path(&self, segment: u32, call: Option<u32>) -> Option<CodePath> {
        let segment = self.segments.get(segment as usize)?;
        let outside = call.map_or_else(Vec::new, |call| self.calls.path(call));
        let around = std::iter::successors(segment.function.and_then(|at| self.functions.get(at)), |one| {
            one.parent.and_then(|at| self.functions.get(at))
        });
        let mut parts: Vec<CodePart> =
            around.take_while(|one| !outside.contains(&one.call)).map(|one| one.part.clone()).collect();
        parts.reverse();
        parts.extend(segment.part.clone());
        if parts.is_empty() {
            parts.push(CodePart::other());
        }
        let function = segment.call.map_or_else(Vec::new, |call| self.calls.path(call));
        let ends = segment.calls.map(|(from, to)| {
            let [in_region, in_function] = [&outside, &function].map(|outside| {
                let from = from.map_or_else(|| START.to_owned(), |from| self.label_within(from, outside));
                (from, self.label_within(to, outside))
            });
            CodeEnds { in_region, in_function }
        });
        Some(CodePath { parts, ends, between: segment.between.clone() })
    }

    /// Returns the label of the outermost call on the path to a node that is not one of `outside`, or else the node's label.
    fn label_within(&self, node: u32, outside: &[u32]) -> String {
        let shown = self.calls.path(node).into_iter().find(|at| !outside.contains(at)).unwrap_or(node);
        self.calls.node(shown).map(|node| place_label(&node.place)).unwrap_or_default()
    }
}

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

/// Returns the names of codes without lines. Equal names get numbers in the order of the source.
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

#[derive(Default)]
struct FunctionRegions {
    regions: Vec<FunctionRegion>,
    of_call: HashMap<u32, usize>,
}

impl FunctionRegions {
    /// Returns the innermost region around the function that `call` calls, which may be this function.
    fn around(&self, calls: &CallTree, call: Option<u32>) -> Option<usize> {
        let mut path = std::iter::successors(call, |&at| calls.node(at)?.parent);
        path.find_map(|at| self.of_call.get(&at).copied())
    }
}

fn point_at(points: &[CallPoint], node: u32) -> CallPoint {
    points.get(node as usize).cloned().unwrap_or_default()
}

/// Returns the functions in which time passes between calls, in their own code or in several functions that they call, but not all time.
fn function_regions(calls: &CallTree, codes: &BTreeMap<SegmentKey, SegmentCode>, all: u64) -> FunctionRegions {
    let mut own: HashMap<u32, u64> = HashMap::new();
    for (call, ns) in codes.iter().filter_map(|(key, code)| Some((key.function?, code.ns))) {
        let time = own.entry(call).or_default();
        *time = time.saturating_add(ns);
    }
    let with_callees = calls.sums(&own);
    // Number of outermost regions in the functions that each call leads to.
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
        let name = calls.callee_name(call).unwrap_or_else(|| "code".to_owned());
        let code = CodeName { function: name.clone(), calls: String::new(), ordinal: 1 };
        let part = CodePart { name, code, is_function: true, call: Some(call) };
        found.regions.push(FunctionRegion { part, parent, call });
    }
    distinguish_functions(calls, &mut found.regions);
    found
}

/// Numbers the functions with one name in one function, in the order of their calls in the source, and adds these calls to their names.
fn distinguish_functions(calls: &CallTree, regions: &mut [FunctionRegion]) {
    let mut alike: BTreeMap<(Option<usize>, String), Vec<usize>> = BTreeMap::new();
    for (at, one) in regions.iter().enumerate() {
        alike.entry((one.parent, one.part.name.clone())).or_default().push(at);
    }
    for mut functions in alike.into_values() {
        functions.sort_by_key(|&at| (calls.node(regions[at].call).and_then(|node| node.place.line), regions[at].call));
        let are_several = functions.len() > 1;
        for (number, at) in (1..).zip(functions) {
            let FunctionRegion { part, call, .. } = &mut regions[at];
            part.code.ordinal = number;
            if let Some(node) = calls.node(*call).filter(|_| are_several) {
                // The offset in the label distinguishes several calls if the line is not known.
                part.name = format!("{} from {}", part.name, node.place.shortened().own_label());
            }
        }
    }
}
