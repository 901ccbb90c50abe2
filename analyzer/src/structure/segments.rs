//! The code between two call sites as regions.
//!
//! ```text
//!   exchange (halo.c:20)          Waitall
//!        │  computation            ┐
//!        ▼                         ├ region "exchange (halo.c:20) → main (app.c:31)"
//!   main (app.c:31)               Allreduce, its time included
//! ```
//!
//! Call sites on one source line are one place; where lines are not known, all those of a function are, so that an
//! optimised library without debug information gives a region for each function and each step from one to another.

use std::collections::{BTreeMap, HashMap};

use crate::structure::survey::Survey;
use crate::structure::symbols::{CodePlace, base_name};

/// Share of all ranks' time from which on code between two places is a region of its own. Others are one region together:
/// hundreds of regions, each of next to nothing, would hide the few that matter.
const LEAST_SHARE: f64 = 0.005;

/// Most regions; those that take most time.
const MOST: usize = 200;

/// The name of all code between places that has no region of its own.
pub const OTHER: &str = "other code between calls";

/// Regions by the places before and after them.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    /// The place of each call site: 0 where it is not known.
    place_of_site: Vec<u32>,
    /// The region between two places; place 0 is also the begin of the program.
    between: HashMap<(u32, u32), u32>,
    /// Names of regions; the first is [`OTHER`].
    names: Vec<String>,
}

impl Segments {
    /// The regions of a surveyed run.
    pub fn new(survey: &Survey, places: &[CodePlace]) -> Segments {
        let (place_of_site, labels) = places_of(places);
        let place = |site: Option<u32>| site.map_or(0, |site| place_of_site.get(site as usize).copied().unwrap_or(0));
        let mut times: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        let mut all = 0_u64;
        for (&(from, to), pair) in &survey.pairs {
            let time = times.entry((place(from), place(to))).or_default();
            *time = time.saturating_add(pair.ns);
            all = all.saturating_add(pair.ns);
        }
        let mut heavy: Vec<((u32, u32), u64)> =
            times.into_iter().filter(|&(_, ns)| ns as f64 >= LEAST_SHARE * all as f64 && ns > 0).collect();
        heavy.sort_by_key(|&(key, ns)| (std::cmp::Reverse(ns), key));
        heavy.truncate(MOST);
        let mut names = vec![OTHER.to_owned()];
        let mut between = HashMap::new();
        for ((from, to), _) in heavy {
            between.insert((from, to), names.len() as u32);
            names.push(name(labels.get(from as usize).copied().flatten(), labels.get(to as usize).copied().flatten()));
        }
        Segments { place_of_site, between, names }
    }

    /// The place of a call site.
    pub fn place(&self, site: Option<u32>) -> u32 {
        site.and_then(|site| self.place_of_site.get(site as usize).copied()).unwrap_or(0)
    }

    /// The region between two places.
    pub fn between(&self, from: u32, to: u32) -> u32 {
        self.between.get(&(from, to)).copied().unwrap_or(0)
    }

    /// The name of a region.
    pub fn name(&self, segment: u32) -> Option<&str> {
        self.names.get(segment as usize).map(String::as_str)
    }
}

/// The place of each call site, from 1, and the first call site of each place; of place 0 there is none.
fn places_of(places: &[CodePlace]) -> (Vec<u32>, Vec<Option<&CodePlace>>) {
    let mut numbers: BTreeMap<CodePlace, u32> = BTreeMap::new();
    let mut first = vec![None];
    let of_site = places
        .iter()
        .map(|place| {
            let known = place.line.is_some() || place.function.is_some();
            let key = CodePlace { offset: if known { 0 } else { place.offset }, ..place.clone() };
            *numbers.entry(key).or_insert_with(|| {
                first.push(Some(place));
                first.len() as u32 - 1
            })
        })
        .collect();
    (of_site, first)
}

/// The name of the code between two places; `None`: the begin of the program, or a call site that is not known.
fn name(from: Option<&CodePlace>, to: Option<&CodePlace>) -> String {
    let Some(to) = to else { return format!("{} → ?", from.map_or_else(|| "start".to_owned(), label)) };
    let Some(from) = from else { return format!("start → {}", label(to)) };
    if from == to {
        return label(to);
    }
    let same_function = from.function.is_some() && from.function == to.function && from.file == to.file;
    match (from.line, to.line, to.file.as_deref()) {
        (Some(first), Some(last), Some(file)) if same_function => {
            format!("{} ({}:{first} → {last})", short(to.function_label()), base_name(file))
        }
        _ => format!("{} → {}", label(from), without_class_of(from, &label(to))),
    }
}

/// The places before and after the code of this name, by their labels; the reverse of [`name`] but for a class that both share.
pub fn ends_of(name: &str) -> (String, String) {
    let Some((from, to)) = name.split_once(" → ") else { return (name.to_owned(), name.to_owned()) };
    match (from.rfind('('), from.rsplit_once(':')) {
        // Lines of one function.
        (Some(open), Some((file, _))) if !from[open..].contains(')') => (format!("{from})"), format!("{file}:{to}")),
        _ => (from.to_owned(), to.to_owned()),
    }
}

/// The label of a place without the class that it shares with the place before.
fn without_class_of(from: &CodePlace, to: &str) -> String {
    let class = short(from.function_label()).rsplit_once("::").map(|(class, _)| format!("{class}::"));
    class.and_then(|class| to.strip_prefix(class.as_str())).unwrap_or(to).to_owned()
}

/// A place by its short name, without its offset where more is known.
pub fn label(place: &CodePlace) -> String {
    let function = place.function.as_ref().map(|_| short(place.function_label()).to_owned());
    match place.line {
        None if place.function.is_some() => function.unwrap_or_default(),
        _ => CodePlace { function, ..place.clone() }.label(),
    }
}

/// A qualified name of C++ by its last two parts: `LAMMPS_NS::CommBrick::exchange` is `CommBrick::exchange`.
fn short(function: &str) -> &str {
    let mut depth = 0_i32;
    let mut parts = Vec::new();
    for (at, byte) in function.bytes().enumerate() {
        match byte {
            b'<' | b'(' => depth += 1,
            b'>' | b')' => depth -= 1,
            b':' if depth == 0 && function.as_bytes().get(at + 1) == Some(&b':') => parts.push(at + 2),
            _ => {}
        }
    }
    // The last part, and the one before it.
    let from = parts.len().checked_sub(2).and_then(|at| parts.get(at)).copied().unwrap_or(0);
    function.get(from..).unwrap_or(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(function: &str, line: Option<u32>) -> CodePlace {
        let file = line.map(|_| "src/halo.c".to_owned());
        CodePlace { function: Some(function.to_owned()), file, line, module: Some("app".to_owned()), offset: 0x10 }
    }

    #[test]
    fn code_between_calls_is_named_by_them() {
        let (send, wait, solve) = (at("halo", Some(20)), at("halo", Some(25)), at("solve", Some(7)));
        assert_eq!(name(Some(&send), Some(&wait)), "halo (halo.c:20 → 25)");
        assert_eq!(name(Some(&wait), Some(&solve)), "halo (halo.c:25) → solve (halo.c:7)");
        assert_eq!(name(Some(&send), Some(&send)), "halo (halo.c:20)");
        assert_eq!(name(None, Some(&send)), "start → halo (halo.c:20)");
        assert_eq!(name(Some(&at("exchange", None)), Some(&at("reverse", None))), "exchange → reverse");
        let of_class = |name: &str| at(&format!("md::Comm::{name}"), None);
        assert_eq!(name(Some(&of_class("forward")), Some(&of_class("reverse"))), "Comm::forward → reverse");
        let unknown = CodePlace { module: Some("/bin/app".to_owned()), offset: 0x40, ..CodePlace::default() };
        assert_eq!(name(Some(&unknown), None), "app+0x40 → ?");
    }

    #[test]
    fn a_name_says_which_calls_the_code_is_between() {
        let places = [("halo", Some(20)), ("halo", Some(25)), ("solve", Some(7)), ("md::Comm::reverse", None)];
        let places = places.map(|(function, line)| at(function, line));
        for (from, to) in places.iter().flat_map(|from| places.iter().map(move |to| (from, to))) {
            assert_eq!(ends_of(&name(Some(from), Some(to))), (label(from), label(to)));
        }
        assert_eq!(ends_of(&name(None, Some(&places[0]))), ("start".to_owned(), label(&places[0])));
    }

    #[test]
    fn the_last_two_parts_of_a_qualified_name_are_enough() {
        assert_eq!(short("LAMMPS_NS::CommBrick::exchange"), "CommBrick::exchange");
        assert_eq!(short("CommBrick::exchange"), "CommBrick::exchange");
        assert_eq!(short("a::b::Solver<std::vector<int>>::run"), "Solver<std::vector<int>>::run");
        assert_eq!(short("solve_"), "solve_");
    }

    #[test]
    fn call_sites_are_one_place_by_line_or_else_by_function() {
        let other = CodePlace { offset: 0x20, ..at("halo", Some(20)) };
        let without_lines = [at("halo", None), CodePlace { offset: 0x30, ..at("halo", None) }];
        let unknown = CodePlace { offset: 0x40, ..CodePlace::default() };
        let more = CodePlace { offset: 0x50, ..CodePlace::default() };
        let all = [vec![at("halo", Some(20)), other], without_lines.to_vec(), vec![unknown, more]].concat();
        let (of_site, first) = places_of(&all);
        assert_eq!(of_site, [1, 1, 2, 2, 3, 4]);
        assert_eq!(first.len(), 5);
    }
}
