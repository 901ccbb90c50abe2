//! The run-time libraries of the process that report what their threads do ([`crate::sources::openmp::ompt`]).

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use crate::machine::system::loader::objects;

/// `ompt_start_tool_result_t`: what the answer to a library points to.
#[repr(C)]
pub struct ToolResult {
    initialize: ToolInitializer,
    finalize: ToolFinalizer,
    /// The library passes its address to both functions.
    data: AtomicUsize,
}

struct OpenMpLibrary {
    is_taken: AtomicBool,
    /// `ompt_set_callback`; 0: it has not taken the answer, or has ended.
    set_callback: AtomicUsize,
    is_registered: AtomicBool,
    /// Its first address, and one past its last.
    begin: AtomicUsize,
    end: AtomicUsize,
    result: AtomicUsize,
}

/// `ompt_initialize_t`; its first argument looks up a function of the library by name.
pub type ToolInitializer =
    unsafe extern "C" fn(unsafe extern "C" fn(*const c_char) -> *mut c_void, c_int, *mut u64) -> c_int;
/// `ompt_finalize_t`.
pub type ToolFinalizer = unsafe extern "C" fn(*mut u64);

/// Libraries at most; others are not answered.
const MAX_LIBRARIES: usize = 8;

static LIBRARIES: [OpenMpLibrary; MAX_LIBRARIES] = [const {
    OpenMpLibrary {
        is_taken: AtomicBool::new(false),
        set_callback: AtomicUsize::new(0),
        is_registered: AtomicBool::new(false),
        begin: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        result: AtomicUsize::new(0),
    }
}; MAX_LIBRARIES];

/// Number of the table's first places that have callbacks registered or had them.
static REGISTERED: AtomicUsize = AtomicUsize::new(0);

impl OpenMpLibrary {
    fn contains(&self, address: usize) -> bool {
        (self.begin.load(Relaxed)..self.end.load(Relaxed)).contains(&address)
    }

    fn of_data(data: *mut u64) -> Option<&'static OpenMpLibrary> {
        LIBRARIES.iter().find(|library| {
            let result = library.result.load(Acquire) as *const ToolResult;
            // SAFETY: null, or an answer, which is never freed.
            unsafe { result.as_ref() }.is_some_and(|result| std::ptr::eq(result.data.as_ptr().cast(), data))
        })
    }
}

/// Returns an answer for one more library, or null if there are too many.
pub fn add_openmp_library(initialize: ToolInitializer, finalize: ToolFinalizer) -> *const ToolResult {
    let free = LIBRARIES.iter().find(|library| !library.is_taken.swap(true, AcqRel));
    let Some(library) = free else { return std::ptr::null() };
    // Answers are never freed: a library may look at its own as long as it is loaded.
    let result = Box::leak(Box::new(ToolResult { initialize, finalize, data: AtomicUsize::new(0) }));
    library.result.store(std::ptr::from_ref(result) as usize, Release);
    result
}

/// Keeps the function by which the library with these data registers callbacks. Returns whether it is known.
pub fn keep_set_callback(data: *mut u64, set_callback: usize) -> bool {
    let Some(library) = OpenMpLibrary::of_data(data) else { return false };
    library.set_callback.store(set_callback, Release);
    true
}

/// Forgets the library with these data.
pub fn remove_openmp_library(data: *mut u64) {
    if let Some(library) = OpenMpLibrary::of_data(data) {
        library.set_callback.store(0, Release);
        library.begin.store(0, Relaxed);
        library.end.store(0, Relaxed);
        library.is_registered.store(false, Relaxed);
        library.result.store(0, Relaxed);
        library.is_taken.store(false, Release);
    }
}

/// Calls `register` with the `ompt_set_callback` of each library that has no callbacks yet.
pub fn take_unregistered(register: impl Fn(usize)) {
    for (place, library) in LIBRARIES.iter().enumerate() {
        let function = library.set_callback.load(Acquire);
        if function == 0 || library.is_registered.swap(true, AcqRel) {
            continue;
        }
        let bounds = objects::bounds_at(function);
        library.begin.store(bounds.start, Relaxed);
        library.end.store(bounds.end, Relaxed);
        REGISTERED.fetch_max(place + 1, Release);
        register(function);
    }
}

/// Returns whether a function is one of a library that reports what it does by itself.
#[inline(always)]
pub fn is_owned(function: usize) -> bool {
    match REGISTERED.load(Relaxed) {
        0 => false,
        n => LIBRARIES.iter().take(n).any(|library| library.contains(function)),
    }
}

pub fn library_path() -> Option<String> {
    let function =
        LIBRARIES.iter().map(|library| library.set_callback.load(Relaxed)).find(|&function| function != 0)?;
    objects::look_at(function, |object| object.path().to_string_lossy().into_owned())
}
