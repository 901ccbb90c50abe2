//! The switches of a thread between its core and waiting, as the kernel notes them (PERF_RECORD_SWITCH, since Linux 4.3). They need no privilege that samples
//! do not need, and no work of ours at the time.

use std::cell::Cell;

use super::event::{EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, EventAttributes, TYPE_SOFTWARE, open_event};
use super::{RECORD_SAMPLE, SAMPLE_REGISTERS, SAMPLE_TIME, SampleRing, SamplingRefusal, USE_CLOCK, WATERMARK};
use crate::machine::processor::INSTRUCTION_POINTER;

// linux/perf_event.h.
const CONTEXT_SWITCHES: u64 = 3;
const DUMMY: u64 = 9;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const CONTEXT_SWITCH: u64 = 1 << 26;
const RECORD_SWITCH: u32 = 14;
const SWITCH_OUT: u64 = 1 << 13;
const SWITCH_OUT_PREEMPT: u64 = 1 << 14;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadSwitch {
    /// The thread has a core from here on.
    In,
    /// The thread has gone by itself: it sleeps, or is stopped. With the address of its next instruction in user space, if the system lets us see it.
    Sleeps(Option<usize>),
    /// The thread would go on, but has been pushed off its core.
    Preempted,
}

/// Bytes of a switch as the kernel writes it: a head and a time; and of the sample before it: a head, a time, and registers with their interface.
const SWITCH_BYTES: usize = 16;
const SAMPLE_BYTES: usize = 32;

#[derive(Debug)]
pub struct SwitchEvent {
    ring: SampleRing,
    /// The address of the thread's next instruction in user space, of the sample read last.
    address: Cell<Option<usize>>,
}

impl SwitchEvent {
    /// Begins to note the switches of a thread of this process, in a ring of `bytes` or, where the system does not grant them, fewer.
    pub fn open(thread: libc::pid_t, clock: libc::clockid_t, bytes: usize) -> Result<SwitchEvent, SamplingRefusal> {
        let noting = EventAttributes {
            kind: TYPE_SOFTWARE,
            config: DUMMY,
            sample_type: SAMPLE_TIME,
            flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | WATERMARK | USE_CLOCK | SAMPLE_ID_ALL | CONTEXT_SWITCH,
            wakeup_watermark: u32::MAX,
            clock,
            ..EventAttributes::default()
        };
        // A switch happens in the kernel: to have a sample of each takes more privileges.
        let sampling = EventAttributes {
            config: CONTEXT_SWITCHES,
            sample_period: 1,
            sample_type: SAMPLE_TIME | SAMPLE_REGISTERS,
            registers: INSTRUCTION_POINTER,
            flags: noting.flags & !EXCLUDE_KERNEL,
            ..noting
        };
        let event = open_event(thread, None, sampling)
            .or_else(|_| open_event(thread, None, noting))
            .map_err(SamplingRefusal::Event)?;
        Ok(SwitchEvent { ring: SampleRing::new(&event, bytes)?, address: Cell::new(None) })
    }

    pub fn locked_bytes(&self) -> u64 {
        (self.ring.bytes + super::PAGE) as u64
    }

    /// Returns whether there is soon no place for more.
    pub fn is_half_full(&self) -> bool {
        self.ring.waiting() >= self.ring.bytes / 2
    }

    /// Returns whether there may have been no place for a switch.
    pub fn is_full(&self) -> bool {
        self.ring.bytes - self.ring.waiting() < 2 * (SAMPLE_BYTES + 2 * SWITCH_BYTES)
    }

    /// Passes all switches that were written since the last time, each with its time in nanoseconds of the event's clock.
    pub fn read(&self, mut each: impl FnMut(u64, ThreadSwitch)) {
        self.ring.read(|kind, _, position| {
            if kind == RECORD_SAMPLE {
                // Where there are no registers of user space, their interface is 0 and nothing follows.
                let has_registers = self.ring.word(position + 16) != 0;
                return self.address.set(has_registers.then(|| self.ring.word(position + 24) as usize));
            }
            let address = self.address.take();
            let flags = self.ring.word(position) >> 32 & 0xffff;
            let switch = match flags {
                _ if kind != RECORD_SWITCH => return,
                _ if flags & SWITCH_OUT == 0 => ThreadSwitch::In,
                _ if flags & SWITCH_OUT_PREEMPT != 0 => ThreadSwitch::Preempted,
                _ => ThreadSwitch::Sleeps(address),
            };
            each(self.ring.word(position + 8), switch);
        });
    }
}
