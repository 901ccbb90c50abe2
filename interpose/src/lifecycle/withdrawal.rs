//! The functions by which a program reads or sets the action for a signal, or prepares a system call filter.
//!
//! They first withdraw the handlers of [`killed`], so that the program finds the system's action, and no filter that forbids to send signals keeps such
//! a handler from ending the process. Each function then goes on to the next one of its name. None allocates or locks: they may be called in a signal
//! handler, or in a child that shares its parent's memory.

use std::ffi::c_int;

use crate::lifecycle::killed;
use crate::system::foreign::NextFunction;
use crate::word::Word;

/// Arguments as registers hold them. These functions have fewer, but a library may have another one of the same name.
type Next = unsafe extern "C" fn(Word, Word, Word, Word, Word, Word) -> Word;

/// Calls the next function of a name.
///
/// # Safety
/// The arguments fit such a function.
unsafe fn call_next(function: &NextFunction, arguments: [Word; 6]) -> Word {
    let [a, b, c, d, e, f] = arguments;
    match function.address() {
        0 => {
            // SAFETY: the calling thread's errno.
            unsafe { *libc::__errno_location() = libc::ENOSYS };
            Word::MAX
        }
        // SAFETY: the caller's promise. A function takes no notice of registers after its last argument.
        next => unsafe { std::mem::transmute::<usize, Next>(next)(a, b, c, d, e, f) },
    }
}

/// Defines functions whose first argument is a signal.
macro_rules! of_signals {
    ($($function:ident $constant:ident $name:literal $c_name:literal;)*) => {
        $(
            static $constant: NextFunction = NextFunction::named($c_name);

            #[unsafe(export_name = $name)]
            unsafe extern "C" fn $function(signal: Word, b: Word, c: Word, d: Word, e: Word, f: Word) -> Word {
                killed::withdraw_handler(signal as c_int);
                // SAFETY: the program's own arguments.
                unsafe { call_next(&$constant, [signal, b, c, d, e, f]) }
            }
        )*

        /// Functions above, and `prctl`.
        static ALL: &[&NextFunction] = &[$(&$constant,)* &PRCTL];
    };
}

of_signals! {
    sigaction SIGACTION "sigaction" c"sigaction";
    sigaction_of_glibc SIGACTION_OF_GLIBC "__sigaction" c"__sigaction";
    signal SIGNAL "signal" c"signal";
    ssignal SSIGNAL "ssignal" c"ssignal";
    bsd_signal BSD_SIGNAL "bsd_signal" c"bsd_signal";
    sysv_signal SYSV_SIGNAL "sysv_signal" c"sysv_signal";
    sysv_signal_of_glibc SYSV_SIGNAL_OF_GLIBC "__sysv_signal" c"__sysv_signal";
    sigset SIGSET "sigset" c"sigset";
    sigignore SIGIGNORE "sigignore" c"sigignore";
    siginterrupt SIGINTERRUPT "siginterrupt" c"siginterrupt";
}

static PRCTL: NextFunction = NextFunction::named(c"prctl");

/// A program without privileges has to give up gaining any before it may install a filter.
#[unsafe(export_name = "prctl")]
unsafe extern "C" fn control(option: Word, b: Word, c: Word, d: Word, e: Word, f: Word) -> Word {
    if [libc::PR_SET_NO_NEW_PRIVS, libc::PR_SET_SECCOMP].contains(&(option as c_int)) {
        killed::unwatch_signals();
    }
    // SAFETY: the program's own arguments.
    unsafe { call_next(&PRCTL, [option, b, c, d, e, f]) }
}

/// Runs when the dynamic loader has loaded the recorder, before the program.
#[ctor::ctor(unsafe)]
fn at_load() {
    for function in ALL {
        function.address();
    }
}
