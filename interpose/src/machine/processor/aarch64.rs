//! 64-bit Arm, for example Grace and Graviton.

use std::arch::{asm, naked_asm};
use std::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{Acquire, Relaxed},
};

use gimli::Register;

use crate::machine::processor::{MAX_PARKED, PARKED_BYTES};

/// The name of the counter among the kernel's clock sources.
pub const COUNTER_NAME: &str = "arch_sys_counter";

/// A call pushes nothing: the return address is in a register.
pub const BYTES_OF_CALL: usize = 0;

/// Registers by their numbers in tables for unwinding: return address, stack pointer, frame pointer.
pub const RETURN_ADDRESS: Register = gimli::AArch64::X30;
pub const STACK_POINTER: Register = gimli::AArch64::SP;
pub const FRAME_POINTER: Register = gimli::AArch64::X29;

/// The kernel's mask for samples (asm/perf_regs.h) of the frame pointer and the stack pointer, which come in this order.
pub const SAMPLED_REGISTERS: u64 = 1 << 29 | 1 << 31;

/// The register with the address of the next instruction, likewise.
pub const INSTRUCTION_POINTER: u64 = 1 << 32;

/// The instruction `svc #0`.
pub const SYSTEM_CALL: [u8; 4] = [0x01, 0x00, 0x00, 0xd4];

/// The vendor whose instructions such tables may have, for signed return addresses.
pub const UNWINDING_VENDOR: gimli::Vendor = gimli::Vendor::AArch64;

/// Kinds of relocations: a word that the loader fills with an address, and one in the table of such words (R_AARCH64_ABS64,
/// R_AARCH64_GLOB_DAT).
pub const WORD_RELOCATION: u64 = 257;
pub const TABLE_RELOCATION: u64 = 1025;

/// Defines the function of this name, which the program calls: it notes the stack pointer and the frame pointer in the thread's state, then
/// goes on to the body with all arguments as they are. Further instructions come first, after that (they note the return address), and
/// last. x16 and x17 are free between a call and the function.
macro_rules! noting_entry {
    (
        $name:expr, $section:literal, $body:path,
        [$($first:literal),*], [$($note:literal),*], [$($last:literal),*], $($operands:tt)*
    ) => {
        const _: () = {
            #[unsafe(naked)]
            #[unsafe(link_section = $section)]
            #[unsafe(export_name = $name)]
            unsafe extern "C-unwind" fn entry() {
                std::arch::naked_asm!(
                    ".cfi_startproc",
                    $($first,)*
                    "mrs x16, tpidr_el0",
                    "adrp x17, :gottprel:lbprof_thread",
                    "ldr x17, [x17, :gottprel_lo12:lbprof_thread]",
                    "add x16, x16, x17",
                    "ldr x17, [x16, #16]",
                    "cbnz x17, 3f",
                    "2:",
                    "mov x17, sp",
                    "stp x17, x29, [x16, #16]",
                    $($note,)*
                    "b {body}",
                    "3:",
                    "adr x9, 2b",
                    "b {park}",
                    $($last,)*
                    ".cfi_endproc",
                    // The instructions of each call lie in few cache lines.
                    ".balign 64",
                    $($operands)*
                    body = sym $body,
                    park = sym $crate::machine::processor::park,
                )
            }
        };
    };
}

/// Defines the entry of a function that needs no further note.
macro_rules! entry {
    ($name:expr, $section:literal, $body:path) => {
        $crate::machine::processor::noting_entry!($name, $section, $body, [], ["str x30, [x16]"], [],);
    };
    ($name:expr, $body:path) => {
        entry!($name, ".text.lbprof", $body);
    };
}

/// Defines the entry of a function that shares its body with others: it also notes a small number, which stands for the function.
macro_rules! marking_entry {
    ($name:literal, $section:literal, $mark:expr, $body:path) => {
        $crate::machine::processor::noting_entry!(
            $name, $section, $body, [],
            [
                "mov x17, #{mark} & 0xffff",
                "movk x17, #{mark} >> 16, lsl #16",
                "stp x30, x17, [x16]"
            ],
            [], mark = const $mark,
        );
    };
}

/// Defines the entry of a function of Fortran: it also notes the address of an element of a table, the function to forward to. Unless that
/// element shows that all calls are MPI's, the entry goes on where `choose` says, with all registers as they are
/// (`forward/fortran_names.rs`).
macro_rules! fortran_entry {
    ($name:literal, $section:literal, $index:literal, $next:path, $choose:path, $body:path) => {
        $crate::machine::processor::noting_entry!(
            $name, $section, $body,
            [
                "adrp x17, {next} + {offset}",
                "add x17, x17, :lo12:{next} + {offset}",
                "ldr x16, [x17, #8]",
                "cmp x16, #{is_mpi}",
                "b.ne 4f",
                "8:"
            ],
            [
                "adrp x17, {next} + {offset}",
                "add x17, x17, :lo12:{next} + {offset}",
                "stp x30, x17, [x16]"
            ],
            [
                "4:",
                "cbz x16, 5f",
                "br x16",
                "5:",
                "adr x16, 8b",
                "stp x16, x17, [sp, #-32]!",
                ".cfi_def_cfa_offset 32",
                "adrp x16, {choose}",
                "add x16, x16, :lo12:{choose}",
                "str x16, [sp, #16]",
                "b {go_on}"
            ],
            next = sym $next,
            offset = const $index * 16,
            is_mpi = const $crate::machine::processor::ROUTE_MPI,
            choose = sym $choose,
            go_on = sym $crate::machine::processor::go_on,
        );
    };
}

/// Defines the entry of the function that starts a region of OpenMP: it notes its first and its third argument in the thread's state, and
/// goes on to the function that the call is meant for with all arguments as they are.
macro_rules! launch_entry {
    ($name:literal, $launch:path, $visible:path, $resolve:path) => {
        #[unsafe(naked)]
        #[unsafe(export_name = $name)]
        unsafe extern "C-unwind" fn entry() {
            std::arch::naked_asm!(
                ".cfi_startproc",
                "mrs x16, tpidr_el0",
                "adrp x17, :gottprel:lbprof_thread",
                "ldr x17, [x17, :gottprel_lo12:lbprof_thread]",
                "add x16, x16, x17",
                "add x16, x16, #{launch}",
                "stp x0, x2, [x16]",
                "adrp x16, {visible}",
                "add x16, x16, :lo12:{visible}",
                "ldr x16, [x16]",
                "cbnz x16, 2f",
                "stp x29, x30, [sp, #-96]!",
                ".cfi_def_cfa_offset 96",
                ".cfi_offset 29, -96",
                ".cfi_offset 30, -88",
                "stp x0, x1, [sp, #16]",
                "stp x2, x3, [sp, #32]",
                "stp x4, x5, [sp, #48]",
                "stp x6, x7, [sp, #64]",
                "str x8, [sp, #80]",
                "mov x0, x30",
                "bl {resolve}",
                "mov x16, x0",
                "ldp x0, x1, [sp, #16]",
                "ldp x2, x3, [sp, #32]",
                "ldp x4, x5, [sp, #48]",
                "ldp x6, x7, [sp, #64]",
                "ldr x8, [sp, #80]",
                "ldp x29, x30, [sp], #96",
                ".cfi_def_cfa_offset 0",
                ".cfi_restore 29",
                ".cfi_restore 30",
                "2:",
                "br x16",
                ".cfi_endproc",
                launch = const $launch,
                visible = sym $visible,
                resolve = sym $resolve,
            )
        }
    };
}

/// Defines the function with which a new thread starts: `begin`, a function of the thread's argument, returns the program's function and its
/// argument in two registers, and the thread goes on there as if it had started so.
macro_rules! begin_thread {
    ($begin:path) => {{
        #[unsafe(naked)]
        unsafe extern "C-unwind" fn start() {
            std::arch::naked_asm!(
                ".cfi_startproc",
                "stp x29, x30, [sp, #-16]!",
                ".cfi_def_cfa_offset 16",
                ".cfi_offset 29, -16",
                ".cfi_offset 30, -8",
                "bl {begin}",
                "ldp x29, x30, [sp], #16",
                ".cfi_def_cfa_offset 0",
                ".cfi_restore 29",
                ".cfi_restore 30",
                "mov x16, x0",
                "mov x0, x1",
                "br x16",
                ".cfi_endproc",
                begin = sym $begin,
            )
        }
        start
    }};
}

pub(crate) use {begin_thread, entry, fortran_entry, launch_entry, marking_entry, noting_entry};

/// Goes on where a function says, with all registers and the stack as the program left them. The stack has on top two words, then the
/// function, which gets the second word, the first, the return address and the program's first argument.
#[unsafe(naked)]
pub unsafe extern "C" fn go_on() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_def_cfa_offset 32",
        "stp x29, x30, [sp, #-224]!",
        ".cfi_def_cfa_offset 256",
        ".cfi_offset 29, -256",
        ".cfi_offset 30, -248",
        "stp x0, x1, [sp, #16]",
        "stp x2, x3, [sp, #32]",
        "stp x4, x5, [sp, #48]",
        "stp x6, x7, [sp, #64]",
        "str x8, [sp, #80]",
        "stp q0, q1, [sp, #96]",
        "stp q2, q3, [sp, #128]",
        "stp q4, q5, [sp, #160]",
        "stp q6, q7, [sp, #192]",
        "mov x29, sp",
        "ldr x9, [sp, #240]",
        "mov x3, x0",
        "ldp x1, x0, [sp, #224]",
        "mov x2, x30",
        "blr x9",
        "mov x16, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x2, x3, [sp, #32]",
        "ldp x4, x5, [sp, #48]",
        "ldp x6, x7, [sp, #64]",
        "ldr x8, [sp, #80]",
        "ldp q0, q1, [sp, #96]",
        "ldp q2, q3, [sp, #128]",
        "ldp q4, q5, [sp, #160]",
        "ldp q6, q7, [sp, #192]",
        "ldp x29, x30, [sp], #224",
        ".cfi_def_cfa_offset 32",
        ".cfi_restore 29",
        ".cfi_restore 30",
        "add sp, sp, #32",
        ".cfi_def_cfa_offset 0",
        "br x16",
        ".cfi_endproc",
    )
}

/// Parks the notes of a call that is being entered, because a handler makes a call meanwhile (`state/entered.rs`). An entry jumps here with
/// its value of x16, and goes on at x9. x10 to x13 are free there.
#[unsafe(naked)]
pub unsafe extern "C" fn park() {
    naked_asm!(
        ".cfi_startproc",
        "ldr x10, [x16, #32]",
        "cmp x10, #{most}",
        "b.lo 2f",
        "str xzr, [x16, #32]",
        "mov x10, xzr",
        "2:",
        "add x11, x16, x10, lsl #5",
        "sub x11, x11, #{parked}",
        "ldp x12, x13, [x16]",
        "stp x12, x13, [x11]",
        "ldp x12, x13, [x16, #16]",
        "stp x12, x13, [x11, #16]",
        "add x10, x10, #1",
        "str x10, [x16, #32]",
        "br x9",
        ".cfi_endproc",
        most = const MAX_PARKED,
        parked = const PARKED_BYTES,
    )
}

/// Nothing needs to be found out before the program runs.
pub fn detect_processor() {}

/// Returns the address of `lbprof_thread` of the calling thread.
#[inline(always)]
pub fn thread_state() -> *mut u8 {
    let state: *mut u8;
    // SAFETY: It reads the thread pointer and a link-time constant, nothing else.
    unsafe {
        asm!(
            "mrs {state}, tpidr_el0",
            "adrp {offset}, :gottprel:lbprof_thread",
            "ldr {offset}, [{offset}, :gottprel_lo12:lbprof_thread]",
            "add {state}, {state}, {offset}",
            state = out(reg) state,
            offset = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    state
}

/// Returns `None`: the C library's description of a thread ends at the thread pointer here, and its start is not known.
pub fn word_of_thread(_offset: usize) -> Option<usize> {
    None
}

/// Returns the counter of virtual time.
#[inline(always)]
pub fn read_counter() -> u64 {
    let ticks: u64;
    // SAFETY: Linux leaves this register to programs.
    unsafe { asm!("mrs {ticks}, cntvct_el0", ticks = out(reg) ticks, options(nomem, nostack)) };
    ticks
}

/// Starts to fetch a cache line that is read soon.
#[inline(always)]
pub fn fetch_early<T>(line: *const T) {
    // SAFETY: A hint, which has no effect where there is no memory.
    unsafe { asm!("prfm pldl1keep, [{line}]", line = in(reg) line, options(nostack, readonly, preserves_flags)) };
}

/// Exchanges the value `found` for `new` if it is there, and returns whether it was. It is as for any thread, because there is no instruction
/// for one core alone.
#[inline(always)]
pub fn exchange_on_this_core(word: &AtomicUsize, found: usize, new: usize) -> bool {
    word.compare_exchange(found, new, Acquire, Relaxed).is_ok()
}

/// Adds to a number and returns the old value, likewise.
#[inline(always)]
pub fn add_on_this_core(number: &AtomicU32, more: u32) -> u32 {
    number.fetch_add(more, Relaxed)
}

/// Returns that the counter runs at one rate, as the architecture says.
pub fn has_steady_counter() -> bool {
    true
}

/// Returns a return address as an address of code. Signatures are in bits that no address of a program has.
#[inline(always)]
pub fn code_address(word: usize) -> usize {
    const BITS: u32 = 48;
    word & ((1 << BITS) - 1)
}

/// Returns `None`: signal handlers return to the kernel's own function.
pub fn signal_return() -> Option<usize> {
    None
}
