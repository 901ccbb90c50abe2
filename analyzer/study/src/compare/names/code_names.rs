//! The names of the code of several runs, made the same where the code is the same.
//!
//! A function that only the base runs have, and one that only the new runs have, are the same if their names differ in template arguments alone, or in the
//! class, module or function around them. Else they are the same if code runs in both between the same calls and takes a like share of the time, and no other
//! function is like them. Code that moved into another function, as an inlined one does, is found likewise. Where a function has other calls in some runs, or
//! its work moved past a call, the whole function is compared: also code that was divided by an added call and has kept its name. Remarks tell what is not sure.
//!
//! ```text
//!   base                            new                              compared
//!   relax (Sendrecv → Allreduce)    relax (Sendrecv → Barrier)       relax
//!                                   relax (Barrier → Allreduce)
//!   norm (Allreduce → Sendrecv)     norm (Allreduce → Sendrecv)      norm (Allreduce → Sendrecv)
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::RunMetrics;
use lbprof_analysis::model::CodeName;
use lbprof_collector::Activity;
use lbprof_report::rows::words::format_percent;
use lbprof_thresholds::study::{
    MAX_RATIO_OF_SAME_CODE, MIN_CANCELLED_DIFFERENCE, MIN_SHARE_OF_CHANGED_FUNCTION, MIN_SHIFTED_WORK,
};

pub(super) struct ComparedNames {
    runs: Vec<ComparedCode>,
    /// Number of base runs, which come first.
    n_base: usize,
}

/// The code of a run: an entry for each of its regions.
struct ComparedCode {
    /// Their names; `None` for marked ones.
    names: Vec<Option<CodeName>>,
    /// Their computation as a share of the run's time.
    shares: Vec<f64>,
    /// The run's time.
    elapsed_s: f64,
}

impl ComparedCode {
    fn new(run: &RunMetrics) -> ComparedCode {
        let whole_s = (run.times.elapsed_s * run.ranks.len() as f64).max(f64::MIN_POSITIVE);
        ComparedCode {
            names: run.regions.iter().map(|region| region.code.as_ref().map(with_plain_calls)).collect(),
            shares: run.regions.iter().map(|region| region.sum_s(Activity::Computation) / whole_s).collect(),
            elapsed_s: run.times.elapsed_s,
        }
    }

    fn code(&self) -> impl Iterator<Item = (&CodeName, f64)> {
        self.names.iter().zip(&self.shares).filter_map(|(name, &share)| Some((name.as_ref()?, share)))
    }
}

/// The code of a function, or between certain calls, in the runs of one side.
#[derive(Clone, Debug, Default)]
struct CodeFacts {
    /// Names of the calls between which it lies, and its place among the code between such calls.
    calls: BTreeSet<(String, u32)>,
    /// Its computation, the largest share of a run's time.
    share: f64,
}

impl CodeFacts {
    fn is_like(&self, other: &CodeFacts) -> bool {
        let (less, more) = (self.share.min(other.share), self.share.max(other.share));
        self.calls == other.calls && more <= MAX_RATIO_OF_SAME_CODE * less
    }
}

impl ComparedNames {
    /// The code of `runs`, of which the first `n_base` are the base's, with the names that it has in them.
    pub fn new(runs: &[&RunMetrics], n_base: usize) -> ComparedNames {
        ComparedNames { runs: runs.iter().map(|run| ComparedCode::new(run)).collect(), n_base }
    }

    /// The name of each region of a run.
    pub fn of_run(&self, run: usize) -> &[Option<CodeName>] {
        self.runs.get(run).map_or(&[], |run| run.names.as_slice())
    }

    /// Makes the names of the same code the same. Returns sentences on what is not sure.
    pub fn unify(&mut self) -> Vec<String> {
        let mut remarks = self.unify_functions();
        remarks.extend(self.unify_moved_code());
        remarks.extend(self.merge_changed_functions());
        remarks
    }

    /// Gives functions of the new runs the names that they have in the base runs.
    fn unify_functions(&mut self) -> Vec<String> {
        let mut remarks = Vec::new();
        let [mut base, mut new] = self.one_sided(|code| code.function.clone());
        let mut renamed: Vec<(String, String)> = Vec::new();
        base.retain(|old, _| {
            let alike = new.keys().find(|found| plain_name(found) == plain_name(old)).cloned();
            renamed.extend(alike.iter().map(|found| (found.clone(), old.clone())));
            alike.and_then(|found| new.remove(&found)).is_none()
        });
        for (old, found) in only_pairs(&base, &new) {
            remarks.push(format!(
                "{} of the base runs is taken for {} of the new ones, in which code runs between the same calls ({} and {} of the time).",
                plain_name(&old),
                plain_name(&found),
                format_percent(base[&old].share),
                format_percent(new[&found].share),
            ));
            renamed.push((found, old));
        }
        for (found, old) in &renamed {
            for code in self.new_names() {
                if code.function == *found {
                    code.function.clone_from(old);
                }
                let (found, old) = (plain_name(found), plain_name(old));
                code.calls = map_calls(&code.calls, |name| if name == found { old } else { name }.to_owned());
            }
        }
        remarks
    }

    /// Gives code of the new runs that lies in another function than in the base runs the name of that function.
    fn unify_moved_code(&mut self) -> Vec<String> {
        let mut remarks = Vec::new();
        let [base, new] = self.one_sided(|code| (code.function.clone(), code.calls.clone()));
        for ((old, calls), (found, _)) in only_pairs(&base, &new) {
            for code in self.new_names().filter(|code| code.function == found && code.calls == calls) {
                code.function.clone_from(&old);
            }
            remarks.push(format!(
                "The code between {calls} in {} of the base runs is taken for the code in {} of the new ones.",
                plain_name(&old),
                plain_name(&found)
            ));
        }
        remarks
    }

    /// Makes one of all code of a function that lies between other calls in some runs.
    fn merge_changed_functions(&mut self) -> Vec<String> {
        let mut numbers: BTreeMap<(String, String), Vec<BTreeSet<u32>>> = BTreeMap::new();
        let mut shares: BTreeMap<String, [f64; 2]> = BTreeMap::new();
        let n_runs = self.runs.len();
        for (at, run) in self.runs.iter().enumerate() {
            for code in run.names.iter().flatten() {
                let of_runs = numbers.entry((code.function.clone(), code.calls.clone()));
                of_runs.or_insert_with(|| vec![BTreeSet::new(); n_runs])[at].insert(code.ordinal);
            }
        }
        let shifted = self.functions_with_shifted_work();
        // Calls that not all runs have alike, and whether only the base runs or only the new ones have them.
        let mut others: BTreeMap<String, Vec<(String, Option<bool>)>> = BTreeMap::new();
        for ((function, calls), of_runs) in &numbers {
            if of_runs.windows(2).any(|runs| matches!(runs, [one, next] if one != next)) {
                let (base, new) = of_runs.split_at(self.n_base);
                let [is_in_base, is_in_new] = [base, new].map(|runs| runs.iter().any(|numbers| !numbers.is_empty()));
                let only_new = (is_in_base != is_in_new).then_some(is_in_new);
                others.entry(function.clone()).or_default().push((calls.clone(), only_new));
            }
        }
        numbers.retain(|(function, calls), _| {
            let is_other = others.get(function).is_some_and(|others| is_among_or_beside(calls, others));
            !function.is_empty() && (is_other || shifted.contains(function))
        });
        for (at, run) in self.runs.iter_mut().enumerate() {
            let side = usize::from(at >= self.n_base);
            for (name, share) in run.names.iter_mut().zip(&run.shares) {
                let Some(code) = name else { continue };
                if numbers.contains_key(&(code.function.clone(), code.calls.clone())) {
                    shares.entry(code.function.clone()).or_default()[side] += share;
                    *code = CodeName { function: std::mem::take(&mut code.function), calls: String::new(), ordinal: 1 };
                }
            }
        }
        let changed =
            shares.into_iter().filter(|(_, shares)| shares.iter().all(|&share| share >= MIN_SHARE_OF_CHANGED_FUNCTION));
        let sentences = changed.map(|(function, _)| {
            let name = plain_name(&function);
            let what = if others.contains_key(&function) { "makes" } else { "computes between" };
            format!("{name} {what} other calls in some runs: its computation between its calls is compared as a whole.")
        });
        sentences.collect()
    }

    /// Returns the functions whose work moved past a call: most of what their code between calls changes by is not there in the sum.
    fn functions_with_shifted_work(&self) -> BTreeSet<String> {
        let mut changes: BTreeMap<(&str, &str, u32), f64> = BTreeMap::new();
        let [base, new] = [self.n_base, self.runs.len() - self.n_base].map(|n_runs| n_runs.max(1) as f64);
        for (at, run) in self.runs.iter().enumerate() {
            let weight = if at < self.n_base { -1.0 / base } else { 1.0 / new };
            for (code, share) in run.code() {
                let key = (code.function.as_str(), code.calls.as_str(), code.ordinal);
                *changes.entry(key).or_default() += weight * share * run.elapsed_s;
            }
        }
        let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for ((function, ..), change_s) in changes {
            let (all_s, sum_s) = sums.entry(function).or_default();
            (*all_s, *sum_s) = (*all_s + change_s.abs(), *sum_s + change_s);
        }
        let elapsed_s = self.runs.iter().map(|run| run.elapsed_s).fold(f64::INFINITY, f64::min);
        let shifted = sums.into_iter().filter(|&(_, (all_s, sum_s)): &(&str, (f64, f64))| {
            let cancelled_s = all_s - sum_s.abs();
            let is_most = cancelled_s > 0.0 && cancelled_s >= MIN_CANCELLED_DIFFERENCE * all_s;
            is_most && cancelled_s >= MIN_SHIFTED_WORK * elapsed_s
        });
        shifted.map(|(function, _)| function.to_owned()).filter(|function| !function.is_empty()).collect()
    }

    /// Returns the code that only runs of one side have, the base's and the new ones', by `key`.
    fn one_sided<K: Ord>(&self, key: impl Fn(&CodeName) -> K) -> [BTreeMap<K, CodeFacts>; 2] {
        let mut sides: [BTreeMap<K, CodeFacts>; 2] = Default::default();
        for (at, run) in self.runs.iter().enumerate() {
            let mut shares: BTreeMap<K, f64> = BTreeMap::new();
            let side = &mut sides[usize::from(at >= self.n_base)];
            for (code, share) in run.code().filter(|(code, _)| !code.function.is_empty()) {
                let facts = side.entry(key(code)).or_default();
                facts.calls.insert((code.calls.clone(), code.ordinal));
                *shares.entry(key(code)).or_default() += share;
            }
            for (key, share) in shares {
                let facts = side.entry(key).or_default();
                facts.share = facts.share.max(share);
            }
        }
        let [mut base, mut new] = sides;
        base.retain(|key, _| new.remove(key).is_none());
        [base, new]
    }

    fn new_names(&mut self) -> impl Iterator<Item = &mut CodeName> {
        self.runs.iter_mut().skip(self.n_base).flat_map(|run| run.names.iter_mut().flatten())
    }
}

/// Returns the name of code between calls of functions without their classes and template arguments.
fn with_plain_calls(code: &CodeName) -> CodeName {
    CodeName { calls: map_calls(&code.calls, |name| plain_name(name).to_owned()), ..code.clone() }
}

/// Returns what is alike on both sides, where nothing else is like either.
fn only_pairs<K: Ord + Clone>(base: &BTreeMap<K, CodeFacts>, new: &BTreeMap<K, CodeFacts>) -> Vec<(K, K)> {
    let mut pairs = Vec::new();
    for (old, facts) in base {
        let alike: Vec<&K> = new.iter().filter(|(_, other)| other.is_like(facts)).map(|(found, _)| found).collect();
        let [found] = alike.as_slice() else { continue };
        if base.values().filter(|other| other.is_like(&new[*found])).count() == 1 {
            pairs.push((old.clone(), (*found).clone()));
        }
    }
    pairs
}

/// Returns the last part of a function's path without its class, module and template arguments.
pub(in crate::compare) fn plain_name(function: &str) -> &str {
    let mut depth = 0_i32;
    let mut from = 0;
    let mut to = function.len();
    for (at, char) in function.char_indices() {
        match char {
            '<' => {
                to = if depth == 0 { at } else { to };
                depth += 1;
            }
            '>' => depth -= 1,
            '/' | ':' if depth == 0 => (from, to) = (at + 1, function.len()),
            _ => {}
        }
    }
    function.get(from..to).filter(|name| !name.is_empty()).unwrap_or(function)
}

/// Returns whether code lies between calls that it does not have in all runs, or if only one side has such code, next to it: an added call divides
/// code, of which one part keeps its name.
fn is_among_or_beside(calls: &str, others: &[(String, Option<bool>)]) -> bool {
    let is_one_sided = others.iter().all(|(_, only_new)| only_new.is_some() && *only_new == others[0].1);
    others.iter().any(|(other, _)| {
        let ends = calls.split_once(" → ").zip(other.split_once(" → "));
        let is_beside = ends.is_some_and(|(own, other)| own.1 == other.0 || own.0 == other.1);
        calls == other || (is_one_sided && is_beside)
    })
}

fn map_calls(calls: &str, change: impl Fn(&str) -> String) -> String {
    let ends = calls.split(" → ").map(|end| end.split(", ").map(&change).collect::<Vec<_>>().join(", "));
    ends.collect::<Vec<_>>().join(" → ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{RankFigures, RegionFigures};
    use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;

    /// A run of 10 s on one rank, with the computation of code: function, calls, ordinal.
    fn run(code: &[(&str, &str, u32, f64)]) -> RunMetrics {
        let regions = code.iter().map(|&(function, calls, ordinal, seconds)| RegionFigures {
            path: format!("main/{function}"),
            found: true,
            code: Some(CodeName { function: function.to_owned(), calls: calls.to_owned(), ordinal }),
            activities: [(Activity::Computation, vec![seconds])].into(),
            ..RegionFigures::default()
        });
        RunMetrics {
            times: EfficiencyTimes { elapsed_s: 10.0, ..EfficiencyTimes::default() },
            ranks: vec![RankFigures::default()],
            regions: regions.collect(),
            ..RunMetrics::default()
        }
    }

    /// The names in the base run and in the new one after they were made the same, and the sentences.
    fn unified(base: &RunMetrics, new: &RunMetrics) -> ([Vec<String>; 2], Vec<String>) {
        let mut names = ComparedNames::new(&[base, new], 1);
        let remarks = names.unify();
        ([0, 1].map(|run| names.of_run(run).iter().flatten().map(CodeName::to_string).collect()), remarks)
    }

    #[test]
    fn a_function_with_other_calls_is_compared_as_a_whole_and_others_by_their_calls() {
        let base = run(&[("relax", "Sendrecv → Allreduce", 1, 6.0), ("norm", "Allreduce → Sendrecv", 1, 2.0)]);
        let new = run(&[
            ("relax", "Sendrecv → Barrier", 1, 4.0),
            ("relax", "Barrier → Allreduce", 1, 2.0),
            ("norm", "Allreduce → Sendrecv", 1, 2.0),
        ]);
        let ([base, new], remarks) = unified(&base, &new);
        assert_eq!(base, ["relax", "norm (Allreduce → Sendrecv)"]);
        assert_eq!(new, ["relax", "relax", "norm (Allreduce → Sendrecv)"]);
        assert!(matches!(remarks.as_slice(), [one] if one.starts_with("relax makes other calls")), "{remarks:?}");
    }

    #[test]
    fn code_that_an_added_call_divides_is_compared_as_a_whole_though_a_part_keeps_its_name() {
        let swap = ("step", "swap → Allreduce", 1, 6.0);
        let base = run(&[swap, ("step", "Allreduce → swap", 1, 1.0), ("step", "Send → Recv", 1, 1.0)]);
        let mut code = vec![("step", "swap → Allreduce", 1, 5.0), ("step", "Allreduce → Allreduce", 1, 3.0)];
        code.extend([("step", "Allreduce → swap", 1, 1.0), ("step", "Send → Recv", 1, 1.0)]);
        let ([base, new], remarks) = unified(&base, &run(&code));
        assert_eq!(base, ["step", "step", "step (Send → Recv)"]);
        assert_eq!(new, ["step", "step", "step", "step (Send → Recv)"]);
        assert!(matches!(remarks.as_slice(), [one] if one.starts_with("step makes other calls")), "{remarks:?}");
    }

    #[test]
    fn code_between_such_calls_is_the_same_by_its_place_only_if_all_runs_have_as_much_of_it() {
        let base = run(&[("f", "Send → Wait", 1, 1.0), ("f", "Send → Wait", 2, 2.0)]);
        let ([names, _], remarks) = unified(&base, &base);
        assert_eq!((names, remarks.len()), (vec!["f (Send → Wait)".to_owned(), "f (Send → Wait) #2".to_owned()], 0));
        let more = run(&[("f", "Send → Wait", 1, 1.0), ("f", "Send → Wait", 2, 1.0), ("f", "Send → Wait", 3, 2.0)]);
        let ([names, _], remarks) = unified(&base, &more);
        assert_eq!((names, remarks.len()), (vec!["f".to_owned(); 2], 1));
    }

    #[test]
    fn work_that_moves_past_a_call_is_compared_with_the_code_on_its_other_side() {
        let run = |before_s, after_s| run(&[("f", "Send → Wait", 1, before_s), ("f", "Wait → Send", 1, after_s)]);
        let ([base, new], remarks) = unified(&run(6.0, 0.5), &run(0.5, 7.0));
        assert_eq!((base, new, remarks.len()), (vec!["f".to_owned(); 2], vec!["f".to_owned(); 2], 1));
        let ([base, _], remarks) = unified(&run(6.0, 0.5), &run(5.0, 0.6));
        assert_eq!((base.len(), remarks.len()), (2, 0), "{base:?}");
        assert!(base[0].contains("Send → Wait"), "less work before the call is not work after it");
    }

    #[test]
    fn a_renamed_function_is_found_by_its_calls_and_its_callers_follow() {
        let base = run(&[("relax", "Send → Wait", 1, 6.0), ("main", "relax → Allreduce", 1, 1.0)]);
        let new = run(&[("smooth", "Send → Wait", 1, 5.0), ("main", "smooth → Allreduce", 1, 1.0)]);
        let ([old, found], remarks) = unified(&base, &new);
        assert_eq!(old, found);
        assert!(matches!(remarks.as_slice(), [one] if one.contains("relax") && one.contains("smooth")), "{remarks:?}");
        // With two functions like it, or another share of the time, nothing is known.
        let two = run(&[("smooth", "Send → Wait", 1, 5.0), ("jacobi", "Send → Wait", 1, 5.0)]);
        let short = run(&[("smooth", "Send → Wait", 1, 0.1)]);
        for new in [two, short] {
            let ([_, found], remarks) = unified(&base, &new);
            assert!(!found.iter().any(|name| name.contains("relax")) && remarks.is_empty(), "{found:?} {remarks:?}");
        }
    }

    #[test]
    fn template_arguments_and_modules_make_no_other_function() {
        assert_eq!(plain_name("main/md::Verlet<float, std::less<int>>::run<double>"), "run");
        assert_eq!(plain_name("step"), "step");
        assert_eq!(plain_name("operator<"), "operator");
        let base = run(&[("__grid_MOD::step", "Send → Wait", 1, 6.0)]);
        let new = run(&[("mesh::step", "Barrier → Wait", 1, 60.0)]);
        let ([base, new], remarks) = unified(&base, &new);
        assert_eq!(
            (base, new, remarks.len()),
            (vec!["__grid_MOD::step".to_owned()], vec!["__grid_MOD::step".to_owned()], 1)
        );
    }

    #[test]
    fn inlined_code_is_found_in_the_function_that_calls_it() {
        let base = run(&[("relax", "Send → Wait", 1, 6.0), ("main", "Barrier → relax", 1, 1.0)]);
        let new = run(&[("main", "Send → Wait", 1, 6.5), ("main", "Barrier → Send", 1, 1.0)]);
        let ([base, new], remarks) = unified(&base, &new);
        assert_eq!((base[0].as_str(), new[0].as_str()), ("relax (Send → Wait)", "relax (Send → Wait)"));
        assert!(remarks.iter().any(|one| one.contains("Send → Wait in relax")), "{remarks:?}");
    }
}
