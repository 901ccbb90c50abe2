//! The call paths of a thread with more of them than can be compared one by one.
//!
//! A path is a sequence of words, and the address of each follows from the words before it. So paths whose words begin alike
//! share a branch of the tree, and where they differ they differ in one word at one address:
//!
//! ```text
//!   call at 0x4011 ── words a b c ── what is at address d? ──┬─ 1: words e f ── path 7
//!                                                            └─ 2: no words ─── path 8
//! ```
//!
//! A look-up reads each word of its path once, regardless of the number of paths, and reads no word that unwinding would not read.

use std::collections::HashMap;

use foldhash::fast::FixedState;

/// A call before a word of the stack is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathRoot {
    /// The return address of the call.
    pub caller: usize,
    /// The stack pointer at the call, mixed with how often something was unloaded.
    pub key: usize,
    /// The state that Python's interpreter keeps of the thread; 0: there is none.
    pub python_state: usize,
}

/// The owner of a word, which decides how it may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordOwner {
    /// The thread's own stack, above the stack pointer of the call: it is there as long as the call lasts.
    OwnStack,
    FramePointer,
    /// Memory that may no longer be there, for code without tables uses its frame pointer as it likes.
    OtherMemory,
    Python,
}

/// A word that is read to follow a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordPlace {
    pub address: usize,
    /// The bits of it that matter.
    pub mask: u64,
    pub owner: WordOwner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathWord {
    pub place: WordPlace,
    /// Its content, with the mask.
    pub value: u64,
}

/// The reason for which a path was not entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotEntered {
    /// The tree holds as many words as it may.
    Full,
    /// After the same words another path goes on with another word: one of them is not what it was.
    Contradiction,
}

/// Words that follow one another on all paths through this branch, and its end.
#[derive(Clone, Copy)]
struct PathBranch {
    /// Start in [`PathTree::words`].
    begin: u32,
    /// End in [`PathTree::words`].
    end: u32,
    then: BranchEnd,
}

#[derive(Clone, Copy)]
enum BranchEnd {
    Path(u64),
    /// The word after the last one, in [`PathTree::words`], decides.
    Fork(PathFork),
}

/// The branches that go on from a word, by its value.
#[derive(Clone, Copy)]
struct PathFork {
    id: u32,
    /// The first two: most forks have no more. Further ones are in [`PathTree::further`].
    first: [Option<(u64, u32)>; 2],
}

#[derive(Clone, Copy)]
enum BranchStem {
    Root(PathRoot),
    /// At the fork after this branch, where the word that decides has this value.
    Fork(u32, u64),
}

#[derive(Default)]
pub struct PathTree {
    /// Starts of the paths of a call.
    roots: HashMap<PathRoot, u32, FixedState>,
    branches: Vec<PathBranch>,
    words: Vec<PathWord>,
    forks: u32,
    /// The third and further branches of forks, by number and value of the word.
    further: HashMap<(u32, u64), u32, FixedState>,
}

impl PathTree {
    /// Returns the id of the path of a call, if it is in the tree. `read` returns a word, without the mask, or `None` where there is no memory.
    #[inline]
    pub fn find(&self, root: PathRoot, mut read: impl FnMut(WordPlace) -> Option<u64>) -> Option<u64> {
        let mut at = *self.roots.get(&root)?;
        loop {
            let branch = self.branches.get(at as usize)?;
            let (begin, end) = (branch.begin as usize, branch.end as usize);
            for word in self.words.get(begin..end)? {
                if read(word.place)? & word.place.mask != word.value {
                    return None;
                }
            }
            match branch.then {
                BranchEnd::Path(id) => return Some(id),
                BranchEnd::Fork(ref fork) => {
                    let place = self.words.get(end)?.place;
                    at = self.branch_after(fork, read(place)? & place.mask)?;
                }
            }
        }
    }

    /// Enters a path of these words. The tree holds `limit` words at most.
    pub fn enter(&mut self, root: PathRoot, words: &[PathWord], id: u64, limit: usize) -> Result<(), NotEntered> {
        // A branch without words takes memory, too.
        if self.words.len() + self.branches.len() + words.len() >= limit.min(u32::MAX as usize) {
            return Err(NotEntered::Full);
        }
        let (mut stem, mut left) = (BranchStem::Root(root), words);
        while let Some(at) = self.branch_at(stem) {
            let Some(&PathBranch { begin, end, then }) = self.branches.get(at as usize) else { break };
            let known = self.words.get(begin as usize..end as usize).unwrap_or_default();
            let common = known.iter().zip(left).take_while(|(known, word)| known == word).count();
            let is_whole = common == known.len();
            let rest = left.get(common..).unwrap_or_default();
            if let BranchEnd::Path(known) = then
                && is_whole
            {
                debug_assert!(!rest.is_empty() || known == id, "one path has one id");
                return if rest.is_empty() { Ok(()) } else { Err(NotEntered::Contradiction) };
            }
            let decisive = begin + common as u32;
            match (self.words.get(decisive as usize), rest.split_first()) {
                (Some(known), Some((word, after))) if word.place == known.place => {
                    if !is_whole {
                        self.split(at, decisive);
                    }
                    (stem, left) = (BranchStem::Fork(at, word.value), after);
                }
                _ => return Err(NotEntered::Contradiction),
            }
        }
        let begin = self.words.len() as u32;
        self.words.extend_from_slice(left);
        self.hang(stem, PathBranch { begin, end: self.words.len() as u32, then: BranchEnd::Path(id) });
        Ok(())
    }

    fn branch_at(&self, stem: BranchStem) -> Option<u32> {
        match stem {
            BranchStem::Root(root) => self.roots.get(&root).copied(),
            BranchStem::Fork(at, value) => match &self.branches.get(at as usize)?.then {
                BranchEnd::Fork(fork) => self.branch_after(fork, value),
                BranchEnd::Path(_) => None,
            },
        }
    }

    /// Returns the branch that goes on where the word that decides has this value.
    #[inline]
    fn branch_after(&self, fork: &PathFork, value: u64) -> Option<u32> {
        let found = fork.first.iter().flatten().find(|(known, _)| *known == value);
        found.map(|(_, branch)| *branch).or_else(|| self.further.get(&(fork.id, value)).copied())
    }

    fn hang(&mut self, stem: BranchStem, branch: PathBranch) {
        let new = self.branches.len() as u32;
        self.branches.push(branch);
        match stem {
            BranchStem::Root(root) => {
                self.roots.insert(root, new);
            }
            BranchStem::Fork(at, value) => {
                let then = self.branches.get_mut(at as usize).map(|branch| &mut branch.then);
                let Some(BranchEnd::Fork(fork)) = then else { return };
                match fork.first.iter_mut().find(|branch| branch.is_none()) {
                    Some(free) => *free = Some((value, new)),
                    None => {
                        self.further.insert((fork.id, value), new);
                    }
                }
            }
        }
    }

    /// Makes a fork of one of a branch's words. The words after it are a branch of their own from now on.
    fn split(&mut self, at: u32, decisive: u32) {
        let Some(&PathBranch { begin, end, then }) = self.branches.get(at as usize) else { return };
        let Some(value) = self.words.get(decisive as usize).map(|word| word.value) else { return };
        let after = self.branches.len() as u32;
        self.branches.push(PathBranch { begin: decisive + 1, end, then });
        if let Some(branch) = self.branches.get_mut(at as usize) {
            let fork = PathFork { id: self.forks, first: [Some((value, after)), None] };
            *branch = PathBranch { begin, end: decisive, then: BranchEnd::Fork(fork) };
        }
        self.forks += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: PathRoot = PathRoot { caller: 1, key: 2, python_state: 0 };

    /// The words of a path through a memory in which the address of each word follows from the values before it.
    fn words(values: &[u64]) -> Vec<PathWord> {
        let mut address = 100;
        let mut words = Vec::new();
        for &value in values {
            words.push(PathWord { place: WordPlace { address, mask: u64::MAX, owner: WordOwner::OwnStack }, value });
            address = address * 7 + value as usize + 1;
        }
        words
    }

    /// Reads what a path's words held.
    fn memory(words: &[PathWord]) -> impl Fn(WordPlace) -> Option<u64> {
        move |place| words.iter().find(|word| word.place == place).map(|word| word.value)
    }

    #[test]
    fn paths_that_begin_alike_differ_in_one_word() {
        let mut tree = PathTree::default();
        let paths = [words(&[1, 2, 3, 4]), words(&[1, 2, 5, 4]), words(&[1, 2, 3, 6]), words(&[9, 2, 3, 4])];
        for (id, path) in paths.iter().enumerate() {
            assert_eq!(tree.find(ROOT, memory(path)), None);
            assert_eq!(tree.enter(ROOT, path, id as u64, 1000), Ok(()));
        }
        for (id, path) in paths.iter().enumerate() {
            assert_eq!(tree.find(ROOT, memory(path)), Some(id as u64));
        }
        assert_eq!(tree.find(PathRoot { key: 3, ..ROOT }, memory(&paths[0])), None);
        assert_eq!(tree.find(ROOT, memory(&words(&[1, 2, 3, 7]))), None);
    }

    #[test]
    fn bits_outside_of_the_mask_do_not_matter() {
        let mut tree = PathTree::default();
        let place = WordPlace { address: 8, mask: 0xff, owner: WordOwner::Python };
        assert_eq!(tree.enter(ROOT, &[PathWord { place, value: 5 }], 3, 10), Ok(()));
        assert_eq!(tree.find(ROOT, |_| Some(0xab05)), Some(3));
        assert_eq!(tree.find(ROOT, |_| Some(0xab06)), None);
    }

    #[test]
    fn a_path_that_contradicts_another_one_is_not_entered() {
        let mut tree = PathTree::default();
        let path = words(&[1, 2, 3]);
        assert_eq!(tree.enter(ROOT, &path, 0, 1000), Ok(()));
        let mut elsewhere = path.clone();
        if let Some(word) = elsewhere.get_mut(1) {
            word.place.address += 8;
        }
        assert_eq!(tree.enter(ROOT, &elsewhere, 1, 1000), Err(NotEntered::Contradiction));
        assert_eq!(tree.enter(ROOT, &words(&[1, 2]), 1, 1000), Err(NotEntered::Contradiction));
        assert_eq!(tree.enter(ROOT, &words(&[1, 2, 3, 4]), 1, 1000), Err(NotEntered::Contradiction));
        assert_eq!(tree.find(ROOT, memory(&path)), Some(0));
    }

    #[test]
    fn a_full_tree_takes_no_more_paths() {
        let mut tree = PathTree::default();
        assert_eq!(tree.enter(ROOT, &words(&[1, 2, 3]), 0, 5), Ok(()));
        assert_eq!(tree.enter(ROOT, &words(&[1, 2, 4]), 1, 5), Err(NotEntered::Full));
    }

    /// Returns all rows of five values below 3.
    fn all_values() -> impl Iterator<Item = Vec<u64>> {
        (0..3u64.pow(5)).map(|number| (0..5).map(|digit| number / 3u64.pow(digit) % 3).collect())
    }

    #[test]
    fn each_path_entered_is_found_and_no_other() {
        for step in [2, 5, 7, 100] {
            let mut tree = PathTree::default();
            for (id, values) in all_values().enumerate().step_by(step) {
                assert_eq!(tree.enter(ROOT, &words(&values), id as u64, usize::MAX), Ok(()));
            }
            for (id, values) in all_values().enumerate() {
                let expected = id.is_multiple_of(step).then_some(id as u64);
                assert_eq!(tree.find(ROOT, memory(&words(&values))), expected, "every {step}th path, {values:?}");
            }
        }
    }
}
