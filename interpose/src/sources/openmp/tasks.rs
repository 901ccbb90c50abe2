//! Tasks: a thread may run them while it waits, which is work.
//!
//! The run-time library copies a task's arguments when it is made, by a function of the compiler's if there is one. Our function puts a header before
//! the copy that says which function to call with it:
//!
//! ```text
//!   passed to the library   TaskSource on the stack, with the address of the program's arguments
//!   what it keeps           | TaskHeader | padding | arguments |      copied by `copy`, passed to `run`
//! ```

use crate::machine::system::clock::read_ticks;
use crate::machine::system::loader::own_code::openmp_section;
use crate::machine::word::Word;
use crate::recording::mpi_time;
use crate::sources::openmp::is_on;
use crate::sources::openmp::team::Outlined;
use crate::state::thread;

/// Copies arguments that are no plain bytes.
type Copier = unsafe extern "C-unwind" fn(Word, Word);

/// Words at the beginning of arguments that the library reads or writes itself: the bounds of a taskloop's task, where its reductions are.
const SHARED_WORDS: usize = 3;

/// A task's arguments as they are passed to the library.
#[repr(C)]
pub struct TaskSource {
    header: TaskHeader,
    copier: Option<Copier>,
    data: Word,
    bytes: usize,
}

/// The header before the copy of the arguments.
#[repr(C)]
#[derive(Clone, Copy)]
struct TaskHeader {
    shared: [Word; SHARED_WORDS],
    function: Outlined,
    offset: usize,
    bounds: bool,
}

/// A task in place of the program's, as it is passed to the library.
pub struct WrappedTask {
    pub source: TaskSource,
    /// Their size with the header, in bytes.
    pub bytes: Word,
    pub alignment: Word,
}

/// The arguments with which the program has a task made.
#[derive(Clone, Copy)]
pub struct TaskCall {
    pub function: Word,
    pub data: Word,
    /// The function that copies them, or 0.
    pub copier: Word,
    pub bytes: Word,
    pub alignment: Word,
    /// True if it is a loop's, whose bounds the library writes into the first two words.
    pub bounds: bool,
}

/// Returns the task to make in place of `call`'s, or `None` if that is made as it is.
///
/// # Safety
/// As the program passes them to the run-time library.
pub unsafe fn wrap_task(call: TaskCall) -> Option<WrappedTask> {
    let TaskCall { function, data, copier, bytes, alignment, bounds } = call;
    if !is_on() || thread::current_thread().team.slot.get().is_null() || function == 0 {
        return None;
    }
    // SAFETY: arguments of this size.
    unsafe {
        let alignment = alignment.max(align_of::<TaskHeader>());
        let offset = size_of::<TaskHeader>().checked_next_multiple_of(alignment)?;
        let mut shared = [0; SHARED_WORDS];
        for (at, word) in shared.iter_mut().enumerate() {
            if (at + 1) * size_of::<Word>() <= bytes {
                *word = (data as *const Word).add(at).read();
            }
        }
        let function = std::mem::transmute::<Word, Outlined>(function);
        let copier = std::mem::transmute::<Word, Option<Copier>>(copier);
        let source = TaskSource { header: TaskHeader { shared, function, offset, bounds }, copier, data, bytes };
        Some(WrappedTask { source, bytes: bytes.checked_add(offset)?, alignment })
    }
}

/// Copies a task's arguments to where the library keeps them.
///
/// # Safety
/// `source` is a [`TaskSource`], and `target` has the room that [`wrap_task`] asks for.
pub unsafe extern "C-unwind" fn copy(target: Word, source: Word) {
    // SAFETY: the caller's promise.
    unsafe {
        let TaskSource { header, copier, data, bytes } = *(source as *const TaskSource);
        (target as *mut TaskHeader).write(header);
        let arguments = target + header.offset;
        match copier {
            Some(copier) => copier(arguments, data),
            None if bytes == 0 => {}
            None => (arguments as *mut u8).copy_from_nonoverlapping(data as *const u8, bytes),
        }
    }
}

/// Runs a task. The library calls this in place of the task's function.
///
/// # Safety
/// `task` was filled by [`copy`].
#[unsafe(link_section = openmp_section!())]
pub unsafe extern "C-unwind" fn run(task: Word) {
    // SAFETY: the caller's promise; the thread's own state and slot. A slot that a thread has left is there as long as the process.
    unsafe {
        let thread = thread::current_thread();
        let header = task as *const TaskHeader;
        let (function, data) = ((*header).function, task + (*header).offset);
        if (*header).bounds {
            (data as *mut Word).copy_from_nonoverlapping((&raw const (*header).shared).cast(), 2);
        }
        let left = thread.team.left.get();
        // The thread waits in the barrier that ends the region.
        let is_late = thread.team.depth.get() == 0 && thread.team.slot.get().is_null() && !left.is_null();
        let waits = thread.team.waits.replace(0);
        let begin = if is_late { mpi_time::begin_mpi_time(thread) } else { read_ticks() };
        if is_late {
            thread.team.slot.set(left);
            (*left).times.barrier += begin.saturating_sub((*left).times.end);
        }
        function(data);
        let end = read_ticks();
        thread.team.waits.set(waits);
        if is_late {
            (*left).times.end = end;
            (*left).times.mpi += mpi_time::so_far(thread);
            thread.team.slot.set(std::ptr::null_mut());
            thread.team.mpi_since.set(0);
        } else if waits > 0 {
            thread.team.tasks.set(thread.team.tasks.get() + end.saturating_sub(begin));
        }
    }
}
