//! The wrappers, made by build.rs from calls.table.
//!
//! A wrapper has two parts. The entry is what the program calls: a few instructions that note the caller's address (the call
//! site) in the thread's state and jump on, so that all registers and the stack are as the program left them. The body is an
//! ordinary function: reserve a slot, fill it from the arguments, make the real call, store the end. The real call is made
//! exactly once, outside of every lock and guard.
//!
//! Every argument is a register-wide word, whatever its type; reading it is the verb's business.

#![allow(
    non_snake_case,
    unused_mut,
    unused_variables,
    clippy::too_many_arguments,
    clippy::redundant_closure,
    reason = "made from the table"
)]

/// An argument's type, by its name: all are words.
macro_rules! word {
    ($argument:ident) => {
        Word
    };
}

mod openmp;
pub mod special;
mod thread_create;
mod unload;

use std::ptr::NonNull;

use lbprof_collector::Operation;
use lbprof_collector::record::{CallFlags, Record};

use crate::calls::verbs::{self, AfterCall, ThisCall, VerbCall};
use crate::forward::{self, NEXT, fortran_names};
use crate::machine::processor::{entry, fortran_entry, marking_entry, rare_branch, read_counter};
use crate::machine::system::clock::read_ticks;
use crate::machine::word::{Word, int_at};
use crate::mpi::lang::{self, ArgumentLanguage};
use crate::recording::slot;
use crate::sources::TimeSource;
use crate::sources::mpi::MpiCalls;
use crate::state::entered;
use crate::state::thread::{self, Canary, UNSEEN, VolatileCell};

/// Calls a row's verb; fixes the type of its parameter.
#[inline(always)]
fn apply_verb<L: ArgumentLanguage, A: AfterCall>(
    call: ThisCall<L>,
    verb: impl FnOnce(ThisCall<L>) -> verbs::VerbEvent<A>,
) -> verbs::VerbEvent<A> {
    verb(call)
}

/// The three steps of a body, and the work that remains after them. `$next` is the function to forward to, `$resolved` the same if it is known to be looked up. `$number` is the
/// number of the operation, which is `$operation` or a similar one.
macro_rules! body {
    ($next:expr, $resolved:expr, $language:ty, $operation:ident, $number:expr, ($($argument:ident),*), $verb:expr, |$result:ident| $ok:expr) => {{
        /// Makes a call under rare conditions, apart from the code of other calls: the clock is not the processor's counter, or the call is
        /// the first to name a communicator or datatype. MPI may not be asked about that until the call has shown that the handle is
        /// good, because a look-up that fails runs the program's error handler. Then the arguments are read anew.
        #[cold]
        #[inline(never)]
        unsafe extern "C-unwind" fn call_unusual(
            $($argument: Word,)*
            slot: *mut Record,
            next: Word,
            is_unmeasured: Word,
        ) -> Word {
            // SAFETY: as below. Verbs only read, so they may run again.
            unsafe {
                let thread = thread::current_thread();
                $(let mut $argument = $argument;)*
                slot::begin_slot(slot, if is_unmeasured != 0 { thread.poll_end.get() } else { read_ticks() });
                entered::forget_entry(thread);
                let next: Next = std::mem::transmute(next);
                if thread.unusual.get() & UNSEEN == 0 {
                    let $result = next($($argument),*);
                    if is_unmeasured == 0 {
                        slot::close_slot(slot, read_ticks());
                    }
                    return $result;
                }
                // A call that was left by longjmp may have noted it, or another thread has just learnt what was unseen.
                thread.unusual.set(thread.unusual.get() & !UNSEEN);
                let call = ThisCall::<$language>::from_thread(thread, (*slot).operation);
                let facts = apply_verb(call, $verb).facts;
                let unseen = thread.unusual.get() & UNSEEN != 0;
                thread.unusual.set(thread.unusual.get() & !UNSEEN);
                if !unseen {
                    slot::correct_slot(slot, facts);
                }
                let $result = next($($argument),*);
                slot::close_slot(slot, read_ticks());
                if unseen && $ok {
                    slot::learn_arguments(thread, slot, || apply_verb(call, $verb).facts);
                }
                $result
            }
        }
        type Next = unsafe extern "C-unwind" fn($(word!($argument)),*) -> Word;
        // SAFETY: the program's own arguments, passed on unchanged (but for statuses that it ignores) to the function that
        // it meant to call; the thread's state is its own.
        unsafe {
            let thread = thread::current_thread();
            let mut canary = Canary::uninit();
            let Some(slot) = MpiCalls::enter(thread, &mut canary) else {
                entered::leave_entry_state(thread);
                let next: Next = std::mem::transmute($next);
                return next($($argument),*);
            };
            let slot = slot.as_ptr();
            $(let mut $argument = $argument;)*
            let call = ThisCall::<$language>::from_thread(thread, $number);
            let event = apply_verb(call, $verb);
            // Asked before the call: what it calls may change the answer.
            let is_unmeasured =
                const { Operation::polls(Operation::$operation as u16) } && verbs::is_unmeasured(thread, slot);
            let language_flag = if <$language as lang::ArgumentLanguage>::FORTRAN { CallFlags::FORTRAN.0 } else { 0 };
            slot::fill_slot(
                thread,
                slot,
                $number,
                Operation::$operation.activity() as u16 | language_flag,
                event.facts,
            );
            let $result = if thread.unusual.get() != 0 {
                call_unusual($($argument,)* slot, $resolved, Word::from(is_unmeasured))
            } else {
                slot::begin_slot(slot, if is_unmeasured { thread.poll_end.get() } else { read_counter() });
                entered::forget_entry(thread);
                let next: Next = std::mem::transmute($resolved);
                let result = next($($argument),*);
                if !is_unmeasured {
                    slot::close_slot(slot, read_counter());
                }
                result
            };
            let folds = const { Operation::folds_in_spin(Operation::$operation as u16) };
            finish_call(call, slot, event.after, is_unmeasured, folds, $ok);
            $result
        }
    }};
}

/// Ends a call whose real call has returned: the work that remains after the three steps. `folds` is true if the operation folds
/// repetitions.
///
/// # Safety
/// `slot` is this call's.
#[inline(always)]
unsafe fn finish_call<C: VerbCall>(
    call: C,
    slot: *mut Record,
    after: impl AfterCall,
    is_unmeasured: bool,
    folds: bool,
    ok: bool,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let thread = call.thread();
        if is_unmeasured && !(ok && after.is_empty()) {
            verbs::measure_poll(thread, slot);
        }
        if !ok {
            rare_branch();
            (*slot).flags |= CallFlags::FAILED;
        }
        after.after(call, slot, ok);
        if folds && ok {
            verbs::fold_repetition(thread, slot);
        }
        MpiCalls::leave(thread, &NonNull::new_unchecked(slot));
    }
}

/// A body of C. `$note` is evaluated first, because the other expressions use it.
macro_rules! c_body {
    ($section:literal, $note:ident = $noted:expr, $next:expr, $resolved:expr, $language:ty, $operation:ident, $number:expr, ($($argument:ident),*), $verb:expr) => {
        #[unsafe(link_section = $section)]
        unsafe extern "C-unwind" fn body($($argument: Word),*) -> Word {
            let $note = $noted;
            body!($next, $resolved, $language, $operation, $number, ($($argument),*), $verb, |result| {
                result as i32 == 0
            })
        }
    };
}

macro_rules! c_wrapper {
    ($name:literal, $section:literal, $language:ty, $index:literal, $place:literal, $operation:ident, ($($argument:ident),*), $verb:expr) => {
        const _: () = {
            entry!($name, $section, body);
            c_body!(
                $section, note = (), forward::next_function($index), forward::resolved_function($index, $place), $language, $operation, Operation::$operation as u16,
                ($($argument),*), $verb
            );
        };
    };
}

/// Functions of C with one body, because programs call them in turn: they take the same cache lines. Their entries note the function. They
/// have one activity, and neither poll nor fold.
macro_rules! c_wrappers_of_one_body {
    (
        $section:literal, $language:ty, ($($argument:ident),*),
        ($name:literal, $index:literal, $place:literal, $operation:ident, $verb:expr)
        $(, ($other_name:literal, $other_index:literal, $other_place:literal, $other_operation:ident, $other_verb:expr))*
    ) => {
        const _: () = {
            $(
                assert!(Operation::$other_operation.activity() as u16 == Operation::$operation.activity() as u16);
                assert!(!Operation::polls(Operation::$other_operation as u16) && !Operation::folds_in_spin(Operation::$other_operation as u16));
            )*
            marking_entry!($name, $section, shared_body_note(Operation::$operation, $place), body);
            $(marking_entry!($other_name, $section, shared_body_note(Operation::$other_operation, $other_place), body);)*
            c_body!(
                $section,
                note = entered_note(),
                match note as u16 {
                    $(number if number == Operation::$other_operation as u16 => forward::next_function($other_index),)*
                    _ => forward::next_function($index),
                },
                forward::resolved_most_frequent(note >> 16),
                $language, $operation, note as u16, ($($argument),*),
                |call| {
                    $(if call.operation == Operation::$other_operation as u16 {
                        return apply_verb(call, $other_verb);
                    })*
                    apply_verb(call, $verb)
                }
            );
        };
    };
}

/// Makes the note of an entry about its call, if functions share a body: the number of the operation, and in the upper half the place among
/// the functions that are called most.
const fn shared_body_note(operation: Operation, place: usize) -> usize {
    operation as usize | place << 16
}

/// Returns the note about the call that is being entered on this thread. Once it is entered, a handler's call may replace the note.
#[inline(always)]
fn entered_note() -> usize {
    thread::current_thread().next.get_volatile()
}

macro_rules! fortran_wrapper {
    ($section:literal, $language:ty, [$(($name:literal, $index:literal))*], $operation:ident, $ierror:ident, ($($argument:ident),*), $verb:expr) => {
        const _: () = {
            $(fortran_entry!($name, $section, $index, NEXT, fortran_names::choose, body);)*

            #[unsafe(link_section = $section)]
            unsafe extern "C-unwind" fn body($($argument: Word),*) -> Word {
                // The entry has just stored the address of an element of NEXT.
                let next = forward::next_at(thread::current_thread().next.get());
                // ierror is optional in mpi_f08, and then an error has ended the program.
                body!(next, next, $language, $operation, Operation::$operation as u16, ($($argument),*), $verb, |result| {
                    $ierror == 0 || int_at($ierror) == 0
                })
            }
        };
    };
}

include!(concat!(env!("OUT_DIR"), "/wrappers.rs"));
