//! Regions of several runs that are the same, by their names.
//!
//! First by path. Regions found in the calls are named by source lines, which move when the program is changed, and lie in loops, of which
//! one more or less may be found: of those whose paths differ, the first of a run is the same as the first of another if they agree but for
//! loops around them; of the rest if they also agree but for line numbers and offsets in a module; the second as the second, and so on.

use std::collections::HashMap;

use crate::RunMetrics;
use crate::run::RegionFigures;
use lbprof_report::words::separators;

/// The regions of several runs.
#[derive(Clone, Debug, Default)]
pub struct RegionList {
    /// Path of each in the last run that has it.
    pub paths: Vec<String>,
    /// For each run, by path: which of these it is.
    of: Vec<HashMap<String, usize>>,
    /// For each run: the paths of those of them that it has, several of one that is merged.
    paths_of: Vec<HashMap<usize, Vec<String>>>,
}

impl RegionList {
    /// Collects the regions of `runs`.
    pub fn new<'a>(runs: impl Iterator<Item = &'a RunMetrics>) -> RegionList {
        let mut regions = RegionList::default();
        // By path, and of found ones by what does not change with loops and lines, the same in all runs.
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
        for run in runs {
            let mut own: HashMap<String, usize> = HashMap::new();
            let mut taken = vec![false; regions.paths.len()];
            for region in &run.regions {
                if let Some(&idx) = known.get(&region.path) {
                    own.insert(region.path.clone(), idx);
                    if let Some(taken) = taken.get_mut(idx) {
                        *taken = true;
                    }
                }
            }
            let mut left: Vec<&RegionFigures> = run.regions.iter().filter(|one| !own.contains_key(&one.path)).collect();
            for key in [without_loops, without_loops_and_lines] {
                left.retain(|region| {
                    let same = alike.get(&key(&region.path)).filter(|_| region.found);
                    let Some(idx) =
                        same.and_then(|all| all.iter().find(|&&idx| taken.get(idx) == Some(&false)).copied())
                    else {
                        return true;
                    };
                    taken[idx] = true;
                    regions.paths[idx].clone_from(&region.path);
                    own.insert(region.path.clone(), idx);
                    false
                });
            }
            for region in left {
                own.insert(region.path.clone(), regions.paths.len());
                regions.paths.push(region.path.clone());
            }
            for region in run.regions.iter().filter(|region| region.found && !known.contains_key(&region.path)) {
                for key in [without_loops(&region.path), without_loops_and_lines(&region.path)] {
                    let same = alike.entry(key).or_default();
                    let idx = own[&region.path];
                    if !same.contains(&idx) {
                        same.push(idx);
                    }
                }
            }
            known.extend(own.iter().map(|(path, &idx)| (path.clone(), idx)));
            regions.paths_of.push(own.iter().map(|(path, &idx)| (idx, vec![path.clone()])).collect());
            regions.of.push(own);
        }
        regions
    }

    /// The index of the region that has this path in a run.
    pub fn idx(&self, run: usize, path: &str) -> Option<usize> {
        self.of.get(run)?.get(path).copied()
    }

    /// True if a run has a region.
    pub fn has(&self, run: usize, idx: usize) -> bool {
        !self.paths_in(run, idx).is_empty()
    }

    /// The paths of a region in a run; none where the run has no such region.
    pub fn paths_in(&self, run: usize, idx: usize) -> &[String] {
        self.paths_of.get(run).and_then(|paths| paths.get(&idx)).map_or(&[], Vec::as_slice)
    }

    /// Adds a region that `members` are parts of, under `path`; returns its index.
    pub fn add_merged(&mut self, path: String, members: &[usize]) -> usize {
        let merged = self.paths.len();
        self.paths.push(path);
        for paths in &mut self.paths_of {
            let of_run: Vec<String> =
                members.iter().filter_map(|member| paths.get(member)).flatten().cloned().collect();
            if !of_run.is_empty() {
                paths.insert(merged, of_run);
            }
        }
        merged
    }
}

/// A path without the loops around its last part: `main/loop/loop in f/g` becomes `main/g`.
pub(super) fn without_loops(path: &str) -> String {
    let mut kept = String::new();
    let mut from = 0;
    for at in separators(path) {
        let name = &path[from..at];
        if name != "loop" && !name.starts_with("loop ") {
            kept.extend([name, "/"]);
        }
        from = at + 1;
    }
    kept + &path[from..]
}

fn without_loops_and_lines(path: &str) -> String {
    without_lines(&without_loops(path))
}

/// A path without line numbers and offsets in modules: `solve (cg.c:120, 125 → 140)` becomes `solve (cg.c:,  → )`, `app+0x40` `app+0x`.
fn without_lines(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find([':', '+', ',', '→']) {
        let (before, after) = rest.split_at(at);
        let marks = ["+0x", ", ", "→ "].into_iter().find(|mark| after.starts_with(mark));
        let (mark, tail) = after.split_at(marks.map_or(after.chars().next().map_or(0, char::len_utf8), str::len));
        text.extend([before, mark]);
        rest = match mark {
            "+" => tail,
            "+0x" => tail.trim_start_matches(|char: char| char.is_ascii_hexdigit()),
            _ => tail.trim_start_matches(|char: char| char.is_ascii_digit()),
        };
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(regions: &[(&str, bool)]) -> RunMetrics {
        let region = |&(path, found): &(&str, bool)| RegionFigures { path: path.into(), found, ..Default::default() };
        RunMetrics { regions: regions.iter().map(region).collect(), ..RunMetrics::default() }
    }

    #[test]
    fn lines_and_offsets_are_no_part_of_a_name() {
        assert_eq!(without_lines("main/solve (cg.c:120) → app+0x4f"), "main/solve (cg.c:) → app+0x");
        assert_eq!(without_lines("main/solve (cg.c:120, 125 → 140)"), "main/solve (cg.c:,  → )");
        assert_eq!(without_lines("a::b+1/c:d"), "a::b+1/c:d");
    }

    #[test]
    fn loops_around_a_region_are_no_part_of_its_name() {
        assert_eq!(without_loops("main/loop/loop in f (a.c:3)/loop 2/f (a.c:3 → 9)"), "main/f (a.c:3 → 9)");
        assert_eq!(without_loops("main/loop"), "main/loop");
        assert_eq!(without_loops(r"main/a\/loop/loop/g"), r"main/a\/loop/g");
        let base =
            run(&[("main", false), ("main/loop", true), ("main/loop/f (a.c:3)", true), ("main/f (a.c:9)", true)]);
        let new = run(&[
            ("main", false),
            ("main/loop", true),
            ("main/loop/loop in f", true),
            ("main/loop/f (a.c:4)", true),
            ("main/loop/loop in f/f (a.c:3)", true),
        ]);
        let regions = RegionList::new([&base, &new].into_iter());
        assert_eq!(regions.idx(0, "main/loop/f (a.c:3)"), regions.idx(1, "main/loop/loop in f/f (a.c:3)"));
        assert_eq!(
            regions.idx(0, "main/f (a.c:9)"),
            regions.idx(1, "main/loop/f (a.c:4)"),
            "what is left by its function"
        );
        assert!(!regions.has(0, regions.idx(1, "main/loop/loop in f").unwrap()));
    }

    #[test]
    fn regions_are_the_same_by_path_then_by_place_in_the_same_function() {
        let base =
            run(&[("main", false), ("main/f (a.c:10)", true), ("main/f (a.c:20)", true), ("main/step:1", false)]);
        let new = run(&[("main", false), ("main/f (a.c:12)", true), ("main/f (a.c:20)", true), ("main/step:2", false)]);
        let regions = RegionList::new([&base, &new].into_iter());
        assert_eq!(regions.idx(0, "main/f (a.c:20)"), regions.idx(1, "main/f (a.c:20)"));
        assert_eq!(regions.idx(0, "main/f (a.c:10)"), regions.idx(1, "main/f (a.c:12)"), "a line moved");
        assert_ne!(regions.idx(0, "main/step:1"), regions.idx(1, "main/step:2"), "what is marked has the name it has");
        let of_both = regions.idx(0, "main/f (a.c:10)").unwrap();
        assert_eq!(regions.paths[of_both], "main/f (a.c:12)", "named as in the last run");
        assert_eq!(
            (regions.paths_in(0, of_both), regions.has(1, of_both)),
            (&["main/f (a.c:10)".to_owned()][..], true)
        );
        assert!(!regions.has(1, regions.idx(0, "main/step:1").unwrap()));
    }
}
