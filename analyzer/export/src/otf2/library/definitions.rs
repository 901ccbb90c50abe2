//! The definitions that the events of all locations refer to by number.

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

use super::archive::{Otf2Archive, c_string};
use super::functions::call;
use super::{MPI, Ref, UNDEFINED};

const NANOSECONDS: u64 = 1_000_000_000;

/// `OTF2_LOCATION_GROUP_TYPE_PROCESS`, `OTF2_LOCATION_TYPE_CPU_THREAD`.
const PROCESS: u8 = 1;
const CPU_THREAD: u8 = 1;

/// Writes definitions.
pub struct DefinitionWriter<'a> {
    archive: &'a Otf2Archive<'a>,
    writer: NonNull<c_void>,
}

impl<'a> DefinitionWriter<'a> {
    /// Opens an archive for its definitions.
    ///
    /// Errors: what the library says, here and below.
    pub fn open(archive: &'a Otf2Archive<'a>) -> io::Result<DefinitionWriter<'a>> {
        // SAFETY: The archive is open.
        let writer = archive.check_handle(unsafe { (archive.library.Archive_GetGlobalDefWriter)(archive.handle()) })?;
        Ok(DefinitionWriter { archive, writer })
    }

    /// Defines the clock: nanoseconds from 0 to `end_ns`, of which 0 is `started_unix_ns` since 1970.
    ///
    /// Errors: what the library says.
    pub fn define_clock(&self, end_ns: u64, started_unix_ns: u64) -> io::Result<()> {
        let writer = self.writer.as_ptr();
        call!(self.archive, GlobalDefWriter_WriteClockProperties(writer, NANOSECONDS, 0, end_ns, started_unix_ns))
    }

    /// Defines a text. It ends where a C string does.
    pub fn define_text(&self, number: Ref, text: &str) -> io::Result<()> {
        let text = c_string(text.split('\0').next().unwrap_or_default().as_bytes())?;
        call!(self.archive, GlobalDefWriter_WriteString(self.writer.as_ptr(), number, text.as_ptr()))
    }

    /// Defines a paradigm that is used.
    pub fn define_paradigm(&self, paradigm: u8, name: Ref, class: u8) -> io::Result<()> {
        call!(self.archive, GlobalDefWriter_WriteParadigm(self.writer.as_ptr(), paradigm, name, class))
    }

    /// Defines an attribute of events by its `OTF2_Type`.
    pub fn define_attribute(&self, number: Ref, name: Ref, description: Ref, kind: u8) -> io::Result<()> {
        let writer = self.writer.as_ptr();
        call!(self.archive, GlobalDefWriter_WriteAttribute(writer, number, name, description, kind))
    }

    /// Defines a part of the machine, which lies in `parent`.
    pub fn define_machine_part(&self, number: Ref, name: Ref, class: Ref, parent: Ref) -> io::Result<()> {
        let writer = self.writer.as_ptr();
        call!(self.archive, GlobalDefWriter_WriteSystemTreeNode(writer, number, name, class, parent))
    }

    /// Defines a process on a host.
    pub fn define_process(&self, number: Ref, name: Ref, host: Ref) -> io::Result<()> {
        let writer = self.writer.as_ptr();
        call!(self.archive, GlobalDefWriter_WriteLocationGroup(writer, number, name, PROCESS, host, UNDEFINED))
    }

    /// Defines a thread of a process as a location with `n_events` events.
    pub fn define_thread(&self, location: u64, name: Ref, n_events: u64, process: Ref) -> io::Result<()> {
        let writer = self.writer.as_ptr();
        call!(self.archive, GlobalDefWriter_WriteLocation(writer, location, name, CPU_THREAD, n_events, process))
    }

    /// Defines a region by its `OTF2_RegionRole` and `OTF2_Paradigm`. `empty` is an empty text, its description.
    pub fn define_region(&self, number: Ref, name: Ref, role: u8, paradigm: u8, empty: Ref) -> io::Result<()> {
        let writer = self.writer.as_ptr();
        call!(
            self.archive,
            GlobalDefWriter_WriteRegion(writer, number, name, name, empty, role, paradigm, 0, UNDEFINED, 0, 0)
        )
    }

    /// Defines a group of MPI by its `OTF2_GroupType`. The members of a communicator are indices in the group of all locations of MPI, whose own
    /// members are locations. `empty` is an empty text, its name.
    pub fn define_group(&self, number: Ref, empty: Ref, kind: u8, members: &[u64]) -> io::Result<()> {
        let n_members = u32::try_from(members.len()).map_err(io::Error::other)?;
        let writer = self.writer.as_ptr();
        call!(
            self.archive,
            GlobalDefWriter_WriteGroup(writer, number, empty, kind, MPI, 0, n_members, members.as_ptr())
        )
    }

    /// Defines a communicator of a group.
    pub fn define_comm(&self, number: Ref, name: Ref, group: Ref) -> io::Result<()> {
        call!(self.archive, GlobalDefWriter_WriteComm(self.writer.as_ptr(), number, name, group, UNDEFINED, 0))
    }
}
