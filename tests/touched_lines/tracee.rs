//! A program that is executed instruction by instruction, with ptrace(2).

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, bail, ensure};
use iced_x86::{Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register};
use libc::{c_int, c_uint, pid_t, user_regs_struct};

use crate::round::TouchStep;

const MAX_INSTRUCTION: usize = 15;

pub struct Tracee {
    pid: pid_t,
    memory: Option<File>,
    decoded: HashMap<u64, Instruction>,
    factory: InstructionInfoFactory,
}

impl Tracee {
    /// Starts a program, which waits before its first instruction.
    pub fn start(words: &[OsString]) -> anyhow::Result<Tracee> {
        let (program, arguments) = words.split_first().context("touched-lines [--list] PROGRAM...")?;
        let mut command = Command::new(program);
        command.args(arguments);
        // SAFETY: two system calls, which may be made between fork and exec. Without random addresses, lines are the same in each run.
        unsafe {
            command.pre_exec(|| {
                libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
                request(libc::PTRACE_TRACEME, 0, 0)
            })
        };
        let pid = command.spawn().with_context(|| format!("starting {}", program.display()))?.id() as pid_t;
        let tracee = Tracee { pid, memory: None, decoded: HashMap::new(), factory: InstructionInfoFactory::new() };
        ensure!(tracee.wait()?.is_some(), "the program ended at once");
        request(libc::PTRACE_SETOPTIONS, pid, (libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_EXITKILL) as usize)?;
        Ok(tracee)
    }

    pub fn pid(&self) -> pid_t {
        self.pid
    }

    /// Lets the program run to the `int3` that begins a round. Returns whether it came to one before it ended.
    pub fn run_to_mark(&mut self) -> anyhow::Result<bool> {
        let mut signal = 0;
        loop {
            request(libc::PTRACE_CONT, self.pid, signal as usize)?;
            let Some(stop) = self.wait()? else { return Ok(false) };
            signal = if stop & 0xff == libc::SIGTRAP { 0 } else { stop };
            if stop == libc::SIGTRAP {
                self.memory = Some(File::open(format!("/proc/{}/mem", self.pid))?);
                return Ok(true);
            }
        }
    }

    /// Executes instructions up to the `int3` that ends a round, and reports each before it is executed, with its address.
    pub fn step_to_mark(&mut self, mut on_step: impl FnMut(u64, &TouchStep)) -> anyhow::Result<()> {
        let mut signal = 0;
        loop {
            let registers = self.registers()?;
            let instruction = self.instruction(registers.rip)?;
            if instruction.mnemonic() == Mnemonic::Int3 {
                return self.set_instruction_pointer(registers, instruction.next_ip());
            }
            on_step(registers.rip, &self.describe_step(&instruction, &registers));
            request(libc::PTRACE_SINGLESTEP, self.pid, signal as usize)?;
            let stop = self.wait()?.context("the program ended within a round")?;
            signal = if stop & 0xff == libc::SIGTRAP { 0 } else { stop };
        }
    }

    pub fn thread_pointer(&self) -> anyhow::Result<u64> {
        Ok(self.registers()?.fs_base)
    }

    fn instruction(&mut self, address: u64) -> anyhow::Result<Instruction> {
        if let Some(known) = self.decoded.get(&address) {
            return Ok(*known);
        }
        let mut bytes = [0; MAX_INSTRUCTION];
        let memory = self.memory.as_ref().context("no mark yet")?;
        let n = memory.read_at(&mut bytes, address).context("reading an instruction")?;
        let instruction = Decoder::with_ip(64, &bytes[..n], address, DecoderOptions::NONE).decode();
        ensure!(!instruction.is_invalid(), "no instruction at {address:#x}");
        self.decoded.insert(address, instruction);
        Ok(instruction)
    }

    fn describe_step(&mut self, instruction: &Instruction, registers: &user_regs_struct) -> TouchStep {
        let info = self.factory.info(instruction);
        let touching = info.used_memory().iter().filter(|memory| memory.access() != OpAccess::NoMemAccess);
        let data = touching.filter_map(|memory| {
            let address = memory.virtual_address(0, |register, _, _| value_of(register, registers))?;
            Some((address, memory.memory_size().size() as u64))
        });
        TouchStep { code: (instruction.ip(), instruction.len() as u64), data: data.collect() }
    }

    fn registers(&self) -> anyhow::Result<user_regs_struct> {
        // SAFETY: all of its fields are numbers.
        let mut registers: user_regs_struct = unsafe { std::mem::zeroed() };
        request(libc::PTRACE_GETREGS, self.pid, &raw mut registers as usize)?;
        Ok(registers)
    }

    fn set_instruction_pointer(&self, mut registers: user_regs_struct, address: u64) -> anyhow::Result<()> {
        registers.rip = address;
        request(libc::PTRACE_SETREGS, self.pid, &raw mut registers as usize)?;
        Ok(())
    }

    /// Waits for the program to stop. Returns the signal that stopped it, above it the number of an event; `None` if it has ended well.
    fn wait(&self) -> anyhow::Result<Option<c_int>> {
        let mut status = 0;
        // SAFETY: It writes to `status` alone.
        ensure!(unsafe { libc::waitpid(self.pid, &mut status, 0) } == self.pid, "waiting for the program");
        match status {
            _ if libc::WIFSTOPPED(status) => Ok(Some(status >> 8)),
            0 => Ok(None),
            _ => bail!("the program ended with status {status:#x}"),
        }
    }
}

/// Makes a request of ptrace(2) that has no address; `data` is a number, or the address of a structure of the kind that the request reads or writes.
fn request(request: c_uint, pid: pid_t, data: usize) -> std::io::Result<()> {
    // SAFETY: only a stopped program's registers are read or set besides its run, in a structure that lives in the caller.
    if unsafe { libc::ptrace(request, pid, 0, data) } == -1 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns what a register of an address holds; of a segment, its base.
fn value_of(register: Register, registers: &user_regs_struct) -> Option<u64> {
    let value = match register.full_register() {
        Register::RAX => registers.rax,
        Register::RBX => registers.rbx,
        Register::RCX => registers.rcx,
        Register::RDX => registers.rdx,
        Register::RSI => registers.rsi,
        Register::RDI => registers.rdi,
        Register::RBP => registers.rbp,
        Register::RSP => registers.rsp,
        Register::R8 => registers.r8,
        Register::R9 => registers.r9,
        Register::R10 => registers.r10,
        Register::R11 => registers.r11,
        Register::R12 => registers.r12,
        Register::R13 => registers.r13,
        Register::R14 => registers.r14,
        Register::R15 => registers.r15,
        Register::FS => registers.fs_base,
        Register::GS => registers.gs_base,
        Register::CS | Register::DS | Register::ES | Register::SS => 0,
        _ => return None,
    };
    Some(if register.size() == 4 { value & 0xffff_ffff } else { value })
}
