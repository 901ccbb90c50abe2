//! An archive that is written: a folder with a file of events for each location, and one of definitions.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{NonNull, null_mut};

use super::functions::{ErrorCode, FlushCallbacks, Handle, Otf2Library, call};

/// Arguments of `OTF2_Archive_Open`: the mode, bytes of buffers of events and of definitions, plain files, no compression.
const WRITE: u8 = 0;
const EVENT_BYTES: u64 = 1 << 20;
const DEFINITION_BYTES: u64 = 4 << 20;
const PLAIN_FILES: u8 = 1;
const NO_COMPRESSION: u8 = 1;

/// An archive's words about itself.
pub struct ArchiveFacts {
    /// The program that makes it.
    pub creator: String,
    /// Its contents.
    pub description: String,
}

/// An archive that is written.
pub struct Otf2Archive<'a> {
    pub(super) library: &'a Otf2Library,
    archive: NonNull<std::ffi::c_void>,
}

/// The library keeps their address.
static CALLBACKS: FlushCallbacks = FlushCallbacks { pre_flush: write_full_buffer, post_flush: None };

unsafe extern "C" fn write_full_buffer(_: Handle, _: u8, _: u64, _: Handle, _: bool) -> u8 {
    1
}

impl<'a> Otf2Archive<'a> {
    /// Makes an archive in a new folder: `traces.otf2` is its anchor file.
    ///
    /// Errors: what the library says.
    pub fn create(library: &'a Otf2Library, folder: &Path, facts: &ArchiveFacts) -> io::Result<Otf2Archive<'a>> {
        let path = c_string(folder.as_os_str().as_bytes())?;
        let (path, name) = (path.as_ptr(), c"traces".as_ptr());
        let open = library.Archive_Open;
        // SAFETY: Both texts live longer than the call.
        let archive = unsafe { open(path, name, WRITE, EVENT_BYTES, DEFINITION_BYTES, PLAIN_FILES, NO_COMPRESSION) };
        let archive = NonNull::new(archive).ok_or_else(|| io::Error::other("libotf2 cannot make an archive there"))?;
        let archive = Otf2Archive { library, archive };
        let (creator, description) = (c_string(facts.creator.as_bytes())?, c_string(facts.description.as_bytes())?);
        call!(&archive, Archive_SetFlushCallbacks(archive.handle(), &CALLBACKS, null_mut()))?;
        call!(&archive, Archive_SetSerialCollectiveCallbacks(archive.handle()))?;
        call!(&archive, Archive_SetCreator(archive.handle(), creator.as_ptr()))?;
        call!(&archive, Archive_SetDescription(archive.handle(), description.as_ptr()))?;
        Ok(archive)
    }

    pub(super) fn handle(&self) -> Handle {
        self.archive.as_ptr()
    }

    /// Returns an error with the library's text about `code`, if it is one.
    pub(super) fn check(&self, code: ErrorCode) -> io::Result<()> {
        if code <= 0 {
            return Ok(());
        }
        // SAFETY: The text is a constant of the library.
        let text = unsafe { CStr::from_ptr((self.library.Error_GetDescription)(code)) };
        Err(io::Error::other(format!("libotf2: {}", text.to_string_lossy())))
    }

    /// Prepares files for events: until [`Otf2Archive::end_events`], an `EventWriter` can open a location.
    ///
    /// Errors: what the library says.
    pub fn begin_events(&self) -> io::Result<()> {
        call!(self, Archive_OpenEvtFiles(self.handle()))
    }

    /// Completes the files of events, and adds a file of definitions for each location: readers want one, and it may be empty.
    ///
    /// Errors: what the library says.
    pub fn end_events(&self, locations: impl IntoIterator<Item = u64>) -> io::Result<()> {
        call!(self, Archive_CloseEvtFiles(self.handle()))?;
        call!(self, Archive_OpenDefFiles(self.handle()))?;
        for location in locations {
            // SAFETY: The archive is open.
            let writer = unsafe { (self.library.Archive_GetDefWriter)(self.handle(), location) };
            let writer = self.check_handle(writer)?;
            call!(self, Archive_CloseDefWriter(self.handle(), writer.as_ptr()))?;
        }
        call!(self, Archive_CloseDefFiles(self.handle()))
    }

    /// Returns an object that the library made, or an error if it did not.
    pub(super) fn check_handle(&self, handle: Handle) -> io::Result<NonNull<std::ffi::c_void>> {
        NonNull::new(handle).ok_or_else(|| io::Error::other("libotf2 has no memory, or no file"))
    }

    /// Completes the archive.
    ///
    /// Errors: what the library says.
    pub fn close(self) -> io::Result<()> {
        let archive = std::mem::ManuallyDrop::new(self);
        call!(&*archive, Archive_Close(archive.handle()))
    }
}

impl Drop for Otf2Archive<'_> {
    fn drop(&mut self) {
        // There was an error before, which is the one to report.
        let _ = call!(&*self, Archive_Close(self.handle()));
    }
}

pub(super) fn c_string(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(io::Error::other)
}
