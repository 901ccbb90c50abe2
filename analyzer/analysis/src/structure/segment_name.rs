//! The names of code between calls, by the calls before and after it.
//!
//! ```text
//!   step (app.c:55 → 61)             between calls in two lines of a function
//!   step (app.c:55, 58 → 61)         the same code, which comes after either of two calls
//!   step (app.c:55)                  between a call and the same call again
//!   main (app.c:9 forces → 9 fields) between two calls on one line
//!   step (Waitall → Allreduce)       where lines are not known
//!   step (Send #1 → Send #2)         between two of several such calls
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lbprof_collector::Operation;

use super::code::call_tree::CallTree;
use super::code::code_place::{Caller, CodePlace, base_name};
use super::survey::CallSurvey;
use crate::model::CodeName;

pub(super) const START: &str = "start";

/// Maximum number of calls in a name.
const MAX_LISTED: usize = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallPoint {
    /// Place of the call, without the offset if more is known.
    place: CodePlace,
    /// The called function, or the operation of MPI, with a number if there are several such calls at the place; `None` if it is not known.
    called: Option<String>,
    is_of_mpi: bool,
    /// True if there are other calls at the place.
    is_shared: bool,
}

impl CallPoint {
    fn is_in_function_of(&self, other: &CallPoint) -> bool {
        (&self.place.function, &self.place.file) == (&other.place.function, &other.place.file)
    }

    pub(super) fn source_order(&self) -> (u32, u64) {
        (self.place.line.unwrap_or(0), self.place.offset)
    }

    fn called_without_number(&self) -> String {
        let called = self.called.as_deref().unwrap_or("?");
        called.split_once(" #").map_or(called, |(name, _)| name).to_owned()
    }

    fn called_or_empty(&self) -> String {
        self.called.clone().unwrap_or_default()
    }

    fn label(&self) -> String {
        place_label(&self.place)
    }
}

pub(super) fn call_points(calls: &CallTree, survey: &CallSurvey) -> Vec<CallPoint> {
    let operations = operations_by_node(calls, survey);
    let mut points: Vec<CallPoint> = Vec::new();
    let mut by_place: BTreeMap<(Option<u32>, CodePlace), Vec<u32>> = BTreeMap::new();
    for (at, node) in (0..).zip(calls.nodes()) {
        let mut place = without_offset(&node.place);
        if !place.is_named() {
            let around = calls.callers_to_named(at);
            place.callers =
                around.iter().filter_map(|&at| calls.node(at)).map(|node| Caller::from_place(&node.place)).collect();
        }
        let called = match operations.get(&at) {
            Some(names) => Some(names.iter().map(String::as_str).collect::<Vec<_>>().join("/")),
            None => calls.callee_name(at),
        };
        // Nodes that lead to other calls also exist without them.
        if called.is_some() {
            by_place.entry((node.parent, place.clone())).or_default().push(at);
        }
        points.push(CallPoint { place, called, is_of_mpi: operations.contains_key(&at), is_shared: false });
    }
    for mut nodes in by_place.into_values().filter(|nodes| nodes.len() > 1) {
        nodes.sort_by_key(|&at| calls.node(at).map(|node| (node.column, node.place.offset)));
        let mut numbers: HashMap<Option<String>, Vec<u32>> = HashMap::new();
        for &at in &nodes {
            points[at as usize].is_shared = true;
            numbers.entry(points[at as usize].called.clone()).or_default().push(at);
        }
        for (name, alike) in numbers.into_iter().filter(|(_, alike)| alike.len() > 1) {
            for (number, at) in (1..).zip(alike) {
                points[at as usize].called = Some(format!("{} #{number}", name.as_deref().unwrap_or("call")));
            }
        }
    }
    points
}

fn operations_by_node(calls: &CallTree, survey: &CallSurvey) -> BTreeMap<u32, BTreeSet<String>> {
    let mut operations: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for token in &survey.tokens {
        let name = Operation::from_number(token.operation).map(Operation::name);
        if let Some((at, name)) = token.site.and_then(|site| calls.node_of(site)).zip(name) {
            operations.entry(at).or_default().insert(name.to_owned());
        }
    }
    operations
}

fn without_offset(place: &CodePlace) -> CodePlace {
    let known = place.line.is_some() || place.function.is_some();
    CodePlace { offset: if known { 0 } else { place.offset }, ..place.clone() }
}

/// Returns the name of the code between calls of a function, or of several if no more is known. Without calls before it, it comes after the start
/// of the program. Both lists are sorted.
pub(super) fn name_code(from: &[CallPoint], to: &[CallPoint]) -> String {
    let Some(last) = to.first() else { return String::new() };
    let mut all = from.iter().chain(to);
    let is_one_function = last.place.function.is_some() && all.clone().all(|point| point.is_in_function_of(last));
    let function = last.place.short_function();
    let has_lines = all.clone().all(|point| point.place.line.is_some());
    match last.place.file.as_deref() {
        _ if from.is_empty() => format!("{START} → {}", list_points(to, CallPoint::label)),
        Some(file) if is_one_function && has_lines => {
            let file = base_name(file);
            match from == to {
                true => format!("{function} ({file}:{})", list_points(to, line_with_callee)),
                false => format!(
                    "{function} ({file}:{} → {})",
                    list_points(from, line_with_callee),
                    list_points(to, line_with_callee)
                ),
            }
        }
        _ if is_one_function && all.all(|point| point.place.line.is_none()) => {
            let (begin, end) =
                (list_points(from, CallPoint::called_or_empty), list_points(to, CallPoint::called_or_empty));
            match (begin.as_str(), end.as_str()) {
                ("", "") => function.to_owned(),
                (begin, "") => format!("{function} ({begin} →)"),
                ("", end) => format!("{function} (→ {end})"),
                (begin, end) if begin == end => format!("{function} ({begin})"),
                (begin, end) => format!("{function} ({begin} → {})", without_class_of(begin, end)),
            }
        }
        _ if from == to => list_points(to, CallPoint::label),
        _ => {
            let first = from.first().map_or("", |point| point.place.short_function());
            let end = list_points(to, CallPoint::label);
            format!("{} → {}", list_points(from, CallPoint::label), without_class_of(first, &end))
        }
    }
}

/// Returns the name of the code between calls by which it is found again in another version of the program.
pub(super) fn name_without_lines(from: &[CallPoint], to: &[CallPoint]) -> CodeName {
    let ends = from.first().into_iter().chain(to.first());
    let mut functions: Vec<&str> = ends.map(|point| point.place.short_function()).collect();
    functions.dedup();
    let end = list_points(to, CallPoint::called_without_number);
    let calls = match list_points(from, CallPoint::called_without_number) {
        begin if begin.is_empty() => format!("{START} → {end}"),
        begin => format!("{begin} → {end}"),
    };
    CodeName { function: functions.join(" → "), calls, ordinal: 1 }
}

/// Describes the calls around code of a function, or returns `None` if they are not known or in several functions.
pub(super) fn describe_code(from: &[CallPoint], to: &[CallPoint]) -> Option<String> {
    let last = to.first()?;
    let is_known = from.iter().chain(to).all(|point| point.called.is_some() && point.is_in_function_of(last));
    if from.is_empty() || last.place.function.is_none() || !is_known {
        return None;
    }
    if let ([only], [other]) = (from, to)
        && only == other
    {
        return Some(format!("between two calls of {}", call_in_words(only, false).trim_start_matches(CALL_OF)));
    }
    let line = line_of_all(from, to);
    let first = list_in_words(from, line.is_some());
    let last = match from {
        [only] if to.contains(only) => {
            let others: Vec<CallPoint> = to.iter().filter(|point| *point != only).cloned().collect();
            format!("the next one or {}", list_in_words(&others, line.is_some()))
        }
        _ => list_in_words(to, line.is_some()),
    };
    Some(match line {
        Some(line) => format!("from {first} to {last} ({line})"),
        None => format!("from {first} to {last}"),
    })
}

/// Returns the line on which all calls before and after code are, `both on line 9 of app.c`, if they are several calls.
fn line_of_all(from: &[CallPoint], to: &[CallPoint]) -> Option<String> {
    let first = from.first()?;
    let (file, line) = first.place.file.as_deref().zip(first.place.line)?;
    let mut all = from.iter().chain(to);
    let are_several = from != to || from.len() > 1;
    let is_one_line = all.all(|point| (point.place.file.as_deref(), point.place.line) == (Some(file), Some(line)));
    let how_many = if from.len() + to.len() == 2 { "both" } else { "all" };
    (are_several && is_one_line).then(|| format!("{how_many} on line {line} of {}", base_name(file)))
}

const CALL_OF: &str = "the call of ";

/// Returns `MPI_Send (halo.c:20)`, or `the call of exchange (app.c:55)`, without the line if it `is_on_line` that is stated elsewhere.
fn call_in_words(point: &CallPoint, is_on_line: bool) -> String {
    let called = point.called.as_deref().unwrap_or_default();
    let called = if point.is_of_mpi { format!("MPI_{called}") } else { format!("{CALL_OF}{called}") };
    match (point.place.file.as_deref(), point.place.line) {
        (Some(file), Some(line)) if !is_on_line => format!("{called} ({}:{line})", base_name(file)),
        _ => called,
    }
}

/// Returns one or two calls, or the first and the number of others: a sentence with a longer list is hard to read.
fn list_in_words(points: &[CallPoint], is_on_line: bool) -> String {
    match distinct_texts(points.iter().map(|point| call_in_words(point, is_on_line))).as_slice() {
        [first, others @ ..] if others.len() > 1 => format!("{first} or {} others", others.len()),
        few => few.join(" or "),
    }
}

fn distinct_texts(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for text in texts {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}

/// Returns the line of a call, with what it calls if there are several calls on the line.
fn line_with_callee(point: &CallPoint) -> String {
    let line = point.place.line.unwrap_or(0).to_string();
    match point.called.as_deref().filter(|_| point.is_shared) {
        Some(called) => format!("{line} {called}"),
        None => line,
    }
}

fn list_points(points: &[CallPoint], words: impl Fn(&CallPoint) -> String) -> String {
    let mut listed = distinct_texts(points.iter().map(words));
    let n_more = listed.len().saturating_sub(MAX_LISTED);
    listed.truncate(MAX_LISTED);
    match n_more {
        0 => listed.join(", "),
        _ => format!("{} … {n_more} more", listed.join(", ")),
    }
}

/// Returns the label of a place without the class that it shares with the function before.
fn without_class_of(function: &str, to: &str) -> String {
    let class = function.rsplit_once("::").map(|(class, _)| format!("{class}::"));
    class.and_then(|class| to.strip_prefix(class.as_str())).unwrap_or(to).to_owned()
}

/// Returns a place by its short name, without its offset if more is known.
pub fn place_label(place: &CodePlace) -> String {
    let own = match place.line {
        None if place.function.is_some() => place.short_function().to_owned(),
        _ => place.shortened().own_label(),
    };
    place.through(&own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(function: &str, line: Option<u32>, called: Option<&str>) -> CallPoint {
        let place = CodePlace {
            function: Some(function.to_owned()),
            file: line.map(|_| "src/halo.c".to_owned()),
            line,
            module: Some("app".to_owned()),
            ..CodePlace::default()
        };
        CallPoint { place, called: called.map(str::to_owned), is_of_mpi: false, is_shared: false }
    }

    fn name(from: &CallPoint, to: &CallPoint) -> String {
        name_code(std::slice::from_ref(from), std::slice::from_ref(to))
    }

    #[test]
    fn code_between_calls_is_named_by_their_lines() {
        let at = |function, line| call(function, Some(line), Some("Send"));
        let (send, wait, solve) = (at("halo", 20), at("halo", 25), at("solve", 7));
        assert_eq!(name(&send, &wait), "halo (halo.c:20 → 25)");
        assert_eq!(name(&wait, &solve), "halo (halo.c:25) → solve (halo.c:7)");
        assert_eq!(name(&send, &send), "halo (halo.c:20)");
        assert_eq!(name_code(&[], &[send]), "start → halo (halo.c:20)");
    }

    #[test]
    fn code_is_named_without_lines_by_the_calls_around_it() {
        let at = |line, called| call("halo", Some(line), Some(called));
        let name = |from: &[CallPoint], to: &[CallPoint]| name_without_lines(from, to).to_string();
        assert_eq!(name(&[at(20, "Send #1")], &[at(25, "Wait")]), "halo (Send → Wait)");
        assert_eq!(name(&[at(22, "Send #1")], &[at(29, "Wait")]), "halo (Send → Wait)", "lines moved");
        assert_eq!(name(&[], &[at(25, "Wait")]), "halo (start → Wait)");
        assert_eq!(
            name(&[at(25, "Wait"), at(20, "Send #1")], &[call("norm", Some(7), None)]),
            "halo → norm (Wait, Send → ?)"
        );
    }

    #[test]
    fn code_after_either_of_two_calls_is_named_by_both() {
        let at = |line| call("halo", Some(line), None);
        assert_eq!(name_code(&[at(20), at(22)], &[at(25)]), "halo (halo.c:20, 22 → 25)");
        assert_eq!(name_code(&[at(20), at(22)], &[at(20), at(22)]), "halo (halo.c:20, 22)");
        let many: Vec<CallPoint> = (1..=6).map(at).collect();
        assert_eq!(name_code(&many, &[at(9)]), "halo (halo.c:1, 2, 3, 4 … 2 more → 9)");
    }

    #[test]
    fn calls_on_one_line_are_distinguished_by_what_they_call() {
        let on_line = |called| CallPoint { is_shared: true, ..call("main", Some(9), Some(called)) };
        assert_eq!(name(&on_line("forces"), &on_line("fields")), "main (halo.c:9 forces → 9 fields)");
        assert_eq!(name(&on_line("Send #1"), &on_line("Send #1")), "main (halo.c:9 Send #1)");
    }

    #[test]
    fn code_between_calls_is_described_by_what_they_call() {
        let [forces, fields] =
            [(9, "forces"), (10, "fields")].map(|(line, called)| call("main", Some(line), Some(called)));
        let send = CallPoint { is_of_mpi: true, ..call("main", Some(12), Some("Send")) };
        let words = |from: &[&CallPoint], to: &[&CallPoint]| {
            let [from, to] = [from, to].map(|points| points.iter().map(|&point| point.clone()).collect::<Vec<_>>());
            describe_code(&from, &to)
        };
        assert_eq!(
            words(&[&forces], &[&fields]),
            Some("from the call of forces (halo.c:9) to the call of fields (halo.c:10)".to_owned())
        );
        assert_eq!(
            words(&[&forces, &send], &[&send]),
            Some("from the call of forces (halo.c:9) or MPI_Send (halo.c:12) to MPI_Send (halo.c:12)".to_owned())
        );
        assert_eq!(
            words(&[&forces], &[&fields, &forces]),
            Some("from the call of forces (halo.c:9) to the next one or the call of fields (halo.c:10)".to_owned())
        );
        let many: Vec<CallPoint> = (1..=4).map(|line| call("main", Some(line), Some("pack"))).collect();
        assert_eq!(
            words(&many.iter().collect::<Vec<_>>(), &[&send]),
            Some("from the call of pack (halo.c:1) or 3 others to MPI_Send (halo.c:12)".to_owned())
        );
        assert_eq!(words(&[&forces], &[&forces]), Some("between two calls of forces (halo.c:9)".to_owned()));
        assert_eq!(words(&[&send], &[&send]), Some("between two calls of MPI_Send (halo.c:12)".to_owned()));
        assert_eq!(words(&[], &[&send]), None);
        let on_line = |called| CallPoint { is_shared: true, ..call("main", Some(9), Some(called)) };
        assert_eq!(
            words(&[&on_line("sum")], &[&CallPoint { is_of_mpi: true, ..on_line("Barrier") }]),
            Some("from the call of sum to MPI_Barrier (both on line 9 of halo.c)".to_owned())
        );
        assert_eq!(
            words(&[&on_line("sum"), &on_line("dot")], &[&on_line("sum"), &on_line("dot")]),
            Some("from the call of sum or the call of dot to the call of sum or the call of dot (all on line 9 of halo.c)".to_owned())
        );
        assert_eq!(words(&[&call("halo", Some(1), Some("Send"))], &[&send]), None);
    }

    #[test]
    fn without_lines_code_is_named_by_what_is_called() {
        let calls = |from, to| name(&call("md::Verlet::run", None, from), &call("md::Verlet::run", None, to));
        assert_eq!(calls(Some("Comm::forward"), Some("Comm::reverse")), "Verlet::run (Comm::forward → reverse)");
        assert_eq!(calls(Some("Comm::forward"), Some("Comm::forward")), "Verlet::run (Comm::forward)");
        assert_eq!(calls(None, Some("Comm::forward")), "Verlet::run (→ Comm::forward)");
        assert_eq!(calls(Some("Comm::forward"), None), "Verlet::run (Comm::forward →)");
        assert_eq!(calls(Some("Send #1"), Some("Send #2")), "Verlet::run (Send #1 → Send #2)");
        let [forward, reverse] = ["md::Comm::forward", "md::Comm::reverse"].map(|name| call(name, None, None));
        assert_eq!(name(&forward, &reverse), "Comm::forward → reverse");
    }
}
