//! Regions of several runs that are the same, by their names.
//!
//! First by path. Regions found in the calls are named by source lines, which move when the program is changed: of those whose paths
//! differ, the first of a run is the same as the first of another if they agree but for line numbers and offsets in a module, the second as the
//! second, and so on.

use std::collections::HashMap;

use crate::study::Run;

/// The regions of several runs.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    /// Path of each in the last run that has it.
    pub paths: Vec<String>,
    /// For each run, by path: which of these it is.
    of: Vec<HashMap<String, usize>>,
}

impl Regions {
    /// Those of `runs`.
    pub fn new<'a>(runs: impl Iterator<Item = &'a Run>) -> Regions {
        let mut regions = Regions::default();
        // By path, and of found ones by path without lines, the same in all runs.
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
        for run in runs {
            let mut own: HashMap<String, usize> = HashMap::new();
            let mut taken = vec![false; regions.paths.len()];
            for region in &run.regions {
                if let Some(&idx) = known.get(&region.path) {
                    own.insert(region.path.clone(), idx);
                    taken.get_mut(idx).into_iter().for_each(|taken| *taken = true);
                }
            }
            for region in run.regions.iter().filter(|region| !known.contains_key(&region.path)).collect::<Vec<_>>() {
                let bare = without_lines(&region.path);
                let same = alike.get(&bare).filter(|_| region.found);
                let same = same.and_then(|all| all.iter().find(|&&idx| taken.get(idx) == Some(&false)).copied());
                let idx = same.unwrap_or_else(|| {
                    regions.paths.push(region.path.clone());
                    taken.push(true);
                    if region.found {
                        alike.entry(bare).or_default().push(regions.paths.len() - 1);
                    }
                    regions.paths.len() - 1
                });
                if let (Some(taken), Some(path)) = (taken.get_mut(idx), regions.paths.get_mut(idx)) {
                    *taken = true;
                    path.clone_from(&region.path);
                }
                known.insert(region.path.clone(), idx);
                own.insert(region.path.clone(), idx);
            }
            regions.of.push(own);
        }
        regions
    }

    /// Which region a path of a run is.
    pub fn idx(&self, run: usize, path: &str) -> Option<usize> {
        self.of.get(run)?.get(path).copied()
    }

    /// Whether a run has a region.
    pub fn has(&self, run: usize, idx: usize) -> bool {
        self.of.get(run).is_some_and(|own| own.values().any(|&one| one == idx))
    }

    /// The path of a region in a run; `None` where the run has no such region.
    pub fn path_in(&self, run: usize, idx: usize) -> Option<&str> {
        self.of.get(run)?.iter().find_map(|(path, &one)| (one == idx).then_some(path.as_str()))
    }
}

/// A path without line numbers and offsets in modules: `solve (cg.c:120)` becomes `solve (cg.c:)`, `app+0x40` `app+0x`.
fn without_lines(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find([':', '+']) {
        let (before, after) = rest.split_at(at);
        let mark = if after.starts_with("+0x") { 3 } else { 1 };
        let (mark, tail) = after.split_at(mark);
        let digits = |char: char| if mark == "+0x" { char.is_ascii_hexdigit() } else { char.is_ascii_digit() };
        text.extend([before, mark]);
        rest = if mark == "+" { tail } else { tail.trim_start_matches(digits) };
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::run::RegionFigures;

    fn run(regions: &[(&str, bool)]) -> Run {
        let region = |&(path, found): &(&str, bool)| RegionFigures { path: path.into(), found, ..Default::default() };
        Run { regions: regions.iter().map(region).collect(), ..Run::default() }
    }

    #[test]
    fn lines_and_offsets_are_no_part_of_a_name() {
        assert_eq!(without_lines("main/solve (cg.c:120) → app+0x4f"), "main/solve (cg.c:) → app+0x");
        assert_eq!(without_lines("a::b+1/c:d"), "a::b+1/c:d");
    }

    #[test]
    fn regions_are_the_same_by_path_then_by_place_in_the_same_function() {
        let base =
            run(&[("main", false), ("main/f (a.c:10)", true), ("main/f (a.c:20)", true), ("main/step:1", false)]);
        let new = run(&[("main", false), ("main/f (a.c:12)", true), ("main/f (a.c:20)", true), ("main/step:2", false)]);
        let regions = Regions::new([&base, &new].into_iter());
        assert_eq!(regions.idx(0, "main/f (a.c:20)"), regions.idx(1, "main/f (a.c:20)"));
        assert_eq!(regions.idx(0, "main/f (a.c:10)"), regions.idx(1, "main/f (a.c:12)"), "a line moved");
        assert_ne!(regions.idx(0, "main/step:1"), regions.idx(1, "main/step:2"), "what is marked has the name it has");
        let of_both = regions.idx(0, "main/f (a.c:10)").unwrap();
        assert_eq!(regions.paths[of_both], "main/f (a.c:12)", "named as in the last run");
        assert_eq!((regions.path_in(0, of_both), regions.has(1, of_both)), (Some("main/f (a.c:10)"), true));
        assert!(!regions.has(1, regions.idx(0, "main/step:1").unwrap()));
    }
}
