//! The call paths that a thread has had so far.

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
    /// The words.
    pub words: Vec<StackWord>,
    /// What shows that Python's functions are the same; `None`: there is no need.
    pub python: Option<Read>,
}

/// What nobody writes to.
pub struct Constant<T>(pub T);

// SAFETY: see above; what it points to is as constant.
unsafe impl<T> Sync for Constant<T> {}

/// The path of no call, for none returns to address 0. It is the last in each place of a table, so that there is always one to look at.
static OF_NO_CALL: Constant<KnownPath> = Constant(KnownPath {
    caller: 0,
    key: 0,
    end: std::ptr::null(),
    before: 0,
    id: 0,
    next: std::ptr::null(),
    words: Vec::new(),
    python: None,
});

/// The places of a table without paths.
pub static NO_PATHS: Constant<[*const KnownPath; PLACES]> = Constant([&raw const OF_NO_CALL.0; PLACES]);

/// A thread's table of paths.
pub struct CallPaths {
    /// The newest path in each place. [`crate::state::thread::Thread`] has its address.
    pub places: Box<[*const KnownPath]>,
    /// The same of paths with words that are not on the thread's own stack; empty: there are none.
    pub elsewhere: Vec<*const KnownPath>,
    /// The paths in the table.
    #[expect(clippy::vec_box, reason = "places point to them, so they must not move")]
    pub known: Vec<Box<KnownPath>>,
    /// How to unwind from the instructions met so far.
    pub rules: Rules,
    /// How often something was unloaded when `rules` and `known` were found.
    pub unloads: usize,
    /// Whether this is the process's first thread: a Python interpreter that ends there takes nothing away under its feet.
    pub is_first_thread: bool,
    /// Words of Python's in `known`.
    pub python_words: usize,
}

impl CallPaths {
    /// None yet.
    pub fn new() -> Self {
        CallPaths {
            places: NO_PATHS.0.into(),
            elsewhere: Vec::new(),
            known: Vec::new(),
            rules: Rules::default(),
            unloads: 0,
            // SAFETY: plain queries.
            is_first_thread: unsafe { libc::gettid() == libc::getpid() },
            python_words: 0,
        }
    }
}
