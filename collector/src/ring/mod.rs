//! A thread's ring: a small file-backed shared mapping that the thread fills with records and rewrites in place.
//!
//! | head, 4096 bytes ([`RingHead`]) | slot 0 | slot 1 | … |        a slot is a [`Record`]
//!
//! The rings of a rank's threads are in one file, each at the number of its thread times [`piece_bytes`]: all have the same size.
//!
//! The file's blocks are allocated before it is mapped, because a store into a page that a full disk cannot back is a SIGBUS. A SIGBUS also comes if
//! the file is cut short or its disk fails; the recorder catches it.
//! Stored records survive the death of the process, even by kill −9, because the pages belong to the file. A slot is in use
//! when its `begin` is not 0; slots fill in order, and a flush clears them all after their block is in the log and before
//! `first` moves on. So at every instant each record is in the log, or in the ring, or in both (then its sequence number,
//! `first` + slot, is below the log's end, and the reader drops the copy). Definitions may wait in the head of the first ring, see [`waiting`].

pub mod salvage;
pub mod saved_sums;
pub mod waiting;

use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64};

use crate::definition::USAGE_WORDS;
use crate::format::MAX_WAITING;
use crate::record::{FIXED, Record};

/// First bytes of a ring.
pub const MAGIC: [u8; 8] = *b"LBPRING1";
/// Bytes before the first slot.
pub const HEAD_BYTES: usize = 4096;
/// Rings in a file begin at multiples of this: a mapping begins with a page, and no system has larger ones.
pub const ALIGNMENT: usize = 64 << 10;
/// Rings that a file can have: one for each thread that may record.
pub const MAX_RINGS: usize = 4096;
/// Regions that the head can hold open; deeper ones are known only from the records.
pub const MAX_OPEN: usize = 64;
/// Kinds of problem that the head can count.
pub const MAX_PROBLEMS: usize = 64;

/// This many empty slots in a row with records after them were lost with pages of the file. Fewer may be of calls that a
/// signal's handler has prevented.
pub const MANY_EMPTY: usize = 8;

/// The head of a ring. All fields little-endian, at the offsets of this layout.
#[repr(C)]
pub struct RingHead {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// The log's version.
    pub version: AtomicU32,
    /// Rank in MPI_COMM_WORLD.
    pub rank: AtomicU32,
    /// The run's id, as in the log.
    pub run_id: AtomicU64,
    /// Number of the thread in the log.
    pub thread: AtomicU32,
    /// Slots in the file.
    pub capacity: AtomicU32,
    /// Sequence number of the record in slot 0.
    pub first: AtomicU64,
    /// End of the record before slot 0, or the ticks at which the thread began to record.
    pub previous_end: AtomicU64,
    /// Records dropped because the log could not be written; in the first ring also calls made after recording stopped.
    pub dropped: AtomicU64,
    /// Number of valid entries in `open`.
    pub n_open: AtomicU32,
    /// 1 while recording is paused before slot 0.
    pub paused: AtomicU32,
    /// Regions open before slot 0, outermost first: (region, iteration).
    pub open: [(AtomicU32, AtomicU32); MAX_OPEN],
    /// Number of occurrences of each kind of problem, by its number.
    pub problems: [AtomicU64; MAX_PROBLEMS],
    /// End of the process, once it ends: 0 running or killed, 1 Finalize, 2 exit, 3 MPI_Abort. For a full disk, when the log cannot hold
    /// it.
    pub end_reason: AtomicU32,
    /// Code given to MPI_Abort.
    pub abort_code: AtomicI32,
    /// Ticks at the end, 0 before.
    pub end_ticks: AtomicU64,
    /// Ticks at which the analysed window ended (entry of MPI_Finalize), 0 before.
    pub window_end: AtomicU64,
    /// With `end_reason`: about that instant on both clocks, ticks and CLOCK_MONOTONIC in nanoseconds; 0: not known.
    pub end_instant: [AtomicU64; 2],
    /// With `end_reason`: resources used by then, in the order of [`crate::definition::ResourceUsage`]; its ticks 0: not known.
    pub end_usage: [AtomicU64; USAGE_WORDS],
    /// With `end_reason` 2: the status given to exit(), where it is known.
    pub exit_status: AtomicI32,
    /// Flag: 1 if `exit_status` is known, else 0.
    pub has_exit_status: AtomicU32,
    /// Records before this sequence number were handed to the log or its sums; above `first` while a flush clears the slots.
    pub handed_over: AtomicU64,
    /// Bytes of the log up to the end of its last block that is not of records; 0: not known. Only in the first ring. A shorter log has lost blocks that
    /// no ring holds.
    pub facts_end: AtomicU64,
    /// Bytes of the log in front of the block that will have the definitions in `waiting`: a longer log has them. In the first ring.
    pub waiting_from: AtomicU64,
    /// Low half: how many bytes of `waiting` count; high half: CRC-32 of `waiting_from` and these bytes.
    pub waiting_state: AtomicU64,
    /// Definitions that the log does not have yet, as in a block of definitions. See [`waiting`].
    pub waiting: [AtomicU8; MAX_WAITING],
}

const _: () = assert!(size_of::<RingHead>() == HEAD_BYTES);

/// Bytes between the begins of two rings of `capacity` slots in the file of a rank's rings.
pub fn piece_bytes(capacity: usize) -> u64 {
    (HEAD_BYTES + capacity * size_of::<Record>()).next_multiple_of(ALIGNMENT) as u64
}

/// A mapped ring.
pub struct Ring {
    head: NonNull<RingHead>,
    capacity: usize,
}

// SAFETY: the mapping lives until the ring is dropped and has no thread affinity; who writes the slots is the owner's concern.
unsafe impl Send for Ring {}
// SAFETY: shared access reaches only the head's atomics.
unsafe impl Sync for Ring {}

fn slots_in(bytes: usize) -> usize {
    (bytes / size_of::<Record>()).max(16)
}

impl Ring {
    /// Makes the ring of `thread` in its piece of the file of its rank's rings: allocates the piece's blocks and maps it. `bytes` is the size
    /// of the slots, rounded down to whole ones, the same for all threads.
    ///
    /// Errors: what the system says, among them ENOSPC where the disk is full.
    pub fn create_in(file: &File, bytes: usize, rank: u32, thread: u32, run_id: u64) -> io::Result<Ring> {
        let capacity = slots_in(bytes);
        let (at, length) = (u64::from(thread) * piece_bytes(capacity), HEAD_BYTES + capacity * size_of::<Record>());
        allocate_blocks(file, at, length)?;
        // Not through the mapping: no handler looks after its pages yet, and the file may be cut short at any time.
        file.write_all_at(&first_words(rank, thread, run_id, capacity as u32), at)?;
        Self::map(file, at, length, capacity)
    }

    fn map(file: &File, at: u64, length: usize, capacity: usize) -> io::Result<Ring> {
        // SAFETY: a plain system call on an open file; the result is checked. MAP_POPULATE takes the page faults now instead of in the
        // program's calls.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                file.as_raw_fd(),
                at as libc::off_t,
            )
        };
        match NonNull::new(address.cast()) {
            Some(head) if address != libc::MAP_FAILED => Ok(Ring { head, capacity }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The head.
    pub fn head(&self) -> &RingHead {
        // SAFETY: the mapping is live, aligned, zero-filled by the system, and every field is an atomic but the magic, which
        // is written once before anyone shares it.
        unsafe { self.head.as_ref() }
    }

    /// The first slot; [`Ring::capacity`] slots follow one another.
    pub fn slots(&self) -> *mut Record {
        self.head.as_ptr().cast::<u8>().wrapping_add(HEAD_BYTES).cast()
    }

    /// Address and length of its memory.
    pub fn pages(&self) -> (usize, usize) {
        (self.head.as_ptr() as usize, HEAD_BYTES + self.capacity * size_of::<Record>())
    }

    /// Returns whether the head is as [`Ring::create_in`] has left it, which it is not if the file was emptied.
    pub fn is_set_up(&self) -> bool {
        // SAFETY: the mapping is live; others may change the file at any time.
        unsafe { (&raw const (*self.head.as_ptr()).magic).read_volatile() == MAGIC }
    }

    /// The number of its slots.
    pub fn capacity(&self) -> usize {
        self.capacity
    }
}

fn allocate_blocks(file: &File, at: u64, length: usize) -> io::Result<()> {
    // SAFETY: a plain system call on an open file; the result is checked.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), at as libc::off_t, length as libc::off_t) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Returns the head's fields up to `capacity`, which stay as they are.
fn first_words(rank: u32, thread: u32, run_id: u64, capacity: u32) -> [u8; offset_of!(RingHead, first)] {
    let mut bytes = [0; offset_of!(RingHead, first)];
    let fields = (MAGIC, u32::from(crate::format::VERSION), rank, run_id, thread, capacity);
    // They fill it.
    let _ = bincode::encode_into_slice(fields, &mut bytes, FIXED);
    bytes
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this length, and `self` was its only owner.
        unsafe { libc::munmap(self.head.as_ptr().cast(), HEAD_BYTES + self.capacity * size_of::<Record>()) };
    }
}
