//! The ranks of this host that run the library: they find each other without a message of MPI, which other ranks of the job might
//! have to take part in.
//!
//! Before MPI_Init each of them listens on a socket without a file, named after the job and its rank. MPI_Init returns when all
//! ranks have entered it, so that afterwards each finds all of them in the system's list of sockets. The first one leads:
//!
//! ```text
//!  first rank    list  accept ──────────── folder ─────────────── members ──────→
//!                         ↑ rank, wanted      ↓ folder  ↑ "here"     ↓ who measures clocks
//!  other ranks   list  connect ──────────────────────────────────────────────────→
//! ```
//!
//! All users of the host can read these names and make such sockets. So a socket counts only if the kernel says that a process of this user and PID
//! namespace is at its other end (SO_PEERCRED). Others are skipped, and never waited for.
//!
//! A rank without an answer goes on alone. One that has said "here" waits for the leader, or for the leader's end. The sockets go with
//! their processes, so that a job which was killed leaves nothing.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::ops::Bound::{Excluded, Unbounded};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

use foldhash::quality::FixedState;

use crate::harmless::guard;
use crate::harmless::signals::HandlerLock;
use crate::machine::system::files::descriptors;
use crate::run::launcher;
use crate::run::messages::{RankIntroduction, frame_message, receive_message};

/// Time for which the leader waits for ranks that it has found, and these for its folder.
const PATIENCE: Duration = Duration::from_secs(10);

/// This process, as it was registered: kept while MPI is initialised. A handler that comes then may leave MPI_Init by siglongjmp, or end the
/// process.
static REGISTERED: HandlerLock<Option<RegisteredSocket>> = HandlerLock::new(None);

/// A socket that others of the job find.
pub struct RegisteredSocket {
    listener: UnixListener,
    /// Prefix of the names of the job's sockets.
    job: String,
    name: String,
}

/// Makes this process, with the `rank` that the launcher gives it, known to others of the job.
pub fn register_socket(key: &str, rank: u32) {
    let mut hasher = FixedState::with_seed(4).build_hasher();
    hasher.write(key.as_bytes());
    // SAFETY: has no preconditions.
    hasher.write_u32(unsafe { libc::getuid() });
    let job = format!("lbprof-{:016x}-", hasher.finish());
    let name = format!("{job}{rank:08}-{}", std::process::id());
    // Without a socket the rank goes on alone.
    let listener = SocketAddr::from_abstract_name(&name)
        .and_then(|address| UnixListener::bind_addr(&address))
        // SAFETY: a new descriptor, and ours alone.
        .and_then(|socket| Ok(unsafe { UnixListener::from_raw_fd(descriptors::duplicate_high(socket.as_raw_fd())?) }));
    if let Ok(listener) = listener
        && let Some(mut registered) = REGISTERED.lock()
    {
        *registered = Some(RegisteredSocket { listener, job, name });
    }
}

/// Takes what [`register_socket`] has made; others cannot find it any more once it is dropped.
pub fn take_registered() -> Option<RegisteredSocket> {
    REGISTERED.lock()?.take()
}

/// The agreement of the ranks of a host so far.
pub enum HostMeeting {
    /// This rank leads the others.
    Leader(HostPeers),
    /// Another one leads; it has sent the folder.
    Member(UnixStream, Vec<u8>),
    /// There is no rank to ask.
    Alone,
}

/// The others, as their leader sees them.
pub struct HostPeers {
    peers: Vec<(RankIntroduction, UnixStream)>,
}

/// Finds the ranks of this host; `own`: this one.
pub fn meet_peers(registered: RegisteredSocket, own: RankIntroduction) -> HostMeeting {
    let mut names = all_sockets(&registered.job);
    names.insert(registered.name.clone());
    for name in names.iter().take_while(|name| **name != registered.name) {
        if let Some(leader) = connect_to_own_user(name) {
            // This rank's own socket stays until then, so that the leader waits for it.
            let answer = ask_leader(leader, own);
            if answer.is_none() {
                guard::say_line(format_args!(
                    "rank {} goes on alone: the first rank of the host did not answer",
                    own.rank
                ));
            }
            return answer.map_or(HostMeeting::Alone, |(stream, offer)| HostMeeting::Member(stream, offer));
        }
    }
    let later = names.range((Excluded(registered.name.clone()), Unbounded));
    let others = later.filter(|name| connect_to_own_user(name).is_some()).count();
    HostMeeting::Leader(accept_peers(&registered.listener, others))
}

/// Connects to a socket of this host, if a process of this user and PID namespace listens there. Never waits for others.
fn connect_to_own_user(name: &str) -> Option<UnixStream> {
    /// A process of our own empties a full queue in that time; the queue's owner cannot be seen.
    const TRIES: u32 = 20;
    const NAP: Duration = Duration::from_millis(1);
    // SAFETY: an address is plain bytes, of which all are valid.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    // The first byte stays 0: a name without a file.
    let to = address.sun_path.get_mut(1..=name.len())?;
    for (to, from) in to.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    let length = std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len();
    // SAFETY: plain system calls; the descriptor is new, and ours alone.
    let stream = unsafe {
        let number = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, 0);
        if number < 0 {
            return None;
        }
        UnixStream::from_raw_fd(number)
    };
    for _ in 0..TRIES {
        // SAFETY: the address lives, and has `length` bytes.
        if unsafe { libc::connect(stream.as_raw_fd(), (&raw const address).cast(), length as libc::socklen_t) } == 0 {
            stream.set_nonblocking(false).ok()?;
            return is_of_own_user(&stream).then_some(stream);
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::WouldBlock {
            return None;
        }
        std::thread::sleep(NAP);
    }
    None
}

/// Returns whether the process at the other end is of this user and can be seen from our PID namespace, as the kernel says.
fn is_of_own_user(stream: &UnixStream) -> bool {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: a buffer of the length that is stated; geteuid has no preconditions.
    let (code, user) = unsafe {
        let to = (&raw mut peer).cast();
        let code = libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, to, &raw mut length);
        (code, libc::geteuid())
    };
    // A process that is in none of our namespaces has no number here.
    code == 0 && peer.uid == user && peer.pid != 0
}

/// Returns the names of sockets with this prefix, in order. While others come and go the system's list may lack one, so it is read again if the launcher
/// has started more ranks here.
fn all_sockets(prefix: &str) -> BTreeSet<String> {
    const TRIES: u32 = 5;
    const NAP: Duration = Duration::from_millis(1);
    let expected = launcher::ranks_here().unwrap_or(0) as usize;
    let mut names = BTreeSet::new();
    for _ in 0..TRIES {
        names.extend(list_sockets(prefix));
        if names.len() >= expected {
            break;
        }
        std::thread::sleep(NAP);
    }
    names
}

fn list_sockets(prefix: &str) -> Vec<String> {
    let list = std::fs::read("/proc/net/unix").unwrap_or_default();
    let list = String::from_utf8_lossy(&list);
    let paths = list.lines().filter_map(|line| line.split_whitespace().nth(7)?.strip_prefix('@'));
    // A connection has the name of the socket that it was made on.
    paths.filter(|name| name.starts_with(prefix)).map(str::to_owned).collect()
}

/// Waits for `others` connections of this user, no longer than [`PATIENCE`], and for their introductions.
fn accept_peers(listener: &UnixListener, others: usize) -> HostPeers {
    const NAP: Duration = Duration::from_micros(200);
    let mut streams = Vec::new();
    let until = Instant::now() + PATIENCE;
    if listener.set_nonblocking(true).is_ok() {
        while streams.len() < others && Instant::now() < until {
            match listener.accept() {
                Ok((stream, _)) if is_of_own_user(&stream) => streams.push(stream),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(NAP),
                Err(_) => break,
            }
        }
    }
    let peers: Vec<_> = streams.into_iter().filter_map(|stream| read_introduction(stream, until)).collect();
    if peers.len() < others {
        let missing = others - peers.len();
        guard::say_line(format_args!(
            "{missing} rank(s) of this host did not answer for {} s in MPI_Init; the others go on without them",
            PATIENCE.as_secs()
        ));
    }
    HostPeers { peers }
}

/// Sets a deadline for reading from `stream`. Data that has arrived can be read after it, too.
fn set_deadline(stream: &UnixStream, until: Instant) -> io::Result<()> {
    const ARRIVED: Duration = Duration::from_millis(1);
    let rest = until.saturating_duration_since(Instant::now()).max(ARRIVED);
    stream.set_read_timeout(Some(rest))
}

fn read_introduction(mut stream: UnixStream, until: Instant) -> Option<(RankIntroduction, UnixStream)> {
    stream.set_nonblocking(false).ok()?;
    set_deadline(&stream, until).ok()?;
    let mut bytes = [0u8; RankIntroduction::BYTES];
    stream.read_exact(&mut bytes).ok()?;
    Some((RankIntroduction::decoded(bytes), stream))
}

fn ask_leader(mut stream: UnixStream, own: RankIntroduction) -> Option<(UnixStream, Vec<u8>)> {
    send_bytes(&mut stream, &own.encoded()).ok()?;
    // The leader may wait for others as long as this, and then for the folder's file system.
    stream.set_read_timeout(Some(2 * PATIENCE)).ok()?;
    let offer = receive_message(&mut stream).ok()?;
    stream.set_read_timeout(None).ok()?;
    send_bytes(&mut stream, &[1]).ok()?;
    Some((stream, offer))
}

impl HostPeers {
    pub fn peers(&self) -> impl Iterator<Item = RankIntroduction> {
        self.peers.iter().map(|&(peer, _)| peer)
    }

    /// Keeps the peers whose ranks exist, each once, and are not `own`.
    pub fn keep_plausible(&mut self, own: u32, size: usize) {
        let mut ranks = BTreeSet::from([own]);
        self.peers.retain(|&(peer, _)| (peer.rank as usize) < size && ranks.insert(peer.rank));
    }

    /// Sends the folder to the others, and keeps those that acknowledge it in time.
    pub fn offer(&mut self, offer: &[u8]) {
        let until = Instant::now() + PATIENCE;
        self.peers.retain_mut(|(_, stream)| send_message(stream, offer).is_ok());
        self.peers.retain_mut(|(_, stream)| set_deadline(stream, until).is_ok() && stream.read_exact(&mut [0]).is_ok());
    }

    /// Sends the conclusion to the others.
    pub fn conclude(&mut self, conclusion: &[u8]) {
        for (_, stream) in &mut self.peers {
            // One that is gone has no use for it.
            let _ = send_message(stream, conclusion);
        }
    }
}

/// Receives the leader's conclusion, which is empty if the leader is gone.
pub fn receive_conclusion(mut stream: UnixStream) -> Vec<u8> {
    receive_message(&mut stream).unwrap_or_default()
}

fn send_message(stream: &mut UnixStream, message: &[u8]) -> io::Result<()> {
    send_bytes(stream, &frame_message(message))
}

/// Sends without a signal to the program if the other end is gone.
fn send_bytes(stream: &mut UnixStream, bytes: &[u8]) -> io::Result<()> {
    descriptors::run_without_signals(|| stream.write_all(bytes))
}
