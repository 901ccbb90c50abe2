//! The regions of several runs that are the same: marked ones by their paths, found ones by their code, whatever lines and loops they are in.

use std::collections::HashMap;

use super::code_names::{ComparedNames, plain_name};
use crate::RunMetrics;
use crate::run::RegionFigures;
use lbprof_analysis::model::CodeName;

#[derive(Clone, Debug, Default)]
pub struct RegionList {
    /// Path of each in the last run that has it; the path of the function for one that is compared as a whole.
    pub paths: Vec<String>,
    /// Sentences on code of which it is not sure that it is the same in all runs.
    pub remarks: Vec<String>,
    /// The name of each without lines; `None` for marked ones.
    codes: Vec<Option<CodeName>>,
    of: Vec<HashMap<String, usize>>,
    paths_of: Vec<HashMap<usize, Vec<String>>>,
    /// Number of base runs, which come first.
    n_base: usize,
}

impl RegionList {
    /// Collects the regions of `runs`, of which the first `n_base` are the base's.
    pub fn new(runs: &[&RunMetrics], n_base: usize) -> RegionList {
        let mut names = ComparedNames::new(runs, n_base);
        let mut regions = RegionList { remarks: names.unify(), n_base, ..RegionList::default() };
        // By code, or by the path of a marked region.
        let mut known: HashMap<(Option<CodeName>, &str), usize> = HashMap::new();
        for (at, run) in runs.iter().enumerate() {
            let (mut own, mut paths): (HashMap<String, usize>, HashMap<usize, Vec<String>>) = Default::default();
            for (region, code) in run.regions.iter().zip(names.of_run(at)) {
                let path = if code.is_none() { region.path.as_str() } else { "" };
                let idx = *known.entry((code.clone(), path)).or_insert(regions.paths.len());
                if idx == regions.paths.len() {
                    regions.paths.push(String::new());
                    regions.codes.push(code.clone());
                }
                regions.paths[idx] = shown_path(region, code.as_ref());
                own.insert(region.path.clone(), idx);
                paths.entry(idx).or_default().push(region.path.clone());
            }
            regions.of.push(own);
            regions.paths_of.push(paths);
        }
        regions
    }

    /// The index of the region that has this path in a run.
    pub fn idx(&self, run: usize, path: &str) -> Option<usize> {
        self.of.get(run)?.get(path).copied()
    }

    /// The paths of a region in a run; none where the run has no such region.
    pub fn paths_in(&self, run: usize, idx: usize) -> &[String] {
        self.paths_of.get(run).and_then(|paths| paths.get(&idx)).map_or(&[], Vec::as_slice)
    }

    /// Finds the region that a user names: by its path in a base run, else in a new one, by its name without lines, or by a function of which there is one region.
    pub fn find(&self, name: &str) -> Option<usize> {
        let mut of_runs = self.of.iter().take(self.n_base).chain(self.of.iter().skip(self.n_base));
        of_runs.find_map(|own| own.get(name).copied()).or_else(|| {
            let inner = name.strip_prefix("main/").unwrap_or(name);
            self.only_code(|code| code.to_string() == inner)
                .or_else(|| self.only_code(|code| code.function == inner))
                .or_else(|| self.only_code(|code| !code.function.is_empty() && plain_name(&code.function) == inner))
        })
    }

    fn only_code(&self, fits: impl Fn(&CodeName) -> bool) -> Option<usize> {
        let mut fitting = (0..).zip(&self.codes).filter(|(_, code)| code.as_ref().is_some_and(&fits));
        fitting.next().map(|(idx, _)| idx).filter(|_| fitting.next().is_none())
    }
}

/// The path of a region in reports: its own, or the function's for code that is compared as a whole.
fn shown_path(region: &RegionFigures, code: Option<&CodeName>) -> String {
    let is_whole =
        code.filter(|code| code.calls.is_empty() && region.code.as_ref().is_some_and(|own| !own.calls.is_empty()));
    is_whole.map_or_else(|| region.path.clone(), |code| format!("main/{}", code.function))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A region's path, and its code: function, calls and ordinal.
    type Named<'a> = (&'a str, Option<(&'a str, &'a str, u32)>);

    fn run(regions: &[Named]) -> RunMetrics {
        let region = |&(path, code): &Named| RegionFigures {
            path: path.into(),
            found: code.is_some(),
            code: code.map(|(function, calls, ordinal)| CodeName {
                function: function.to_owned(),
                calls: calls.to_owned(),
                ordinal,
            }),
            ..Default::default()
        };
        RunMetrics { regions: regions.iter().map(region).collect(), ..RunMetrics::default() }
    }

    #[test]
    fn regions_are_the_same_by_marks_or_code_whatever_lines_and_loops_they_are_in() {
        let (first, second) = (Some(("f", "Send → Wait", 1)), Some(("f", "Wait → Send", 1)));
        let base = run(&[
            ("main", None),
            ("main/f (a.c:10 → 20)", first),
            ("main/f (a.c:20 → 10)", second),
            ("main/step:1", None),
        ]);
        // Two lines were added at the top; a loop was found. The second has the lines that the first had.
        let new = run(&[
            ("main", None),
            ("main/loop/f (a.c:12 → 22)", first),
            ("main/loop/f (a.c:10 → 20)", second),
            ("main/step:2", None),
        ]);
        let regions = RegionList::new(&[&base, &new], 1);
        let of = |run, path| regions.idx(run, path).unwrap();
        assert_eq!(of(0, "main/f (a.c:10 → 20)"), of(1, "main/loop/f (a.c:12 → 22)"));
        assert_eq!(of(0, "main/f (a.c:20 → 10)"), of(1, "main/loop/f (a.c:10 → 20)"));
        assert_ne!(of(0, "main/step:1"), of(1, "main/step:2"), "what is marked has the name it has");
        assert_eq!(
            regions.paths[of(0, "main/f (a.c:20 → 10)")],
            "main/loop/f (a.c:10 → 20)",
            "shown as in the last run"
        );
        assert!(regions.paths_in(1, of(0, "main/step:1")).is_empty() && regions.remarks.is_empty());
    }

    #[test]
    fn a_region_is_found_by_its_path_in_the_base_and_by_names_without_lines() {
        let (first, second) = (Some(("f", "Send → Wait", 1)), Some(("g", "Wait → Send", 1)));
        let base = run(&[("main/f (a.c:10 → 20)", first), ("main/g (a.c:20 → 10)", second)]);
        let new = run(&[("main/f (a.c:12 → 22)", first), ("main/g (a.c:10 → 20)", second)]);
        let regions = RegionList::new(&[&base, &new], 1);
        let f = regions.idx(0, "main/f (a.c:10 → 20)");
        for name in ["main/f (a.c:10 → 20)", "main/f (a.c:12 → 22)", "f (Send → Wait)", "f", "main/f"] {
            assert_eq!(regions.find(name), f, "{name}");
        }
        assert_eq!(regions.find("h"), None);
    }
}
