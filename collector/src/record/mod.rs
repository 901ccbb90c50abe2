//! A record: one call of one thread, or one marker.
//!
//! The recording library fills records in place in a thread's ring; the log stores them by columns; the analyzer
//! streams them. It is the same type everywhere, so that what is written is what is read. Only a call and its first part may be one record
//! until they are read ([`crate::joined`]).

pub mod clock;
pub mod definition;
pub mod heads;
pub mod joined;
pub mod openmp;
pub mod operations;
pub mod options;
pub mod poll_gaps;
pub mod problem;
pub mod sampling;
pub mod starter;
pub mod states;

use bincode::Decode;
use bincode::config::{Configuration, Fixint, LittleEndian};

use crate::operation::Operation;
use crate::states::{Activity, CoreState};

/// The encoding of fields at fixed offsets: little-endian integers of their full size, without gaps.
pub(crate) const FIXED: Configuration<LittleEndian, Fixint> = bincode::config::standard().with_fixed_int_encoding();

/// "No iteration", "no request", "no communicator": the absent value of every 32-bit id.
pub const NONE: u32 = u32::MAX;

/// The peer or tag of a record that has none.
pub const NO_PEER: i32 = i32::MIN;

/// A call or a marker, 64 bytes, filled in place.
///
/// The meaning of the fields by kind of operation:
///
/// | operation | `peer`, `tag` | `sent`, `received` | `request` | `count` |
/// |---|---|---|---|---|
/// | sends | destination in `comm`, tag | bytes, 0 | id of the request started, or NONE | 0 |
/// | receives | source in `comm`, tag: what was asked until it arrived, then what arrived | 0, bytes (what arrived once it did) | as above | 0 |
/// | Sendrecv | destination, send tag | bytes sent, 0; the receive follows as a [`Operation::Received`] part | NONE | 0 |
/// | completions of one request | as in the request completed | bytes of the request completed | id of the request | calls folded into this record beyond the first |
/// | polls that found nothing ([`CallFlags::NOTHING`]), `count` > 0 | as above | ticks within the polls folded into this record; their gaps, see [`PollGaps`] | as above | polls folded into this record beyond the first |
/// | completions of many | NO_PEER | 0; the requests completed follow as [`Operation::Completed`] parts | NONE | number of requests completed |
/// | completions without an active request ([`CallFlags::INACTIVE`]) | NO_PEER | 0; no parts follow | NONE | calls folded into this record beyond the first |
/// | collectives | root or NO_PEER | bytes this rank contributes, bytes it is given | id of the request started, or NONE | 0 |
/// | one-sided | target in the window's communicator; tag: window id | bytes to, bytes from the target | as above | Win_post, Win_start: id of the group, plus 1; 0: not known |
/// | calls that read a window, made again and again ([`crate::spinning`]) | as above | bytes of all of them | of the record that has the time of all: that between the calls; else NONE | calls folded into this record beyond the first |
/// | I/O | NO_PEER; tag: file id | bytes written, bytes read | as above | 0 |
/// | [`Operation::RegionEnter`], [`Operation::RegionLeave`] | – | – | region id | iteration number, or NONE |
/// | [`Operation::Work`] | – | operations, quanta as `f64` bits | region id | 0 |
/// | [`Operation::Counter`] | – | value as `f64` bits | counter id | 0 |
/// | [`Operation::Memory`] | – | resident bytes, swapped bytes | region id just left, or NONE | 0 |
/// | [`Operation::Flush`] | – | – | NONE | records written |
/// | [`Operation::InState`] | –; tag: number of the [`CoreState`] | – | NONE | 0 |
/// | [`Operation::ParallelBegin`] | – | – | NONE | 0 |
/// | [`Operation::ParallelWaits`] | –; tag: 0 MPI, 1 mutexes, 2 ordered sections, 3 tasks | ticks of all threads together; of MPI also ticks idle because of it | NONE | 0 |
/// | [`Operation::ParallelThread`] | –; tag: number of the thread | 0: ticks until it enters the region, ticks from then until it leaves it; 1: ticks of work, of its own waits for mutexes, turns and tasks; 2: ticks in MPI, 0 | NONE | which of these |
/// | [`Operation::ParallelEnd`] | –; tag: number of the first of the threads that work longest | ticks of work of all threads, of that thread | NONE | threads of the team |
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Decode)]
pub struct Record {
    /// Start of the call, in ticks of the rank's clock; 0 marks an unused slot of a ring. Stored last at the start of a call, so that a
    /// slot whose `begin` is set holds a whole record whenever the process dies.
    pub begin: u64,
    /// End of the call, in ticks; 0 if it never ended (killed inside, or left by longjmp).
    pub end: u64,
    /// The id of a [`crate::definition::CallSite`], or `u64::MAX` for none. In a ring it is one more.
    pub call_site: u64,
    /// Bytes that this rank sends, writes or contributes.
    pub sent: u64,
    /// Bytes that this rank receives, reads or is given.
    pub received: u64,
    /// Rank of the other side in `comm` (in its remote group for an inter-communicator), or [`NO_PEER`].
    pub peer: i32,
    /// Message tag, or what the table above says.
    pub tag: i32,
    /// Id of the communicator's definition in this log, or [`NONE`].
    pub comm: u32,
    /// Id of the request started or completed, unique in the rank; or what the table above says.
    pub request: u32,
    /// Number of the [`Operation`].
    pub operation: u16,
    /// Further facts about the call.
    pub flags: CallFlags,
    /// Count, see the table above.
    pub count: u32,
}

/// The gaps between the polls that are folded into one record, in its `received`: the longest one, and how long all those
/// together are that are not short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PollGaps(pub u64);

impl PollGaps {
    /// Bits of the longest gap, in ticks: recorders fold only polls with shorter gaps than this can hold.
    const BITS: u32 = 16;

    /// Adds one gap.
    #[inline(always)]
    #[must_use]
    pub fn and(self, gap: u64, short: u64) -> PollGaps {
        let longest = self.longest().max(gap & ((1 << Self::BITS) - 1));
        let medium = self.medium() + if gap < short { 0 } else { gap };
        PollGaps(medium << Self::BITS | longest)
    }

    /// Returns the ticks of the longest gap.
    #[inline(always)]
    pub fn longest(self) -> u64 {
        self.0 & ((1 << Self::BITS) - 1)
    }

    /// Returns the ticks of all gaps that are not short.
    #[inline(always)]
    pub fn medium(self) -> u64 {
        self.0 >> Self::BITS
    }
}

const _: () = assert!(size_of::<Record>() == 64);

impl Record {
    /// Creates a record of `operation` at `begin`, with everything else absent.
    pub fn new(operation: Operation, begin: u64) -> Self {
        Record {
            begin,
            end: begin,
            call_site: 0,
            sent: 0,
            received: 0,
            peer: NO_PEER,
            tag: NO_PEER,
            comm: NONE,
            request: NONE,
            operation: operation as u16,
            flags: CallFlags::from_activity(operation.activity()),
            count: 0,
        }
    }

    /// Creates the record of an interval in a state outside of MPI, called from the place with this id in a ring.
    pub fn in_state(state: CoreState, begin: u64, end: u64, call_site: u64) -> Self {
        Record { end, tag: state as i32, call_site, ..Record::new(Operation::InState, begin) }
    }

    /// Returns the state of the thread during the record, or `None` if the record is no [`Operation::InState`].
    pub fn core_state(&self) -> Option<CoreState> {
        let number = usize::try_from(self.tag).ok().filter(|_| self.operation == Operation::InState as u16)?;
        CoreState::from_number(number)
    }

    /// Returns the operation, or `None` for a number that this version does not know.
    pub fn operation(&self) -> Option<Operation> {
        Operation::from_number(self.operation)
    }

    /// Returns the activity to which the call's time belongs. A completion has the activity of the completed request.
    pub fn activity(&self) -> Activity {
        self.flags.activity()
    }

    /// Returns whether the record is a call (it has a duration), not a marker or a part of the call before it.
    pub fn is_call(&self) -> bool {
        self.operation < Operation::FIRST_MARKER
    }

    /// Returns whether the record is a marker of a parallel region's instance, which has the region's call site.
    pub fn marks_parallel_region(&self) -> bool {
        (Operation::ParallelBegin as u16..=Operation::ParallelThread as u16).contains(&self.operation)
    }

    /// Returns whether the record has a call site: it is a call, or a marker of a parallel region's instance or of a state.
    pub fn has_call_site(&self) -> bool {
        self.is_call() || self.marks_parallel_region() || self.operation == Operation::InState as u16
    }

    /// Returns whether the record is a part of the call before it.
    pub fn is_part(&self) -> bool {
        Operation::is_part(self.operation)
    }
}

/// Facts about a call, one bit each, and its activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Decode)]
#[repr(transparent)]
pub struct CallFlags(pub u16);

impl CallFlags {
    /// The source was MPI_ANY_SOURCE; `peer` is who sent what arrived.
    pub const ANY_SOURCE: CallFlags = CallFlags(1 << 3);
    /// The tag was MPI_ANY_TAG; `tag` is the tag that arrived.
    pub const ANY_TAG: CallFlags = CallFlags(1 << 4);
    /// MPI returned an error to the program.
    pub const FAILED: CallFlags = CallFlags(1 << 5);
    /// The call was left without returning (longjmp, exception) or the process died in it.
    pub const UNFINISHED: CallFlags = CallFlags(1 << 6);
    /// The request completed was cancelled; nothing was transferred.
    pub const CANCELLED: CallFlags = CallFlags(1 << 7);
    /// The request is persistent or partitioned.
    pub const PERSISTENT: CallFlags = CallFlags(1 << 8);
    /// A test or probe that found nothing, or the peer was MPI_PROC_NULL: nothing was transferred.
    pub const NOTHING: CallFlags = CallFlags(1 << 9);
    /// The request or message was not known to the recorder; peer, tag and bytes are only what the status gives.
    pub const UNKNOWN_REQUEST: CallFlags = CallFlags(1 << 10);
    /// Called from Fortran.
    pub const FORTRAN: CallFlags = CallFlags(1 << 12);
    /// The lock of a window is exclusive.
    pub const EXCLUSIVE: CallFlags = CallFlags(1 << 13);
    /// The call goes on with a wait that unsuccessful polls before it began, and begins where these ended. No log has it:
    /// [`crate::polling`] sets it.
    pub const POLLED: CallFlags = CallFlags(1 << 14);
    /// A completion call none of whose requests was active: it returned at once and did nothing (MPI-4.1 §3.7.3, §3.7.5).
    pub const INACTIVE: CallFlags = CallFlags(1 << 15);

    /// Every fact with its name, in the order of the bits.
    pub const NAMED: &[(CallFlags, &str)] = &[
        (Self::ANY_SOURCE, "any-source"),
        (Self::ANY_TAG, "any-tag"),
        (Self::FAILED, "failed"),
        (Self::UNFINISHED, "unfinished"),
        (Self::CANCELLED, "cancelled"),
        (Self::PERSISTENT, "persistent"),
        (Self::NOTHING, "nothing"),
        (Self::UNKNOWN_REQUEST, "unknown-request"),
        (Self::FORTRAN, "fortran"),
        (Self::EXCLUSIVE, "exclusive"),
        (Self::INACTIVE, "inactive"),
    ];

    /// Returns the flags of a call that has only an activity.
    #[inline(always)]
    pub const fn from_activity(activity: Activity) -> Self {
        CallFlags(activity as u16)
    }

    /// Returns the activity, which is in the lowest three bits.
    #[inline(always)]
    pub fn activity(self) -> Activity {
        Activity::from_bits(self.0)
    }

    /// Returns the number of the activity.
    #[inline(always)]
    pub const fn activity_number(self) -> u16 {
        self.0 & Activity::MASK
    }

    /// Replaces the activity.
    #[inline(always)]
    pub const fn with_activity(self, activity: Activity) -> Self {
        self.with_activity_number(activity as u16)
    }

    /// Replaces the activity by its number.
    #[inline(always)]
    pub const fn with_activity_number(self, number: u16) -> Self {
        CallFlags(self.0 & !Activity::MASK | number)
    }

    /// Returns whether all of `other`'s facts hold.
    #[inline(always)]
    pub const fn contains(self, other: CallFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for CallFlags {
    type Output = CallFlags;
    #[inline(always)]
    fn bitor(self, other: CallFlags) -> CallFlags {
        CallFlags(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for CallFlags {
    #[inline(always)]
    fn bitor_assign(&mut self, other: CallFlags) {
        self.0 |= other.0;
    }
}
