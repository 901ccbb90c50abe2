//! An event's description and its descriptor (perf_event_open(2)).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The description of an event (perf_event_open(2)), in its fifth version, of 112 bytes.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct EventAttributes {
    pub kind: u32,
    pub size: u32,
    pub config: u64,
    pub sample_period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub wakeup_watermark: u32,
    pub breakpoint: u32,
    pub configs: [u64; 2],
    pub branches: u64,
    pub registers: u64,
    pub stack: u32,
    pub clock: i32,
    pub registers_at_interrupt: u64,
    pub aux_watermark: u32,
    pub max_stack: u16,
    pub reserved: u16,
}

const _: () = assert!(size_of::<EventAttributes>() == 112);

// linux/perf_event.h.
pub const TYPE_SOFTWARE: u32 = 1;
pub const TASK_CLOCK: u64 = 1;
pub const EXCLUDE_KERNEL: u64 = 1 << 5;
pub const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const CLOSE_ON_EXEC: u64 = 1 << 3;

/// Opens the event of a thread, 0 for the calling one, in the group that another one leads.
pub fn open_event(thread: libc::pid_t, group: Option<&OwnedFd>, attributes: EventAttributes) -> io::Result<OwnedFd> {
    const ANY_CORE: libc::c_int = -1;
    let attributes = EventAttributes { size: size_of::<EventAttributes>() as u32, ..attributes };
    let group = group.map_or(-1, |group| group.as_raw_fd());
    // SAFETY: a live description of the size that it states; the new descriptor is ours alone.
    unsafe {
        let number =
            libc::syscall(libc::SYS_perf_event_open, &raw const attributes, thread, ANY_CORE, group, CLOSE_ON_EXEC);
        if number < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(number as libc::c_int)) }
    }
}
