//! The call paths that a thread has had so far.

use std::sync::atomic::{Ordering::Release, compiler_fence};

use crate::machine::unwind::python::ReadState;
use crate::machine::unwind::{RuleCache, StackWord};
use crate::state::path_tree::{PathRoot, PathTree};

/// Places of a way in a thread's table of paths: the paths of a program with few call sites share two pages.
pub const PLACES: usize = 128;

/// Paths that can share a place: a look-up in the tree takes as long as about ten.
pub const WAYS: usize = 8;

/// Returns the index in the table of a path at a place. The first ways of all places lie together, and so do the other ways of one place, all of which
/// may be looked at.
#[inline(always)]
pub fn index_of(place: usize, way: usize) -> usize {
    match way {
        0 => place,
        _ => PLACES + place * (WAYS - 1) + way - 1,
    }
}

/// Words of a path that lie in its line of the table.
const N_FIRST: usize = 2;

/// A path that was found by unwinding, and the words of the stack that it follows from. One cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct KnownPath {
    /// The return address of the call; 0: no path, for no call returns there.
    pub caller: usize,
    /// The stack pointer at the call, mixed with how often something was unloaded by then ([`crate::recording::call_path`]).
    pub key: usize,
    pub end: *const StackWord,
    /// The first of them, in bytes from there.
    pub before: i32,
    /// The id of the path's call site in the log plus 1; 0: it has none.
    pub id: u32,
    /// The first words. If there are fewer, a word that never changes is repeated.
    pub first: [StackWord; N_FIRST],
}
const _: () = assert!(size_of::<KnownPath>() == 64);

impl KnownPath {
    const NONE: KnownPath = KnownPath {
        caller: 0,
        key: 0,
        end: std::ptr::null(),
        before: 0,
        id: 0,
        first: [StackWord { address: 0, value: 0 }; N_FIRST],
    };
}

/// The details of a path that are not looked at on each call.
#[derive(Default)]
pub struct PathDetails {
    pub words: Vec<StackWord>,
    /// State that shows that Python's functions are the same, or `None` if there is no need.
    pub python: Option<ReadState>,
}

// SAFETY: threads share only the table without paths, which is never written to.
unsafe impl Sync for KnownPath {}

/// A table without paths. A way whose place is free is the last that is looked at.
pub static NO_PATHS: [KnownPath; PLACES] = [KnownPath::NONE; PLACES];

/// A thread's paths: those compared at each call, and all of them in a tree.
pub struct CallPaths {
    /// The paths compared at each call, by way and place. [`crate::state::thread::RecorderThread`] has its address. It never moves.
    known: Box<[KnownPath]>,
    /// Further details, by the same index.
    details: Vec<PathDetails>,
    /// The way of each place that is replaced next, counted from the second one: the first has the newest path.
    oldest: [u8; PLACES],
    /// The tree of all paths, also those with words that are not on the thread's own stack.
    pub tree: PathTree,
    pub found_in_tree: u32,
    /// The words of a path that was found in the tree, with room for the longest one.
    pub found: Vec<StackWord>,
    /// Rules for unwinding from the instructions met so far.
    pub rules: RuleCache,
    /// Count of unloads when `rules` and the paths were found.
    pub unloads: usize,
    /// True if this is the process's first thread: a Python interpreter that ends there takes nothing away under its feet.
    pub is_first_thread: bool,
    pub effort: UnwindingEffort,
}

/// The time that a thread has spent on unwinding the paths that its tree holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnwindingEffort {
    /// Frames of a path at most.
    pub depth: usize,
    /// Time at which the tree was last empty, in ticks.
    pub since: u64,
    /// Ticks in which paths were unwound and defined.
    pub ticks: u64,
    /// Frames of these paths.
    pub frames: usize,
    pub paths: usize,
}

impl UnwindingEffort {
    /// Returns the depth for the paths to come when the tree is full: half of the mean so far where unwinding has taken more than a twentieth of the
    /// time, since the program has ever new paths then, or more than the tree holds.
    pub fn next_depth(&self, now: u64) -> usize {
        const MAX_SHARE: u64 = 20;
        let is_too_much = self.ticks.saturating_mul(MAX_SHARE) > now.saturating_sub(self.since);
        if is_too_much { (self.frames / self.paths.max(1) / 2).clamp(1, self.depth) } else { self.depth }
    }
}

impl CallPaths {
    /// Returns a table without paths, for paths of `depth` frames at most.
    pub fn new(depth: usize, now: u64) -> Self {
        CallPaths {
            known: vec![KnownPath::NONE; WAYS * PLACES].into_boxed_slice(),
            details: Vec::new(),
            oldest: [0; PLACES],
            tree: PathTree::default(),
            found_in_tree: 0,
            found: Vec::new(),
            rules: RuleCache::default(),
            unloads: 0,
            // SAFETY: plain queries.
            is_first_thread: unsafe { libc::gettid() == libc::getpid() },
            effort: UnwindingEffort { depth, since: now, ..UnwindingEffort::default() },
        }
    }

    /// Returns the table of the paths compared at each call: [`WAYS`] times [`PLACES`] paths.
    pub fn first_known(&self) -> *const KnownPath {
        self.known.as_ptr()
    }

    /// Returns the state of Python's functions on the path at `index` of the table.
    pub fn python_state(&self, index: usize) -> Option<&ReadState> {
        self.details.get(index)?.python.as_ref()
    }

    /// Forgets all paths. Those to come have `depth` frames at most.
    pub fn forget(&mut self, depth: usize, now: u64) {
        self.known.fill(KnownPath::NONE);
        self.details.clear();
        self.oldest = [0; PLACES];
        self.tree = PathTree::default();
        self.effort = UnwindingEffort { depth, since: now, ..UnwindingEffort::default() };
    }

    /// Has a path compared at each call from now on, before the others that share `place`: a function that is called from another line now has the same
    /// return address and stack pointer. If there are [`WAYS`] of them, the oldest goes. `spare` is a word that does not change while the path's call is
    /// the current one.
    pub fn compare(&mut self, place: usize, root: PathRoot, id: u64, spare: StackWord, mut details: PathDetails) {
        let newest = self.known.get(place).filter(|path| path.caller != 0).copied();
        let other = newest.map_or(place, |_| self.next_index(place));
        if self.details.len() <= other {
            self.details.resize_with(other + 1, PathDetails::default);
        }
        if let Some(newest) = newest {
            self.details.swap(place, other);
            if let (Some(path), Some(kept)) = (self.known.get_mut(other), self.details.get_mut(other)) {
                path.caller = usize::MAX;
                put_different_first(&mut kept.words, &details.words);
                put_different_first(&mut details.words, &kept.words);
            }
            self.name(other, newest.caller, newest.key, u64::from(newest.id), spare);
            self.pass(place);
        }
        if let (Some(path), Some(kept)) = (self.known.get_mut(place), self.details.get_mut(place)) {
            path.caller = usize::MAX;
            *kept = details;
        }
        self.name(place, root.caller, root.key, id, spare);
    }

    /// Compares the words in `found` like [`CallPaths::compare`], without allocating, because a handler may leave from here by siglongjmp.
    /// Does nothing if a place is free or the path that is replaced has no room for the words.
    pub fn compare_found(&mut self, place: usize, root: PathRoot, id: u64, spare: StackWord) {
        let index = self.next_index(place);
        let Some(path) = self.known.get_mut(index).filter(|path| path.caller != 0) else { return };
        if let Some(newest) = self.details.get(place) {
            put_different_first(&mut self.found, &newest.words);
        }
        let Some(kept) = self.details.get_mut(index).filter(|kept| self.found.len() <= kept.words.capacity()) else {
            return;
        };
        // If a handler leaves this half done, no call matches it.
        path.caller = usize::MAX;
        compiler_fence(Release);
        kept.words.clear();
        kept.words.extend_from_slice(&self.found);
        kept.python = None;
        self.name(index, root.caller, root.key, id, spare);
        self.pass(place);
    }

    /// Returns the index to which a path moves when a newer one takes its place.
    fn next_index(&self, place: usize) -> usize {
        index_of(place, self.oldest.get(place).map_or(1, |&way| 1 + usize::from(way)))
    }

    /// Moves on to the next way.
    fn pass(&mut self, place: usize) {
        if let Some(oldest) = self.oldest.get_mut(place) {
            *oldest = (*oldest + 1) % (WAYS as u8 - 1);
        }
    }

    /// Has the path at `index` compare the words in its details, the first of which lie in its line.
    fn name(&mut self, index: usize, caller: usize, key: usize, id: u64, spare: StackWord) {
        let Some(words) = self.details.get(index).map(|details| &details.words[..]) else { return };
        let further = words.get(N_FIRST..).unwrap_or_default();
        let mut first = [spare; N_FIRST];
        for (first, word) in first.iter_mut().zip(words) {
            *first = *word;
        }
        let Some(path) = self.known.get_mut(index) else { return };
        path.key = key;
        path.end = further.as_ptr_range().end;
        path.before = -(size_of_val(further) as i32);
        path.id = u32::try_from(id).unwrap_or(0);
        path.first = first;
        compiler_fence(Release);
        path.caller = caller;
    }
}

/// Puts the first word that differs from one of `others` at the same address before the rest: it alone distinguishes a call by another path.
///
/// Words on the thread's own stack may be compared in any order.
fn put_different_first(words: &mut [StackWord], others: &[StackWord]) {
    let first = words
        .iter()
        .enumerate()
        .position(|(at, word)| word_at(word.address, at, others).is_some_and(|other| other.value != word.value));
    if let Some(until) = first.and_then(|first| words.get_mut(..=first)) {
        until.rotate_right(1);
    }
}

/// Returns the word with an address, which most often is at this index.
fn word_at(address: usize, index: usize, words: &[StackWord]) -> Option<&StackWord> {
    match words.get(index) {
        Some(word) if word.address == address => Some(word),
        _ => words.iter().find(|word| word.address == address),
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    const SPARE: StackWord = StackWord { address: 1, value: 1 };

    fn words(values: &[usize]) -> Vec<StackWord> {
        values.iter().enumerate().map(|(at, &value)| StackWord { address: 100 + 8 * at, value }).collect()
    }

    fn enter(paths: &mut CallPaths, id: u64, values: &[usize]) {
        let root = PathRoot { caller: 7, key: 64, python_state: 0 };
        paths.compare(3, root, id, SPARE, PathDetails { words: words(values), python: None });
    }

    fn compared(paths: &CallPaths, index: usize) -> Vec<StackWord> {
        let path = &paths.known[index];
        let further = (-path.before) as usize / size_of::<StackWord>();
        // SAFETY: the words lie in the details.
        let further = unsafe { std::slice::from_raw_parts(path.end.sub(further), further) };
        [&path.first[..], further].concat()
    }

    #[test]
    fn paths_that_share_a_place_are_compared_first_where_they_differ() {
        let mut paths = CallPaths::new(9, 0);
        enter(&mut paths, 1, &[10, 11, 12, 13]);
        enter(&mut paths, 2, &[10, 11, 22, 23]);
        let (first, second) = (index_of(3, 0), index_of(3, 1));
        assert_eq!((paths.known[first].id, paths.known[second].id), (2, 1));
        for (index, word, values) in [(first, 22, [10, 11, 22, 23]), (second, 12, [10, 11, 12, 13])] {
            let mut all = compared(&paths, index);
            assert_eq!(all[0], StackWord { address: 116, value: word });
            all.sort_by_key(|word| word.address);
            assert_eq!(all, words(&values), "each word of the path is compared");
        }
    }

    #[test]
    fn each_way_of_each_place_has_an_index_of_its_own() {
        let mut indices: Vec<usize> =
            (0..PLACES).flat_map(|place| (0..WAYS).map(move |way| index_of(place, way))).collect();
        indices.sort_unstable();
        assert!(indices.into_iter().eq(0..WAYS * PLACES));
    }
}
