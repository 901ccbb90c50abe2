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
//! A function in which enough time goes by is a region around those in it, for each way in which it is called. Calls on one source line are
//! one place; where lines are not known, all those of a function are, and calls of other functions are distinguished by these. Without
//! call paths each of the two calls is all that is known: "exchange (halo.c:20) → norm (norm.c:7)".

use bincode::{Decode, Encode};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, HashMap};

use crate::structure::activations::Activations;
use crate::structure::call_tree::{CallTree, SharedFrame};
use crate::structure::code_place::{CodePlace, base_name, short};
use crate::structure::survey::Survey;
use crate::structure::symbols::Resolved;

/// Share of all ranks' time from which on code between two places is a region of its own, and a function around it. Others are one region
/// together: hundreds of regions, each of next to nothing, would hide the few that matter.
const LEAST_SHARE: f64 = 0.005;

/// Number of places in the code that are regions of their own however little time goes to them: in programs that have no more, each run has
/// the same regions.
const MIN_NAMED: usize = 40;

/// Most regions of code between calls, and of functions around it; those that take most time.
const MOST: usize = 200;

/// The name of all code between places that has no region of its own.
pub const OTHER: &str = "other code between calls";

/// Regions by the places before and after them.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct Segments {
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
    segments: Vec<Segment>,
    /// Each after the one around it.
    functions: Vec<Function>,
}

/// Code between calls.
#[derive(Clone, Debug, Default, Encode, Decode)]
struct Segment {
    /// Its name, or `None` if it is what is left of the function around it.
    name: Option<String>,
    /// The innermost function around it that is a region, as an index.
    function: Option<usize>,
    /// The call of the function whose code it is; `None`: that of several, or not known.
    call: Option<u32>,
    /// The nodes of the calls before and after it; of the first one `None` at the begin of the program.
    calls: Option<(Option<u32>, u32)>,
}

/// A function that is a region.
#[derive(Clone, Debug, Encode, Decode)]
struct Function {
    name: String,
    parent: Option<usize>,
    /// The call by which it is called.
    call: u32,
}

/// Code between calls, as a part of the regions around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodePath {
    /// The names of the functions around it that are regions, the outermost first, and then its own.
    pub names: Vec<String>,
    /// How many of them are functions.
    pub n_functions: usize,
    /// The call of the function that each is, or whose code it is, as a node of the call tree; `None` where it is not known.
    pub calls: Vec<Option<u32>>,
    /// The calls in the code around the outermost of them after and before which it comes; both are one where it lies in what that
    /// one calls. `None` where it is not the code between two places.
    pub ends: Option<(String, String)>,
}

/// What distinguishes the code between two calls: the call of the innermost function around both, and what this one calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    function: Option<u32>,
    from: Option<Point>,
    to: Point,
}

/// A place in a function, and the function that is called there, where the line is not known and it is no call of MPI.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    place: CodePlace,
    calls: Option<String>,
}

/// What is known of the code of a key.
#[derive(Clone, Debug, Default)]
struct Code {
    ns: u64,
    /// The places before and after it.
    pairs: Vec<(u32, u32)>,
    calls: (Option<u32>, u32),
}

impl Segments {
    /// The regions of a surveyed run, of whose call sites `names` are known.
    pub fn new(survey: &Survey, names: &Resolved) -> Segments {
        let calls = &names.calls;
        let (place_of_site, nodes) = places_of(calls, names.places.len());
        let place = |site: Option<u32>| site.map_or(0, |site| place_of_site.get(site as usize).copied().unwrap_or(0));
        let mut times: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        let mut all = 0_u64;
        for (&(from, to), pair) in &survey.pairs {
            let time = times.entry((place(from), place(to))).or_default();
            *time = time.saturating_add(pair.ns);
            all = all.saturating_add(pair.ns);
        }
        let mut codes: BTreeMap<Key, Code> = BTreeMap::new();
        let mut activations = Activations::new(names, &survey.sites);
        for (pair, ns) in times {
            let node = |place: u32| nodes.get(place as usize).copied().flatten();
            let Some(to) = node(pair.1) else { continue };
            let code = codes.entry(key(&mut activations, calls, node(pair.0), to)).or_default();
            if code.pairs.is_empty() {
                code.calls = (node(pair.0), to);
            }
            code.ns = code.ns.saturating_add(ns);
            code.pairs.push(pair);
        }
        let functions = functions(calls, &codes, all);
        let mut found = Segments {
            calls: calls.clone(),
            place_of_site,
            functions: functions.regions.clone(),
            ..Segments::default()
        };
        found.segments.push(Segment { name: Some(OTHER.to_owned()), ..Segment::default() });
        let mut order: Vec<(Key, Code)> = codes.into_iter().collect();
        order.sort_by(|a, b| b.1.ns.cmp(&a.1.ns).then_with(|| a.0.cmp(&b.0)));
        // The code of functions that is no region of its own, by the function.
        let mut rest: HashMap<usize, u32> = HashMap::new();
        for (at, (key, code)) in order.into_iter().enumerate() {
            let function = functions.around(calls, key.function);
            let is_named = code.ns > 0 && (at < MIN_NAMED || at < MOST && is_heavy(code.ns, all));
            let segment = match function {
                _ if is_named => {
                    let name = Some(name(key.from.as_ref(), &key.to));
                    let (call, calls) = (key.function, Some(code.calls));
                    found.segments.push(Segment { name, function, call, calls });
                    found.segments.len() as u32 - 1
                }
                Some(function) => *rest.entry(function).or_insert_with(|| {
                    let call = Some(found.functions[function].call);
                    found.segments.push(Segment { function: Some(function), call, ..Segment::default() });
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
        let is_within = |(from, to): &(u32, u32)| places.contains(from) && places.contains(to);
        let functions = self.function_between.iter().filter(|(pair, _)| is_within(pair)).map(|(_, function)| *function);
        functions.reduce(|one, other| self.calls.common(one, other)).flatten()
    }

    /// Whether a region lies in the function that `call` calls; also where that is not known.
    pub fn is_in(&self, segment: u32, call: Option<u32>) -> bool {
        let Some(one) = self.segments.get(segment as usize).filter(|_| segment > 0) else { return true };
        call.is_none_or(|call| one.call.is_some_and(|own| self.calls.is_around(call, own)))
    }

    /// The region in the function that `call` calls which ends at a place, that with most time; `None` where there is none.
    pub fn ending_at(&self, place: u32, call: Option<u32>) -> Option<u32> {
        self.ending.get(&place)?.iter().copied().find(|&segment| self.is_in(segment, call))
    }

    /// The name of a region and of the functions around it, up to that which `call` calls (all where it is `None`).
    pub fn path(&self, segment: u32, call: Option<u32>) -> Option<CodePath> {
        let segment = self.segments.get(segment as usize)?;
        let outside = call.map_or_else(Vec::new, |call| self.calls.path(call));
        let (mut names, mut calls) = (Vec::new(), Vec::new());
        let mut next = segment.function.and_then(|at| self.functions.get(at));
        while let Some(one) = next.filter(|one| !outside.contains(&one.call)) {
            names.push(one.name.clone());
            calls.push(Some(one.call));
            next = one.parent.and_then(|at| self.functions.get(at));
        }
        names.reverse();
        calls.reverse();
        let n_functions = names.len();
        names.extend(segment.name.clone());
        calls.extend(segment.name.as_ref().map(|_| segment.call));
        if names.is_empty() {
            names.push(OTHER.to_owned());
        }
        let label = |node: u32| {
            let path = self.calls.path(node);
            let within = path.iter().position(|at| !outside.contains(at)).and_then(|at| path.get(at));
            self.calls.node(*within.unwrap_or(&node)).map(|node| label(&node.place)).unwrap_or_default()
        };
        let ends = segment.calls.map(|(from, to)| (from.map_or_else(|| START.to_owned(), label), label(to)));
        Some(CodePath { names, n_functions, calls, ends })
    }
}

/// The begin of the program in the names of regions.
const START: &str = "start";

/// The place of each call site, from 1, and the node of the first call site of each place; of place 0 there is none.
fn places_of(calls: &CallTree, n_sites: usize) -> (Vec<u32>, Vec<Option<u32>>) {
    let mut numbers: BTreeMap<(Option<u32>, CodePlace), u32> = BTreeMap::new();
    let mut first = vec![None];
    let of_site = (0..n_sites as u32)
        .map(|site| {
            let Some((at, node)) = calls.node_of(site).and_then(|at| Some((at, calls.node(at)?))) else { return 0 };
            *numbers.entry((node.parent, without_offset(&node.place))).or_insert_with(|| {
                first.push(Some(at));
                first.len() as u32 - 1
            })
        })
        .collect();
    (of_site, first)
}

/// A place by its line or else its function, where one of them is known.
fn without_offset(place: &CodePlace) -> CodePlace {
    let known = place.line.is_some() || place.function.is_some();
    CodePlace { offset: if known { 0 } else { place.offset }, ..place.clone() }
}

/// Where the code between two calls is; `None`: from the begin of the program.
fn key(activations: &mut Activations, calls: &CallTree, from: Option<u32>, to: u32) -> Key {
    let Some(from) = from else { return Key { function: None, from: None, to: point(calls, to, to) } };
    let SharedFrame { around, first, last } = activations.meeting(from, to);
    Key { function: around, from: Some(point(calls, first, from)), to: point(calls, last, to) }
}

/// The place of a node on the path to a leaf.
fn point(calls: &CallTree, at: u32, leaf: u32) -> Point {
    let place = calls.node(at).map(|node| node.place.clone()).unwrap_or_default();
    let path = calls.path(leaf);
    let next = path.iter().position(|&on_path| on_path == at).and_then(|place| path.get(place + 1));
    let next = next.and_then(|&next| calls.node(next)).filter(|_| place.line.is_none());
    let called = next.map(|node| called(&node.place)).filter(|name| !name.is_empty());
    Point { place: without_offset(&place), calls: called }
}

/// Whether so much of all time is worth a region.
fn is_heavy(ns: u64, all: u64) -> bool {
    ns as f64 >= LEAST_SHARE * all as f64 && ns > 0
}

/// The short name of the function of a place, as of one that is called; empty where it is not known.
fn called(place: &CodePlace) -> String {
    short(place.function_label()).to_owned()
}

/// The functions that are regions.
#[derive(Default)]
struct Functions {
    regions: Vec<Function>,
    /// The time that goes by in each, with those in it.
    ns: Vec<u64>,
    /// Their indices by the call.
    of_call: HashMap<u32, usize>,
}

impl Functions {
    /// The innermost of them around the function that `call` calls, itself among them.
    fn around(&self, calls: &CallTree, call: Option<u32>) -> Option<usize> {
        let mut path = std::iter::successors(call, |&at| calls.node(at)?.parent);
        path.find_map(|at| self.of_call.get(&at).copied())
    }
}

/// The functions in which time goes by between calls, if it is not all of the program's: in themselves, or in several of them that they call.
fn functions(calls: &CallTree, codes: &BTreeMap<Key, Code>, all: u64) -> Functions {
    let mut own: HashMap<u32, u64> = HashMap::new();
    for (call, ns) in codes.iter().filter_map(|(key, code)| Some((key.function?, code.ns))) {
        let time = own.entry(call).or_default();
        *time = time.saturating_add(ns);
    }
    let with_callees = calls.sums(&own);
    let depth = |call: u32| calls.node(call).map_or(0, |node| node.depth);
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
    let ns = |call: u32| with_callees.get(call as usize).copied().unwrap_or(0);
    kept.sort_by_key(|&call| (std::cmp::Reverse(ns(call)), depth(call), call));
    kept.truncate(MOST);
    let mut place = 0..;
    kept.retain(|&call| place.next().is_some_and(|at| at < MIN_NAMED) || is_heavy(ns(call), all));
    kept.sort_by_key(|&call| (depth(call), call));
    let mut found = Functions::default();
    for &call in &kept {
        let parent = found.around(calls, calls.node(call).and_then(|node| node.parent));
        found.of_call.insert(call, found.regions.len());
        found.ns.push(ns(call));
        let name = calls.callee(call).map(|node| called(&node.place)).filter(|name| !name.is_empty());
        found.regions.push(Function { name: name.unwrap_or_else(|| "code".to_owned()), parent, call });
    }
    let names: Vec<(Option<usize>, String)> = found.regions.iter().map(|one| (one.parent, one.name.clone())).collect();
    for (one, own) in found.regions.iter_mut().zip(&names) {
        if let Some(node) = calls.node(one.call).filter(|_| names.iter().filter(|other| *other == own).count() > 1) {
            one.name = format!("{} from {}", one.name, label_of_call(&node.place));
        }
    }
    found
}

/// A call of a function by where it is; the offset distinguishes several where the line is not known.
fn label_of_call(place: &CodePlace) -> String {
    let function = place.function.as_ref().map(|_| short(place.function_label()).to_owned());
    CodePlace { function, callers: Vec::new(), ..place.clone() }.label()
}

/// The name of the code between two places of a function, or of several where no more is known; `None`: the begin of the program.
fn name(from: Option<&Point>, to: &Point) -> String {
    let Some(from) = from else { return format!("{START} → {}", label(&to.place)) };
    let (first, last) = (&from.place, &to.place);
    let same_function = first.function.is_some() && first.function == last.function && first.file == last.file;
    match (first.line, last.line, last.file.as_deref()) {
        _ if first == last && from.calls.is_none() && to.calls.is_none() => label(last),
        (Some(begin), Some(end), Some(file)) if same_function => {
            format!("{} ({}:{begin} → {end})", short(last.function_label()), base_name(file))
        }
        (None, None, _) if same_function => {
            let function = short(last.function_label());
            match (&from.calls, &to.calls) {
                (Some(begin), Some(end)) if begin == end => format!("{function} ({begin})"),
                (Some(begin), Some(end)) => format!("{function} ({begin} → {})", without_class_of(begin, end)),
                (Some(begin), None) => format!("{function} ({begin} →)"),
                (None, Some(end)) => format!("{function} (→ {end})"),
                (None, None) => function.to_owned(),
            }
        }
        _ => format!("{} → {}", label(first), without_class_of(short(first.function_label()), &label(last))),
    }
}

/// The label of a place without the class that it shares with the function before.
fn without_class_of(function: &str, to: &str) -> String {
    let class = function.rsplit_once("::").map(|(class, _)| format!("{class}::"));
    class.and_then(|class| to.strip_prefix(class.as_str())).unwrap_or(to).to_owned()
}

/// A place by its short name, without its offset where more is known.
pub fn label(place: &CodePlace) -> String {
    let function = place.function.as_ref().map(|_| short(place.function_label()).to_owned());
    let own = match place.line {
        None if place.function.is_some() => function.unwrap_or_default(),
        _ => CodePlace { function, callers: Vec::new(), ..place.clone() }.label(),
    };
    place.through(&own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(function: &str, line: Option<u32>) -> CodePlace {
        let file = line.map(|_| "src/halo.c".to_owned());
        CodePlace {
            function: Some(function.to_owned()),
            file,
            line,
            module: Some("app".to_owned()),
            offset: 0x10,
            callers: Vec::new(),
        }
    }

    fn point(place: &CodePlace, calls: Option<&str>) -> Point {
        Point { place: without_offset(place), calls: calls.map(str::to_owned) }
    }

    #[test]
    fn code_between_calls_is_named_by_them() {
        let (send, wait, solve) = (at("halo", Some(20)), at("halo", Some(25)), at("solve", Some(7)));
        let between = |from: &CodePlace, to: &CodePlace| name(Some(&point(from, None)), &point(to, None));
        assert_eq!(between(&send, &wait), "halo (halo.c:20 → 25)");
        assert_eq!(between(&wait, &solve), "halo (halo.c:25) → solve (halo.c:7)");
        assert_eq!(between(&send, &send), "halo (halo.c:20)");
        assert_eq!(name(None, &point(&send, None)), "start → halo (halo.c:20)");
        assert_eq!(between(&at("exchange", None), &at("reverse", None)), "exchange → reverse");
        let of_class = |name: &str| at(&format!("md::Comm::{name}"), None);
        assert_eq!(between(&of_class("forward"), &of_class("reverse")), "Comm::forward → reverse");
        let run = at("md::Verlet::run", None);
        let calls = |from, to| name(Some(&point(&run, from)), &point(&run, to));
        assert_eq!(calls(Some("Comm::forward"), Some("Comm::reverse")), "Verlet::run (Comm::forward → reverse)");
        assert_eq!(calls(Some("Comm::forward"), Some("Comm::forward")), "Verlet::run (Comm::forward)");
        assert_eq!(calls(None, Some("Comm::forward")), "Verlet::run (→ Comm::forward)");
        assert_eq!(calls(Some("Comm::forward"), None), "Verlet::run (Comm::forward →)");
    }
}
