//! The call path of each call.
//!
//! A thread keeps the paths that it has had, by return address and stack pointer. One is this call's if the words of the stack that it was found
//! from are unchanged: they are compared on every call, innermost first, so the path is right each time ([`crate::machine::unwind`]). The few of a place are
//! compared one by one, first by the word in which they differ; all of them are in a tree ([`crate::state::path_tree`]). If none is this call's, the
//! stack is unwound, and the log gets the path's definition before the ring's records that refer to it.
//!
//! A program may have ever new paths, or more than a tree holds. Where unwinding them would take a considerable part of its time, paths become
//! shorter: there are fewer then, and fewer frames to unwind ([`UnwindingEffort::next_depth`]).
//!
//! Unwinding the same words gives the same path until another library lies where one was. Before that the latter is unloaded:
//! [`outdate_paths`] makes all paths found until then unknown.
//!
//! Once a Python interpreter is initialised, the paths of the first thread have Python's functions, too. They are looked for apart from the others,
//! because the interpreter's state of the thread must be unchanged as well. Until then the stack alone decides: no function of the interpreter is on it.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use lbprof_collector::problem::ProblemKind;

use crate::harmless::signals::run_critical_section;
use crate::harmless::{enter, guard};
use crate::log::LOG;
use crate::machine::processor::fetch_early;
use crate::machine::system::clock::read_ticks;
use crate::machine::system::loader::own_code;
use crate::machine::system::{memory, stack};
use crate::machine::unwind::python::{self, PythonFailure, PythonInterpreter, ReadState};
use crate::machine::unwind::{self, EntryRegisters, PathEnd, StackPath, StackWord};
use crate::state::call_paths::{CallPaths, KnownPath, NO_PATHS, PLACES, PathDetails, UnwindingEffort, WAYS, index_of};
use crate::state::path_tree::{NotEntered, PathRoot, PathWord, WordOwner, WordPlace};
use crate::state::thread::RecorderThread;

/// A path's key is the stack pointer with these bits: in those that no address has, how often something was unloaded; all others where
/// paths are return addresses alone.
static KEY: AtomicUsize = AtomicUsize::new(UNLOAD - 1);
/// Frames of a path at most.
static DEPTH: AtomicUsize = AtomicUsize::new(1);

/// Addresses are less than this: a key counts above them.
const UNLOAD: usize = 1 << 47;

/// Number of paths found in the tree after which one is compared one by one from then on: a frequent one is soon among them.
const FOUND_BEFORE_COMPARED: u32 = 8;
/// Ways of a place, besides the first, whose lines come at the same time rather than one after the other.
const FETCHED_EARLY: usize = 3;

/// Words of a thread's tree, 32 bytes each.
const MAX_WORDS: usize = 1 << 17;

/// Sets the number of callers of a path besides the call site.
pub fn configure_paths(depth: usize) {
    KEY.store(if depth == 0 { UNLOAD - 1 } else { 0 }, Relaxed);
    DEPTH.store(depth.saturating_add(1), Relaxed);
}

/// Looks for a Python interpreter, if paths are wanted. Returns the version of one whose layout is not known.
pub fn look_for_python() -> Option<String> {
    if DEPTH.load(Relaxed) == 1 {
        return None;
    }
    python::look_for()
}

/// A shared object was unloaded. A thread's calls read the copy of the key in its state, which [`renew_key`] renews.
pub fn outdate_paths() {
    KEY.fetch_add(UNLOAD, SeqCst);
}

/// Makes all paths unknown that the thread, which may be another one, has found before the last [`outdate_paths`]. Only one thread at a time does this.
pub fn renew_key(thread: &RecorderThread) {
    // SAFETY: aligned words are written whole.
    unsafe { AtomicUsize::from_ptr(thread.path_key.as_ptr()) }.store(KEY.load(SeqCst), SeqCst);
}

/// Returns the call site of a record in a ring: the id of the call's path plus 1, or 0 if it has none.
///
/// # Safety
/// `thread` is the calling thread's state, with a table of paths, and has been entered by a stub of the wrappers.
#[inline(always)]
pub unsafe fn current_path(thread: &RecorderThread) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        let (caller, key) = entered_call(thread);
        let known = thread.known_paths.get().add(path_place(caller, key));
        if (*known).caller == caller && (*known).key == key && is_unchanged(&*known) {
            return u64::from((*known).id);
        }
        find_otherwise(thread)
    }
}

/// Returns the return address of the call being entered, and the key of its path.
#[inline(always)]
fn entered_call(thread: &RecorderThread) -> (usize, usize) {
    (thread.caller.get(), thread.sp.get() | thread.path_key.get())
}

/// Finds the path of a call that is not the first one of its place.
///
/// # Safety
/// As [`current_path`].
#[cold]
#[inline(never)]
unsafe fn find_otherwise(thread: &RecorderThread) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        let (caller, key) = entered_call(thread);
        let (table, place) = (thread.known_paths.get(), path_place(caller, key));
        if (*table.add(place)).caller == 0 {
            return learn_path(thread);
        }
        for way in 1..=FETCHED_EARLY {
            fetch_early(table.add(index_of(place, way)));
        }
        match find_at_place(table, place, 1, caller, key, |known, _| is_unchanged(known)) {
            Some(known) => u64::from(known.id),
            None => learn_path(thread),
        }
    }
}

/// Returns the path of this return address and key at a place of a table, from a way on, for which `is_as_it_was` holds; it also gets the path's index.
///
/// # Safety
/// A table, at least of one way that has no path; the key belongs to a call under way on this thread.
#[inline]
unsafe fn find_at_place<'a>(
    table: *const KnownPath,
    place: usize,
    first_way: usize,
    caller: usize,
    key: usize,
    mut is_as_it_was: impl FnMut(&KnownPath, usize) -> bool,
) -> Option<&'a KnownPath> {
    for index in (first_way..WAYS).map(|way| index_of(place, way)) {
        // SAFETY: the caller's promise: a way without a path is the last one.
        let known = unsafe { &*table.add(index) };
        if known.caller == caller && known.key == key && is_as_it_was(known, index) {
            return Some(known);
        }
        if known.caller == 0 {
            break;
        }
    }
    None
}

/// Returns the path like [`current_path`], for a thread that may have no table and may be anywhere in the recorder; 0 if it is not known.
pub fn current_or_none(thread: &RecorderThread) -> u64 {
    if thread.busy.get() != 0 || thread.sp.get() == 0 || thread.paths().is_none() {
        return 0;
    }
    // SAFETY: a call is being entered, and there is a table.
    unsafe { current_path(thread) }
}

/// Returns the place of a path in the table.
#[inline(always)]
fn path_place(caller: usize, key: usize) -> usize {
    // The lower halves alone: the upper ones seldom differ. One instruction puts them together.
    let hash = (caller as u32).wrapping_add((key as u32) << 3).wrapping_mul(0x9e37_79b1);
    (hash >> (u32::BITS - PLACES.ilog2())) as usize
}

/// Returns whether the words are as they were.
///
/// # Safety
/// They are on the calling thread's stack, or in its state ([`keep_path`]).
#[inline(always)]
unsafe fn is_unchanged(known: &KnownPath) -> bool {
    // SAFETY: the caller's promise: a stack is there from the stack pointer to its end, whatever the words hold.
    unsafe {
        for word in &known.first {
            if (word.address as *const usize).read() != word.value {
                return false;
            }
        }
        let (end, mut before) = (known.end, known.before as isize);
        while before != 0 {
            let word = end.byte_offset(before);
            if ((*word).address as *const usize).read() != (*word).value {
                return false;
            }
            before += size_of::<StackWord>() as isize;
        }
    }
    true
}

/// Unwinds the stack of the call being entered. A handler that comes meanwhile interrupts a call, so what it calls is not recorded.
///
/// Here and below, a call is being entered on the thread, and `paths` is the thread's table.
#[cold]
#[inline(never)]
fn learn_path(thread: &RecorderThread) -> u64 {
    let mut id = 0;
    let Some(paths) = thread.paths() else { return 0 };
    if let Some(known) = find_apart(thread, paths) {
        return known;
    }
    enter::run_critical(|| id = unwind_path(thread, paths));
    id
}

/// Returns the path of the call being entered, if it is one that [`current_path`] does not look at.
fn find_apart(thread: &RecorderThread, paths: &mut CallPaths) -> Option<u64> {
    match find_with_python(thread, paths) {
        Some(known) => Some(u64::from(known.id)),
        None => find_in_tree(thread, paths),
    }
}

/// Returns the root of the paths of the call being entered.
fn root_of_call(thread: &RecorderThread, paths: &CallPaths) -> PathRoot {
    let python_state = interpreter_of(paths).map_or(0, PythonInterpreter::thread_state);
    let (caller, key) = entered_call(thread);
    PathRoot { caller, key, python_state }
}

/// Returns the path of the call being entered, if the tree has it. Some of these are compared among the first ones from then on.
fn find_in_tree(thread: &RecorderThread, paths: &mut CallPaths) -> Option<u64> {
    let (root, bp) = (root_of_call(thread, paths), thread.bp.get());
    let mut other_memory = memory::MemoryReader::default();
    // SAFETY: the words belong to a path of this root, and were entered with their owners.
    let id = paths.tree.find(root, |place| unsafe { read_word(place, bp, &mut other_memory) })?;
    // If there are more paths than can be compared one by one, copying each would take as long as finding it.
    paths.found_in_tree = paths.found_in_tree.wrapping_add(1);
    if root.python_state == 0 && paths.found_in_tree.is_multiple_of(FOUND_BEFORE_COMPARED) {
        compare_from_now_on(thread, paths, root, id);
    }
    Some(id)
}

/// Reads a word that a path follows from, or returns `None` if it is no longer there.
///
/// # Safety
/// The word is one of a path with the stack pointer and the frame pointer `bp` of the call under way, or of Python's interpreter on its own thread, and
/// those before it are as they were.
#[inline(always)]
unsafe fn read_word(place: WordPlace, bp: usize, other_memory: &mut memory::MemoryReader) -> Option<u64> {
    match place.owner {
        // SAFETY: a stack is there from the stack pointer to its end.
        WordOwner::OwnStack => Some(unsafe { (place.address as *const usize).read_volatile() } as u64),
        WordOwner::FramePointer => Some(bp as u64),
        WordOwner::OtherMemory => other_memory.word(place.address).map(|word| word as u64),
        // SAFETY: the caller's promise.
        WordOwner::Python => Some(unsafe { (place.address as *const u64).read_unaligned() }),
    }
}

/// Puts a path of the tree in place of the oldest one that shares its place, if all of its words may be compared without checking that
/// they are there. Allocates nothing, because a handler may leave from here by siglongjmp: then that one path is compared no more.
fn compare_from_now_on(thread: &RecorderThread, paths: &mut CallPaths, root: PathRoot, id: u64) {
    let bp = thread.bp.get();
    let CallPaths { tree, found, .. } = &mut *paths;
    found.clear();
    let mut other_memory = memory::MemoryReader::default();
    let is_whole = tree.find(root, |place| {
        let is_comparable = matches!(place.owner, WordOwner::OwnStack | WordOwner::FramePointer);
        if !is_comparable || found.len() == found.capacity() {
            return None;
        }
        // SAFETY: as in `find_in_tree`.
        let value = unsafe { read_word(place, bp, &mut other_memory) }?;
        found.push(StackWord { address: place.address, value: value as usize });
        Some(value)
    });
    if is_whole == Some(id) {
        paths.compare_found(path_place(root.caller, root.key), root, id, spare_word(thread));
    }
}

/// Returns a word that does not change while the call being entered is the current one: its return address in the thread's state.
fn spare_word(thread: &RecorderThread) -> StackWord {
    StackWord { address: thread.caller.as_ptr() as usize, value: thread.caller.get() }
}

/// Returns the path of the call under way on the first thread of a process with a Python interpreter, or `None` if it is not known, or there is none.
#[inline]
fn find_with_python<'a>(thread: &RecorderThread, paths: &'a CallPaths) -> Option<&'a KnownPath> {
    let python = interpreter_of(paths).filter(|python| python.is_initialized())?;
    let state = python.thread_state();
    let (caller, key) = entered_call(thread);
    // SAFETY: this is the first thread; known paths live as long as they are in the table.
    unsafe {
        let place = python_place(python, caller, key, state);
        find_at_place(paths.first_known(), place, 0, caller, key, |known, index| {
            is_unchanged(known) && paths.python_state(index).is_none_or(|read| read.state == state && read.holds())
        })
    }
}

/// Returns the place in the table of a path in a process with a Python interpreter: helpers that call MPI differ by the instruction.
///
/// # Safety
/// The state of the calling thread, which is the process's first, or 0.
#[inline]
unsafe fn python_place(python: &PythonInterpreter, caller: usize, key: usize, state: usize) -> usize {
    // SAFETY: the caller's promise.
    let instruction = unsafe { python.instruction(state) };
    path_place(caller ^ instruction >> 1, key)
}

fn unwind_path(thread: &RecorderThread, paths: &mut CallPaths) -> u64 {
    let started = read_ticks();
    let unloads = KEY.load(Relaxed);
    if paths.unloads != unloads {
        paths.forget(DEPTH.load(Relaxed), started);
        paths.rules = unwind::RuleCache::default();
        paths.unloads = unloads;
    }
    let (caller, sp) = (thread.caller.get(), thread.sp.get());
    let bp = StackWord { address: thread.bp.as_ptr() as usize, value: thread.bp.get() };
    let mut stack = memory::MemoryReader::with(stack::in_use(sp));
    let depth = paths.effort.depth;
    let path = unwind::walk_stack(EntryRegisters { caller, sp, bp }, depth, &mut paths.rules, |at| stack.word(at));
    let path = path.without_code(own_code::own_code_bounds());
    if interpreter_of(paths).is_some_and(PythonInterpreter::is_initialized) {
        thread.known_paths.set(NO_PATHS.as_ptr());
    }
    let (runs, python) = python_of(&path, paths);
    let interpreter = interpreter_of(paths).map(PythonInterpreter::code_bounds).unwrap_or_default();
    let mut calls = path.with(runs, &interpreter);
    let depth = depth.min(unwind::MAX_DEPTH);
    let is_cut = path.end == PathEnd::Cut || calls.len() > depth;
    calls.truncate(depth);
    let Some(id) = LOG.with(|log| log.call_path(&calls, is_cut)).flatten() else { return 0 };
    let id = u64::from(id) + 1;
    if let Ok(python) = python {
        keep_path(thread, paths, &path, python, id);
    }
    let effort = &mut paths.effort;
    effort.ticks += read_ticks().saturating_sub(started);
    effort.paths += 1;
    effort.frames += calls.len();
    id
}

/// Returns the Python interpreter, if this thread's paths have its functions.
fn interpreter_of(paths: &CallPaths) -> Option<&'static PythonInterpreter> {
    python::python_interpreter().filter(|_| paths.is_first_thread)
}

/// Returns Python's functions on a path, and the state that shows that they are the same; an error: it cannot be shown.
fn python_of(
    path: &StackPath,
    paths: &CallPaths,
) -> (Vec<python::EvalLoopFrames>, Result<Option<ReadState>, PythonFailure>) {
    // A signal may have interrupted the interpreter while it changed what it knows of its frames.
    let python = interpreter_of(paths).filter(|_| !path.interrupted);
    let Some(python) = python else { return (Vec::new(), Ok(None)) };
    match python.frames(python.thread_state(), paths.effort.depth) {
        Ok((runs, read)) => (runs, Ok(Some(read))),
        Err(PythonFailure::Unreadable) => (Vec::new(), Err(PythonFailure::Unreadable)),
        Err(PythonFailure::Unexpected) => {
            python::give_up();
            guard::count_problem(ProblemKind::PythonUnknown, 1);
            (Vec::new(), Ok(None))
        }
    }
}

/// Enters a path into the thread's table.
fn keep_path(thread: &RecorderThread, paths: &mut CallPaths, path: &StackPath, python: Option<ReadState>, id: u64) {
    let (mut root, sp) = (root_of_call(thread, paths), thread.sp.get());
    root.key = sp | paths.unloads;
    // A path may follow from words that are on no stack: code without tables may use the frame pointer for anything. So a word is compared
    // without checking that it is there only if it is on this thread's own stack.
    let own = memory::MemoryReader::with(stack::in_use(sp));
    let bp_address = thread.bp.as_ptr() as usize;
    let on_stack = path.words.iter().map(|word| {
        let owner = match word.address {
            address if address == bp_address => WordOwner::FramePointer,
            address if own.is_known(address) => WordOwner::OwnStack,
            _ => WordOwner::OtherMemory,
        };
        PathWord { place: WordPlace { address: word.address, mask: u64::MAX, owner }, value: word.value as u64 }
    });
    let of_python = python.iter().flat_map(|read| &read.words).map(|word| {
        let place = WordPlace { address: word.address, mask: word.mask, owner: WordOwner::Python };
        PathWord { place, value: word.value }
    });
    let words: Vec<PathWord> = on_stack.chain(of_python).collect();
    match paths.tree.enter(root, &words, id, MAX_WORDS) {
        Ok(()) => {}
        Err(NotEntered::Full) => {
            let now = read_ticks();
            let depth = paths.effort.next_depth(now);
            guard::count_problem(ProblemKind::PathsShortened, u64::from(depth < paths.effort.depth));
            return paths.forget(depth, now);
        }
        Err(NotEntered::Contradiction) => {
            // One of them was unwound while another thread wrote to what it follows from.
            let UnwindingEffort { depth, since, .. } = paths.effort;
            return paths.forget(depth, since);
        }
    }
    if words.iter().all(|word| word.place.owner != WordOwner::OtherMemory) {
        compare_newest(paths, root, &path.words, spare_word(thread), python, id);
    }
}

/// Puts a path among the ones that share its place, and in place of the oldest one if they are many.
fn compare_newest(
    paths: &mut CallPaths,
    root: PathRoot,
    words: &[StackWord],
    spare: StackWord,
    python: Option<ReadState>,
    id: u64,
) {
    let at = match interpreter_of(paths) {
        None => path_place(root.caller, root.key),
        // SAFETY: this is the first thread.
        Some(interpreter) => unsafe { python_place(interpreter, root.caller, root.key, root.python_state) },
    };
    paths.found.clear();
    paths.found.reserve(words.len());
    // Room for another one that takes this one's place.
    let mut own = Vec::with_capacity(words.len().next_multiple_of(16));
    own.extend_from_slice(words);
    paths.compare(at, root, id, spare, PathDetails { words: own, python });
}

/// Gives the thread a table of paths.
pub fn attach_paths(thread: &RecorderThread) {
    renew_key(thread);
    if thread.paths().is_none() {
        let paths = Box::new(CallPaths::new(DEPTH.load(Relaxed), read_ticks()));
        // If Python is used they are looked for apart.
        let is_apart = interpreter_of(&paths).is_some_and(PythonInterpreter::is_initialized);
        thread.known_paths.set(if is_apart { NO_PATHS.as_ptr() } else { paths.first_known() });
        thread.paths.set(Box::into_raw(paths));
    }
}

/// Frees the thread's table when the thread ends.
pub fn free_paths(thread: &RecorderThread) {
    let paths = thread.paths.replace(std::ptr::null_mut());
    thread.known_paths.set(std::ptr::null());
    if !paths.is_null() {
        // SAFETY: the thread's own table, made by `attach_paths`.
        enter::enter_quietly(|| run_critical_section(|| drop(unsafe { Box::from_raw(paths) })));
    }
}
