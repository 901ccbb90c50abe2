//! Walks up the stack find what the C++ run-time's unwinder finds, and the words that they have read decide the path.

use std::arch::naked_asm;
use std::ffi::{c_int, c_void};
use std::hint::black_box;

use crate::machine::unwind::runtime::{_Unwind_Backtrace, _Unwind_GetIP, UnwinderContext};
use crate::machine::unwind::{self, EntryRegisters, PathEnd, RuleCache, StackPath, StackWord, walk_stack};

/// The addresses at which the frames' code continues, the innermost first.
fn runtime_frames() -> Vec<usize> {
    unsafe extern "C" fn step(context: *mut UnwinderContext, found: *mut c_void) -> c_int {
        // SAFETY: the unwinder passes its own context, and our pointer.
        unsafe { (*found.cast::<Vec<usize>>()).push(_Unwind_GetIP(context)) };
        0
    }
    let mut found: Vec<usize> = Vec::new();
    // SAFETY: the callback gets the vector that lives here.
    unsafe { _Unwind_Backtrace(step, (&raw mut found).cast()) };
    found
}

/// Both unwinders' callers of the function that called `here`.
struct BothUnwinders {
    own: StackPath,
    others: Vec<usize>,
}

/// As the library's entries: passes on the stack pointer, the frame pointer and the return address as the caller left them.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
extern "C" fn here(_: *mut Option<BothUnwinders>) {
    naked_asm!("mov rsi, rsp", "mov rdx, rbp", "mov rcx, [rsp]", "jmp {body}", body = sym body)
}

#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
extern "C" fn here(_: *mut Option<BothUnwinders>) {
    naked_asm!("mov x1, sp", "mov x2, x29", "mov x3, x30", "b {body}", body = sym body)
}

extern "C" fn body(both: *mut Option<BothUnwinders>, sp: usize, bp: usize, caller: usize) {
    let mut others = runtime_frames();
    let first = others.iter().position(|&ip| ip == caller).unwrap();
    others.drain(..first);
    let entry = EntryRegisters { caller, sp, bp: StackWord { address: &raw const bp as usize, value: bp } };
    let own =
        walk_stack(entry, usize::MAX, &mut RuleCache::default(), |address| Some(unsafe { *(address as *const usize) }));
    unsafe { *both = Some(BothUnwinders { own, others }) };
}

fn agree(both: &BothUnwinders) {
    let BothUnwinders { own, others } = both;
    assert_eq!(own.end, PathEnd::Outermost);
    assert!(own.callers.len() >= 2, "{own:?}");
    assert_eq!(own.callers, others[..own.callers.len()], "{own:?}");
    // What is left out is the C library's, around the thread's function: one frame or two.
    assert!(others.len() - own.callers.len() <= 4, "{} of {}", own.callers.len(), others.len());
}

#[inline(never)]
fn direct() -> BothUnwinders {
    let mut both = None;
    here(&raw mut both);
    black_box(both).unwrap()
}

#[inline(never)]
fn deep(levels: usize) -> BothUnwinders {
    let fill = black_box([levels; 5]);
    let both = if levels == 0 { direct() } else { deep(levels - 1) };
    black_box(fill);
    both
}

/// Its frame is aligned, so its tables find it by the frame pointer.
#[inline(never)]
fn aligned(levels: usize) -> BothUnwinders {
    #[repr(align(128))]
    struct Wide([u8; 256]);
    let wide = black_box(Wide([levels as u8; 256]));
    let both = if levels == 0 { direct() } else { aligned(levels - 1) };
    black_box(wide.0);
    both
}

#[test]
fn a_walk_finds_what_the_runtime_finds() {
    agree(&direct());
    for levels in [0, 1, 3, 40] {
        agree(&deep(levels));
        agree(&aligned(levels));
    }
    std::thread::scope(|scope| scope.spawn(|| agree(&aligned(deep(2).own.callers.len()))).join().unwrap());
}

#[test]
fn a_walk_in_a_handler_goes_through_the_interrupted_frame() {
    static mut FOUND: Option<BothUnwinders> = None;
    extern "C" fn handle(_: c_int) {
        unsafe { FOUND = Some(direct()) };
    }
    unsafe {
        libc::signal(libc::SIGUSR1, handle as extern "C" fn(c_int) as usize);
        libc::raise(libc::SIGUSR1);
        let both = (*(&raw const FOUND)).as_ref().unwrap();
        agree(both);
        // The handler, the system's frame that returns from it, and the C library's functions that raise the signal.
        assert!(both.own.callers.len() > 4, "{:x?}", both.own.callers);
    }
}

#[test]
fn a_path_that_is_too_deep_is_cut() {
    let both = deep(unwind::MAX_DEPTH + 10);
    assert_eq!((both.own.callers.len(), both.own.end), (unwind::MAX_DEPTH, PathEnd::Cut));
    assert_eq!(both.own.callers, both.others[..unwind::MAX_DEPTH]);
}

#[test]
fn code_without_tables_ends_a_path() {
    let mut rules = RuleCache::default();
    let stack = [0usize; 8];
    // An address that is no code at all.
    let entry = EntryRegisters { caller: 0x1000, sp: stack.as_ptr() as usize, bp: StackWord { address: 0, value: 0 } };
    let path = walk_stack(entry, usize::MAX, &mut rules, |_| None);
    assert_eq!((path.callers, path.words, path.end), (vec![0x1000], vec![], PathEnd::Cut));
}

#[test]
fn the_words_read_are_all_that_a_path_depends_on() {
    let both = aligned(3);
    // Every return address but the first was read.
    for caller in &both.own.callers[1..] {
        assert!(both.own.words.iter().any(|word| word.value == *caller), "{caller:x} of {:x?}", both.own.words);
    }
    // Of frames that are found by the frame pointer that too: as it was on entry, then where it was saved.
    assert!(both.own.words.len() > both.own.callers.len() + 3, "{:x?}", both.own.words);
    let mut addresses: Vec<_> = both.own.words.iter().map(|word| word.address).collect();
    addresses.sort_unstable();
    addresses.dedup();
    assert_eq!(addresses.len(), both.own.words.len(), "a word was read twice");
}
