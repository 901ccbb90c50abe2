//! The call paths that a thread has had so far.

use crate::state::path_tree::{PathRoot, PathTree};
use crate::unwind::python::Read;
use crate::unwind::{Rules, StackWord};

/// Places in a thread's table of paths.
pub const PLACES: usize = 512;

/// A path that was found by unwinding, and what shows that it is still the one: the words of the stack that it follows from.
pub struct KnownPath {
    /// The return address of the call.
    pub caller: usize,
    /// The stack pointer at the call, mixed with how often something was unloaded by then ([`crate::recording::call_path`]).
    pub key: usize,
    /// One past the last of the words.
    pub end: *const StackWord,
    /// The first one, in bytes from there.
    pub before: isize,
    /// The id of the path's call site in the log plus 1; 0: it has none.
    pub id: u64,
    /// Another path in the same place of the table.
    pub next: *const KnownPath,
    /// Where it is in [`CallPaths::known`].
    pub index: usize,
    /// The words.
    pub words: Vec<StackWord>,
    /// What shows that Python's functions are the same; `None`: there is no need.
    pub python: Option<Read>,
}

impl KnownPath {
    /// Returns a path without words, of no call, at `index` of [`CallPaths::known`].
    pub const fn empty(index: usize) -> Self {
        KnownPath {
            caller: 0,
            key: 0,
            end: std::ptr::null(),
            before: 0,
            id: 0,
            next: std::ptr::null(),
            index,
            words: Vec::new(),
            python: None,
        }
    }

    /// Makes the words those of the path `id` of a call, with what shows that Python's functions are the same.
    pub fn name(&mut self, root: PathRoot, id: u64, python: Option<Read>) {
        self.caller = root.caller;
        self.key = root.key;
        self.end = self.words.as_ptr_range().end;
        self.before = -(size_of_val(&self.words[..]) as isize);
        self.id = id;
        self.python = python;
    }
}

/// A value that nobody writes to.
pub struct Constant<T>(pub T);

// SAFETY: see above; what it points to is as constant.
unsafe impl<T> Sync for Constant<T> {}

/// The path of no call, for none returns to address 0. It is the last in each place of a table, so that there is always one to look at.
static OF_NO_CALL: Constant<KnownPath> = Constant(KnownPath::empty(usize::MAX));

/// The places of a table without paths.
pub static NO_PATHS: Constant<[*const KnownPath; PLACES]> = Constant([&raw const OF_NO_CALL.0; PLACES]);

/// A thread's paths: those compared at each call, and all of them in a tree.
pub struct CallPaths {
    /// The newest paths in each place, a few. [`crate::state::thread::Thread`] has its address.
    pub places: Box<[*const KnownPath]>,
    /// The paths in `places`.
    #[expect(clippy::vec_box, reason = "places point to them, so they must not move")]
    pub known: Vec<Box<KnownPath>>,
    /// All paths, also those with words that are not on the thread's own stack.
    pub tree: PathTree,
    /// How many paths were found in the tree.
    pub found_in_tree: u32,
    /// The words of a path that was found in the tree; its room is that of the longest one.
    pub found: Vec<StackWord>,
    /// How to unwind from the instructions met so far.
    pub rules: Rules,
    /// How often something was unloaded when `rules` and the paths were found.
    pub unloads: usize,
    /// Whether this is the process's first thread: a Python interpreter that ends there takes nothing away under its feet.
    pub is_first_thread: bool,
    /// The time spent on unwinding.
    pub effort: UnwindingEffort,
}

/// The time that a thread has spent on unwinding the paths that its tree holds.
#[derive(Clone, Copy, Debug)]
pub struct UnwindingEffort {
    /// Frames of a path at most.
    pub depth: usize,
    /// When the tree was last empty, in ticks.
    pub since: u64,
    /// Ticks in which paths were unwound and defined.
    pub ticks: u64,
    /// Frames of these paths.
    pub frames: usize,
    /// How many paths they were.
    pub paths: usize,
}

impl UnwindingEffort {
    /// None yet, for paths of `depth` frames at most.
    pub fn new(depth: usize, now: u64) -> Self {
        UnwindingEffort { depth, since: now, ticks: 0, frames: 0, paths: 0 }
    }

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
            places: NO_PATHS.0.into(),
            known: Vec::new(),
            tree: PathTree::default(),
            found_in_tree: 0,
            found: Vec::new(),
            rules: Rules::default(),
            unloads: 0,
            // SAFETY: plain queries.
            is_first_thread: unsafe { libc::gettid() == libc::getpid() },
            effort: UnwindingEffort::new(depth, now),
        }
    }

    /// Forgets all paths. Those to come have `depth` frames at most.
    pub fn forget(&mut self, depth: usize, now: u64) {
        self.places.copy_from_slice(&NO_PATHS.0);
        self.known.clear();
        self.tree = PathTree::default();
        self.effort = UnwindingEffort::new(depth, now);
    }
}
