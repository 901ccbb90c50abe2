//! Lines of the source around those with most samples.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::code::functions::{FunctionRow, FunctionTable};

/// Lines before and after a sampled line.
const AROUND: u32 = 3;

/// Most lines of all files together, most characters of one, and most bytes of a file.
const MOST_LINES: usize = 2_000;
const MOST_CHARACTERS: usize = 200;
const MOST_BYTES: u64 = 8 << 20;

/// Endings of the names of source files: a log may name any file, and a page may be passed on.
const ENDINGS: &str = "c cc cpp cu cuh cxx f f03 f08 f77 f90 f95 for h hh hip hpp inl jl py rs";

/// Successive lines of a file.
#[derive(Debug, PartialEq, Serialize, crate::JsonSchema)]
pub(super) struct SourceExcerpt {
    /// The file, as in the rows of functions.
    file: String,
    /// Number of the first line.
    first: u32,
    /// The lines, at most 200 characters of each.
    lines: Vec<String>,
}

/// Returns the lines around sampled lines of the program's functions, most CPU time first, as far as their files are found here.
pub(super) fn source_excerpts(functions: &FunctionTable) -> Vec<SourceExcerpt> {
    let others = functions.other_threads.iter().flat_map(|threads| &threads.program.functions);
    let mut files: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    let mut n_lines = 0;
    for FunctionRow { name, lines, .. } in functions.program.functions.iter().chain(others) {
        let wanted = files.entry(name.file.as_deref().unwrap_or_default()).or_default();
        for around in lines.iter().map(|row| row.line.saturating_sub(AROUND).max(1)..=row.line.saturating_add(AROUND)) {
            n_lines += around.filter(|&line| n_lines < MOST_LINES && wanted.insert(line)).count();
        }
    }
    files.into_iter().flat_map(|(file, wanted)| excerpts_of_file(file, &wanted)).collect()
}

fn excerpts_of_file(file: &str, wanted: &BTreeSet<u32>) -> Vec<SourceExcerpt> {
    let mut excerpts: Vec<SourceExcerpt> = Vec::new();
    for (number, line) in (1..).zip(read_source(Path::new(file)).unwrap_or_default().lines()) {
        if wanted.contains(&number) {
            let line = line.chars().take(MOST_CHARACTERS).collect();
            match excerpts.last_mut() {
                Some(SourceExcerpt { first, lines, .. }) if *first + lines.len() as u32 == number => lines.push(line),
                _ => excerpts.push(SourceExcerpt { file: file.to_owned(), first: number, lines: vec![line] }),
            }
        }
    }
    excerpts
}

fn read_source(path: &Path) -> Option<String> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let facts = fs::metadata(path).ok()?;
    let is_source = ENDINGS.split(' ').any(|one| one == ending) && facts.is_file() && facts.len() <= MOST_BYTES;
    is_source.then(|| fs::read(path).ok()).flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_touch_are_one_excerpt_and_other_files_are_not_read() {
        let folder = std::env::temp_dir().join(format!("lbprof-source-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let text: String = (1..=20).map(|line| format!("line {line}\n")).collect();
        let [source, secret] = ["heat.c", "id_rsa"].map(|name| folder.join(name).to_string_lossy().into_owned());
        fs::write(&source, &text).unwrap();
        fs::write(&secret, &text).unwrap();
        let wanted = BTreeSet::from([2, 3, 9, 21]);
        let found = excerpts_of_file(&source, &wanted);
        let lines: Vec<(u32, usize, &str)> =
            found.iter().map(|one| (one.first, one.lines.len(), one.lines[0].as_str())).collect();
        assert_eq!(lines, [(2, 2, "line 2"), (9, 1, "line 9")]);
        assert_eq!(excerpts_of_file(&secret, &wanted), []);
        fs::remove_dir_all(&folder).unwrap();
    }
}
