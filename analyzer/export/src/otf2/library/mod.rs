//! OTF2's C library, which is opened at run time: lb-report needs it for this format alone.

mod archive;
mod definitions;
mod events;
mod functions;

pub use self::archive::{ArchiveFacts, Otf2Archive};
pub use self::definitions::{DefinitionWriter, GroupFacts, RegionFacts};
pub use self::events::{AttributeValue, CollectiveFacts, EventWriter, MessageFacts};
pub use self::functions::Otf2Library;

/// The number of a definition: of a text, a region, a communicator …
pub type Ref = u32;

/// The number of a definition that there is not, or is not known.
pub const UNDEFINED: Ref = Ref::MAX;
