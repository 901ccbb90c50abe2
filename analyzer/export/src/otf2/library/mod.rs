//! OTF2's C library, which is opened at run time: lb-report needs it for this format alone.

mod archive;
mod definitions;
mod events;
mod functions;

pub(super) use self::archive::{ArchiveFacts, Otf2Archive};
pub(super) use self::definitions::DefinitionWriter;
pub(super) use self::events::{CALL_SITE, DELAY_SOURCE, EventWriter, TraceEvent, WAIT_STATE, WAITING, WaitAttributes};
pub use self::functions::Otf2Library;

/// The number of a definition: of a text, a region, a communicator …
pub type Ref = u32;

/// The number of a definition that there is not, or is not known.
pub const UNDEFINED: Ref = Ref::MAX;

/// The `OTF2_Paradigm` of MPI.
pub const MPI: u8 = 4;
