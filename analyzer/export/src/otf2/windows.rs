//! Converts one-sided communication to OTF2's events of remote memory access.
//!
//! ```text
//!   MPI_Win_create   MPI_Put   MPI_Win_flush_local      MPI_Win_unlock
//!   RmaWinCreate     RmaPut    RmaOpCompleteBlocking    RmaOpCompleteRemote, RmaReleaseLock
//!                              (complete at its origin) (complete at its target)
//! ```
//!
//! A call that completes transfers at their targets completes them at their origin, too. Post, start, complete and wait synchronise with a group
//! (`RmaGroupSync`), which the replay names after the call.

use std::collections::{BTreeMap, HashMap};

use lbprof_analysis::replay::StateInterval;
use lbprof_collector::Operation;
use lbprof_collector::record::NONE;

use super::comms::TraceComms;
use super::library::{Ref, UNDEFINED, WindowEvent};

/// Values of `OTF2_CollectiveOp`.
const BARRIER: u8 = 0;
const CREATE_HANDLE: u8 = 17;
const DESTROY_HANDLE: u8 = 18;
const CREATE_HANDLE_AND_ALLOCATE: u8 = 21;
const DESTROY_HANDLE_AND_DEALLOCATE: u8 = 22;

/// Values of `OTF2_RmaSyncLevel`.
const PROCESS: u32 = 1;
const PROCESS_AND_MEMORY: u32 = 3;

/// Values of `OTF2_RmaAtomicType`.
const ACCUMULATE: u8 = 0;
const COMPARE_AND_SWAP: u8 = 3;
const FETCH_AND_ACCUMULATE: u8 = 7;

/// The use that a call makes of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WindowUse {
    Create {
        allocates: bool,
    },
    Free,
    Fence,
    Put,
    Get,
    Atomic(u8),
    Lock,
    LockAll,
    Unlock,
    UnlockAll,
    /// Completes transfers at their origin.
    FlushLocal,
    /// Completes them at their targets, too.
    Flush,
    /// Begins an epoch with a group.
    PostOrStart,
    /// Ends an access to a group: completes transfers as a flush does.
    CompleteEpoch,
    /// Ends an exposure to a group.
    WaitForGroup,
    /// Makes the copies of the rank's memory equal.
    Sync,
}

impl WindowUse {
    /// Returns the use of a window that an operation makes, or `None` if it has no event.
    fn of_operation(number: u16) -> Option<WindowUse> {
        use Operation::*;
        Some(match Operation::from_number(number)? {
            Win_create | Win_create_dynamic => WindowUse::Create { allocates: false },
            Win_allocate | Win_allocate_shared => WindowUse::Create { allocates: true },
            Win_free => WindowUse::Free,
            Win_fence => WindowUse::Fence,
            Put | Rput => WindowUse::Put,
            Get | Rget => WindowUse::Get,
            Accumulate | Raccumulate => WindowUse::Atomic(ACCUMULATE),
            Get_accumulate | Rget_accumulate | Fetch_and_op => WindowUse::Atomic(FETCH_AND_ACCUMULATE),
            Compare_and_swap => WindowUse::Atomic(COMPARE_AND_SWAP),
            Win_lock => WindowUse::Lock,
            Win_lock_all => WindowUse::LockAll,
            Win_unlock => WindowUse::Unlock,
            Win_unlock_all => WindowUse::UnlockAll,
            Win_flush_local | Win_flush_local_all => WindowUse::FlushLocal,
            Win_flush | Win_flush_all => WindowUse::Flush,
            Win_post | Win_start => WindowUse::PostOrStart,
            Win_complete => WindowUse::CompleteEpoch,
            Win_wait | Win_test => WindowUse::WaitForGroup,
            Win_sync => WindowUse::Sync,
            _ => return None,
        })
    }
}

/// A window.
pub struct TraceWindow {
    /// Its communicator.
    pub comm: Ref,
    /// Number of the window, from 0.
    pub number: u32,
    /// True if its creation is in the trace.
    pub is_created: bool,
    allocates: bool,
}

/// Transfers of a rank to another one on a window, numbered in the order of their calls.
#[derive(Default)]
struct NumberedTransfers {
    next: u64,
    /// Operations with lower numbers are complete at their origin.
    local: u64,
    /// Operations with lower numbers are complete at their target.
    remote: u64,
}

/// The transfers of a rank on a window that a call completes.
#[derive(Clone, Copy)]
struct EndedTransfers {
    rank: u32,
    window: Ref,
    /// `None`: to all ranks.
    target: Option<u32>,
    n_members: u64,
    is_remote: bool,
}

/// A synchronization with a group on a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupSync {
    /// The window.
    pub window: Ref,
    /// The value of `OTF2_RmaSyncLevel`.
    pub level: u32,
}

/// Events of a call.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct CallEvents {
    /// At its begin.
    pub begin: Vec<WindowEvent>,
    /// At its end.
    pub end: Vec<WindowEvent>,
    /// After these, once the members of the group are known.
    pub group_sync: Option<GroupSync>,
}

/// The windows of a trace, and their transfers.
#[derive(Default)]
pub struct TraceWindows {
    /// The windows, by number.
    pub windows: Vec<TraceWindow>,
    numbers: HashMap<(u32, u32), Ref>,
    /// By world rank, window and target.
    transfers: BTreeMap<(u32, Ref, u32), NumberedTransfers>,
}

impl TraceWindows {
    /// Returns the events of a call of a rank: none if its window is not known, or if the other rank is not in the trace.
    pub fn events(&mut self, state: &StateInterval, rank: u32, comms: &TraceComms) -> CallEvents {
        self.find_events(state, rank, comms).unwrap_or_default()
    }

    fn find_events(&mut self, state: &StateInterval, rank: u32, comms: &TraceComms) -> Option<CallEvents> {
        let facts = state.facts;
        if facts.rma_window == NONE {
            return None;
        }
        let used = WindowUse::of_operation(state.operation)?;
        let n_members = comms.comms.get(facts.comm as usize)?.places.len() as u64;
        let window = self.number(facts.comm, facts.rma_window);
        let remote = match facts.peer {
            NONE => None,
            peer => Some(comms.find_peer(facts.comm, rank, peer).filter(|&(comm, _)| comm == facts.comm)?.1),
        };
        let all = EndedTransfers { rank, window, target: None, n_members, is_remote: true };
        let (mut begin, mut end, mut group_sync) = (Vec::new(), Vec::new(), None);
        match used {
            WindowUse::Create { allocates } => {
                let known = &mut self.windows[window as usize];
                (known.is_created, known.allocates) = (true, allocates);
                let operation = if allocates { CREATE_HANDLE_AND_ALLOCATE } else { CREATE_HANDLE };
                begin.push(WindowEvent::BeginCollective);
                end.push(WindowEvent::Create { window });
                end.push(WindowEvent::EndCollective { operation, level: PROCESS, window });
            }
            WindowUse::Free => {
                let allocates = self.windows[window as usize].allocates;
                let operation = if allocates { DESTROY_HANDLE_AND_DEALLOCATE } else { DESTROY_HANDLE };
                begin.push(WindowEvent::BeginCollective);
                self.complete(all, &mut end);
                end.push(WindowEvent::Destroy { window });
                end.push(WindowEvent::EndCollective { operation, level: PROCESS, window });
            }
            WindowUse::Fence => {
                begin.push(WindowEvent::BeginCollective);
                self.complete(all, &mut end);
                end.push(WindowEvent::EndCollective { operation: BARRIER, level: PROCESS_AND_MEMORY, window });
            }
            WindowUse::Put | WindowUse::Get | WindowUse::Atomic(_) => {
                let remote = remote?;
                let transfers = self.transfers.entry((rank, window, remote)).or_default();
                let id = transfer_id(transfers.next, remote, n_members);
                transfers.next += 1;
                let (sent, received) = (facts.sent, facts.received);
                begin.push(match used {
                    WindowUse::Put => WindowEvent::Put { window, remote, bytes: sent, id },
                    WindowUse::Get => WindowEvent::Get { window, remote, bytes: received, id },
                    WindowUse::Atomic(kind) => WindowEvent::Atomic { window, remote, kind, sent, received, id },
                    _ => return None,
                });
            }
            WindowUse::Lock | WindowUse::LockAll => {
                let remote = if used == WindowUse::LockAll { UNDEFINED } else { remote? };
                end.push(WindowEvent::AcquireLock { window, remote, exclusive: facts.exclusive });
            }
            WindowUse::Unlock | WindowUse::UnlockAll => {
                let target = if used == WindowUse::UnlockAll { None } else { Some(remote?) };
                self.complete(EndedTransfers { target, ..all }, &mut end);
                end.push(WindowEvent::ReleaseLock { window, remote: target.unwrap_or(UNDEFINED) });
            }
            WindowUse::Flush | WindowUse::FlushLocal => {
                let is_remote = used == WindowUse::Flush;
                self.complete(EndedTransfers { target: remote, is_remote, ..all }, &mut end);
            }
            WindowUse::PostOrStart => group_sync = Some(GroupSync { window, level: PROCESS }),
            WindowUse::CompleteEpoch | WindowUse::WaitForGroup => {
                if used == WindowUse::CompleteEpoch {
                    self.complete(all, &mut end);
                }
                group_sync = Some(GroupSync { window, level: PROCESS_AND_MEMORY });
            }
            WindowUse::Sync => {
                let (_, remote) = comms.find_peer(facts.comm, rank, rank).filter(|&(comm, _)| comm == facts.comm)?;
                end.push(WindowEvent::SynchronizeMemory { window, remote });
            }
        }
        Some(CallEvents { begin, end, group_sync })
    }

    /// Returns the number of a window of a communicator.
    fn number(&mut self, comm: u32, number: u32) -> Ref {
        let windows = &mut self.windows;
        *self.numbers.entry((comm, number)).or_insert_with(|| {
            windows.push(TraceWindow { comm, number, is_created: false, allocates: false });
            windows.len() as Ref - 1
        })
    }

    /// Completes transfers: at their origin, and if the call `is_remote`, at their targets.
    fn complete(&mut self, ended: EndedTransfers, events: &mut Vec<WindowEvent>) {
        let EndedTransfers { rank, window, target, n_members, is_remote } = ended;
        let (first, last) = target.map_or((0, u32::MAX), |target| (target, target));
        let ended = self.transfers.range_mut((rank, window, first)..=(rank, window, last));
        for (&(.., remote), transfers) in ended {
            for n in transfers.local..transfers.next {
                events.push(WindowEvent::Complete { window, id: transfer_id(n, remote, n_members) });
            }
            transfers.local = transfers.next;
            if is_remote {
                for n in transfers.remote..transfers.next {
                    events.push(WindowEvent::CompleteRemote { window, id: transfer_id(n, remote, n_members) });
                }
                transfers.remote = transfers.next;
            }
        }
    }
}

/// Returns the number of the `n`-th transfer to a target, which no other transfer of the rank on the window has.
fn transfer_id(n: u64, remote: u32, n_members: u64) -> u64 {
    n.wrapping_mul(n_members).wrapping_add(remote.into())
}
