//! x86-64.

use std::arch::x86_64::{__cpuid, _MM_HINT_T0, _mm_prefetch, _rdtsc};
use std::arch::{asm, naked_asm};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};

use gimli::Register;

use crate::machine::processor::{MAX_PARKED, PARKED_BYTES};

/// The name of the counter among the kernel's clock sources.
pub const COUNTER_NAME: &str = "tsc";

/// Bytes that a call pushes: the return address. The stack pointer that an entry notes points to it.
pub const BYTES_OF_CALL: usize = 8;

/// Registers by their numbers in tables for unwinding: return address, stack pointer, frame pointer.
pub const RETURN_ADDRESS: Register = gimli::X86_64::RA;
pub const STACK_POINTER: Register = gimli::X86_64::RSP;
pub const FRAME_POINTER: Register = gimli::X86_64::RBP;

/// The kernel's mask for samples (asm/perf_regs.h) of the frame pointer and the stack pointer, which come in this order.
pub const SAMPLED_REGISTERS: u64 = 1 << 6 | 1 << 7;

/// The register with the address of the next instruction, likewise.
pub const INSTRUCTION_POINTER: u64 = 1 << 8;

/// The instruction `syscall`.
pub const SYSTEM_CALL: [u8; 2] = [0x0f, 0x05];

/// The vendor whose instructions such tables may have.
pub const UNWINDING_VENDOR: gimli::Vendor = gimli::Vendor::Default;

/// Kinds of relocations: a word that the loader fills with an address, and one in the table of such words (R_X86_64_64,
/// R_X86_64_GLOB_DAT).
pub const WORD_RELOCATION: u64 = 1;
pub const TABLE_RELOCATION: u64 = 6;

/// Defines the function of this name, which the program calls: it notes the caller's address, the stack pointer and the frame pointer in the
/// thread's state, then goes on to the body with all arguments as they are. Further instructions come first, after the notes, and last.
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
                    "mov r11, qword ptr [rip + lbprof_thread@GOTTPOFF]",
                    "cmp qword ptr fs:[r11 + 16], 0",
                    "jne 3f",
                    "2:",
                    "mov qword ptr fs:[r11 + 16], rsp",
                    "mov rax, qword ptr [rsp]",
                    "mov qword ptr fs:[r11], rax",
                    "mov qword ptr fs:[r11 + 24], rbp",
                    $($note,)*
                    "jmp {body}",
                    "3:",
                    "call {park}",
                    "jmp 2b",
                    $($last,)*
                    ".cfi_endproc",
                    // The instructions of each call lie in one cache line.
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
        $crate::machine::processor::noting_entry!($name, $section, $body, [], [], [],);
    };
    ($name:expr, $body:path) => {
        entry!($name, ".text.lbprof", $body);
    };
}

/// Defines the entry of a function that shares its body with others: it also notes a small number, which stands for the function.
macro_rules! marking_entry {
    ($name:literal, $section:literal, $mark:expr, $body:path) => {
        $crate::machine::processor::noting_entry!(
            $name, $section, $body, [], ["mov qword ptr fs:[r11 + 8], {mark}"], [], mark = const $mark,
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
                "cmp qword ptr [rip + {next} + {offset} + 8], {is_mpi}",
                "jne 4f",
                "8:"
            ],
            [
                "lea rax, [rip + {next} + {offset}]",
                "mov qword ptr fs:[r11 + 8], rax",
                "xor eax, eax"
            ],
            [
                "4:",
                "mov r11, qword ptr [rip + {next} + {offset} + 8]",
                "test r11, r11",
                "je 5f",
                "jmp r11",
                "5:",
                "lea r11, [rip + {choose}]",
                "push r11",
                ".cfi_adjust_cfa_offset 8",
                "lea r11, [rip + 8b]",
                "push r11",
                ".cfi_adjust_cfa_offset 8",
                "lea r11, [rip + {next} + {offset}]",
                "jmp {go_on}"
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
                "mov r11, qword ptr [rip + lbprof_thread@GOTTPOFF]",
                "mov qword ptr fs:[r11 + {launch}], rdi",
                "mov qword ptr fs:[r11 + {launch} + 8], rdx",
                "mov r11, qword ptr [rip + {visible}]",
                "test r11, r11",
                "jne 2f",
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "push rax",
                ".cfi_adjust_cfa_offset 56",
                "mov rdi, qword ptr [rsp + 56]",
                "call {resolve}",
                "mov r11, rax",
                "pop rax",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                ".cfi_adjust_cfa_offset -56",
                "2:",
                "jmp r11",
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
                "sub rsp, 8",
                ".cfi_adjust_cfa_offset 8",
                "call {begin}",
                "add rsp, 8",
                ".cfi_adjust_cfa_offset -8",
                "mov rdi, rdx",
                "jmp rax",
                ".cfi_endproc",
                begin = sym $begin,
            )
        }
        start
    }};
}

pub(crate) use {begin_thread, entry, fortran_entry, launch_entry, marking_entry, noting_entry};

/// Parks the notes of a call that is being entered, because a handler makes a call meanwhile (`state/entered.rs`). An entry calls it with its
/// value of r11; rax and r10 are free there.
#[unsafe(naked)]
pub unsafe extern "C" fn park() {
    naked_asm!(
        ".cfi_startproc",
        "mov rax, qword ptr fs:[r11 + 32]",
        "cmp rax, {most}",
        "jb 2f",
        "xor eax, eax",
        "mov qword ptr fs:[r11 + 32], rax",
        "2:",
        "shl rax, 5",
        "add rax, r11",
        "mov r10, qword ptr fs:[r11]",
        "mov qword ptr fs:[rax + {parked}], r10",
        "mov r10, qword ptr fs:[r11 + 8]",
        "mov qword ptr fs:[rax + {parked} + 8], r10",
        "mov r10, qword ptr fs:[r11 + 16]",
        "mov qword ptr fs:[rax + {parked} + 16], r10",
        "mov r10, qword ptr fs:[r11 + 24]",
        "mov qword ptr fs:[rax + {parked} + 24], r10",
        "inc qword ptr fs:[r11 + 32]",
        "ret",
        ".cfi_endproc",
        most = const MAX_PARKED,
        parked = const -(PARKED_BYTES as isize),
    )
}

/// Goes on where a function says, with all registers and the stack as the program left them. The stack has on top a word and the function,
/// above the return address. The function gets r11, the word, the return address and the program's first argument.
#[unsafe(naked)]
pub unsafe extern "C" fn go_on() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_def_cfa_offset 24",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_offset rbp, -32",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rax",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "push r8",
        "push r9",
        "push r10",
        "sub rsp, {room}",
        "and rsp, -64",
        "call {save_vectors}",
        "mov rcx, rdi",
        "mov rdi, r11",
        "mov rsi, qword ptr [rbp + 8]",
        "mov rdx, qword ptr [rbp + 24]",
        "call qword ptr [rbp + 16]",
        "mov r11, rax",
        "cmp byte ptr [rip + {has_xsave}], 0",
        "je 5f",
        "mov eax, {vectors}",
        "xor edx, edx",
        "xrstor [rsp]",
        "jmp 6f",
        "5:",
        "fxrstor [rsp]",
        "6:",
        "lea rsp, [rbp - 64]",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rdi",
        "pop rsi",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "pop rbp",
        ".cfi_def_cfa rsp, 24",
        ".cfi_restore rbp",
        "lea rsp, [rsp + 16]",
        ".cfi_adjust_cfa_offset -16",
        "jmp r11",
        ".cfi_endproc",
        room = const XSAVE_BYTES,
        save_vectors = sym save_vectors,
        vectors = const XSAVE_VECTORS,
        has_xsave = sym HAS_XSAVE,
    )
}

/// Saves the vector registers at the stack pointer of [`go_on`], which is a multiple of 64. rax, rcx and rdx are free there.
///
/// XSAVE saves the parts that the processor has and the program uses. The rest of its area's head must be 0.
#[unsafe(naked)]
unsafe extern "C" fn save_vectors() {
    naked_asm!(
        ".cfi_startproc",
        "cmp byte ptr [rip + {has_xsave}], 0",
        "je 2f",
        "xor eax, eax",
        "mov ecx, 8",
        "3:",
        "mov qword ptr [rsp + 512 + rcx * 8], rax",
        "dec ecx",
        "jne 3b",
        "mov eax, {vectors}",
        "xor edx, edx",
        "xsave [rsp + 8]",
        "ret",
        "2:",
        "fxsave [rsp + 8]",
        "ret",
        ".cfi_endproc",
        vectors = const XSAVE_VECTORS,
        has_xsave = sym HAS_XSAVE,
    )
}

/// The parts of XSAVE's area with registers that pass arguments: SSE, AVX, and the three of AVX-512 (Intel's manual, volume 1, §13.1).
const XSAVE_VECTORS: u32 = 1 << 1 | 1 << 2 | 1 << 5 | 1 << 6 | 1 << 7;

/// The bytes of the area up to the last of them: 1 KiB from byte 1664 on.
const XSAVE_BYTES: usize = 2688;

/// True if the system has enabled XSAVE.
static HAS_XSAVE: AtomicBool = AtomicBool::new(false);

/// Finds out what entries need to know of the processor. Called before the program runs.
pub fn detect_processor() {
    HAS_XSAVE.store(is_x86_feature_detected!("xsave"), Relaxed);
}

/// Returns the address of `lbprof_thread` of the calling thread.
#[inline(always)]
pub fn thread_state() -> *mut u8 {
    let state: *mut u8;
    // SAFETY: It reads the thread pointer and a link-time constant, nothing else.
    unsafe {
        asm!(
            "mov {state}, qword ptr [rip + lbprof_thread@GOTTPOFF]",
            "add {state}, qword ptr fs:[0]",
            state = out(reg) state,
            options(pure, nomem, nostack),
        );
    }
    state
}

/// Returns a word of the C library's description of the calling thread, from the thread pointer on. `offset` is a multiple of 8 below 2048.
pub fn word_of_thread(offset: usize) -> Option<usize> {
    let word: usize;
    // SAFETY: It is a part of the description, which is longer.
    unsafe {
        asm!("mov {word}, qword ptr fs:[{offset}]", word = out(reg) word, offset = in(reg) offset, options(nostack, readonly))
    };
    Some(word)
}

#[inline(always)]
pub fn read_counter() -> u64 {
    // SAFETY: Every x86-64 processor has the instruction, and Linux leaves it to programs unless prctl forbids it.
    unsafe { _rdtsc() }
}

/// Starts to fetch a cache line that is read soon.
#[inline(always)]
pub fn fetch_early<T>(line: *const T) {
    // SAFETY: A hint, which has no effect where there is no memory.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
}

/// Exchanges the value `found` for `new` if it is there, and returns whether it was. No other thread may do so at the same time, but a
/// signal handler may.
#[inline(always)]
pub fn exchange_on_this_core(word: &AtomicUsize, found: usize, new: usize) -> bool {
    let before: usize;
    // SAFETY: It changes the word alone, which lives. One instruction, so that no handler comes in between.
    unsafe {
        asm!(
            "cmpxchg qword ptr [{word}], {new}",
            word = in(reg) word.as_ptr(),
            new = in(reg) new,
            inout("rax") found => before,
            options(nostack),
        );
    }
    before == found
}

/// Adds to a number and returns the old value. No other thread may do so at the same time, but a signal handler may.
#[inline(always)]
pub fn add_on_this_core(number: &AtomicU32, more: u32) -> u32 {
    let before: u32;
    // SAFETY: as in `exchange_on_this_core`.
    unsafe {
        asm!("xadd dword ptr [{number}], {before:e}", number = in(reg) number.as_ptr(), before = inout(reg) more => before, options(nostack))
    };
    before
}

/// Returns whether the counter runs at one rate in all power states (CPUID 8000_0007h, EDX bit 8).
pub fn has_steady_counter() -> bool {
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & 1 << 8 != 0
}

#[inline(always)]
pub fn code_address(word: usize) -> usize {
    word
}

/// Returns the function that handlers of signals return to, if the kernel has to be given one.
pub fn signal_return() -> Option<usize> {
    Some(return_from_signal as *const () as usize)
}

/// Returns from a handler. Debuggers know it by these very bytes.
#[unsafe(naked)]
unsafe extern "C" fn return_from_signal() {
    naked_asm!("mov rax, 15", "syscall")
}
