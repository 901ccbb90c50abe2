//! The functions of the library, and how it is found.
//!
//! The declarations follow `otf2.h` of version 3.0. Its enumerations have fixed widths, and are integers here.

use std::ffi::{c_char, c_int, c_void};
use std::io;

use libloading::Library;

use super::Ref;

/// Names of the library: as OTF2 installs itself, and as Debian names it.
const NAMES: [&str; 4] = ["libotf2.so.10", "libopen-trace-format2.so.10", "libopen-trace-format2.so", "libotf2.so"];

/// A function that the library has since version 3, in which some of the others got further arguments.
const SINCE_VERSION_3: &[u8] = b"OTF2_EvtWriter_CommCreate";

/// The result of a function: 0 is success, negative numbers are warnings.
pub type ErrorCode = c_int;

/// An object of the library.
pub type Handle = *mut c_void;

/// The callbacks of `OTF2_FlushCallbacks`.
#[repr(C)]
pub struct FlushCallbacks {
    /// Asks whether a full buffer is to be written.
    pub pre_flush: unsafe extern "C" fn(Handle, u8, u64, Handle, bool) -> u8,
    /// Returns the time of a flush; without it the library notes none in the trace.
    pub post_flush: Option<unsafe extern "C" fn(Handle, u8, u64) -> u64>,
}

/// Declares functions by their names without `OTF2_`, and loads all of them.
macro_rules! functions {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        /// OTF2's library.
        #[expect(non_snake_case, reason = "the library's own names")]
        pub struct Otf2Library {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> $result,)*
            /// Keeps the functions in memory.
            _library: Library,
        }

        impl Otf2Library {
            fn from_library(library: Library) -> Result<Otf2Library, libloading::Error> {
                // SAFETY: It is not called.
                unsafe { library.get::<*const c_void>(SINCE_VERSION_3)? };
                Ok(Otf2Library {
                    $(
                        // SAFETY: A function of this name in OTF2 3 has the declared type: the table was compared with its headers.
                        $name: unsafe { *library.get(concat!("OTF2_", stringify!($name)).as_bytes())? },
                    )*
                    _library: library,
                })
            }
        }
    };
}

functions! {
    // path, name, mode, bytes of buffers of events and of definitions, kind of files, compression
    Archive_Open(*const c_char, *const c_char, u8, u64, u64, u8, u8) -> Handle;
    Archive_SetFlushCallbacks(Handle, *const FlushCallbacks, Handle) -> ErrorCode;
    Archive_SetSerialCollectiveCallbacks(Handle) -> ErrorCode;
    Archive_SetCreator(Handle, *const c_char) -> ErrorCode;
    Archive_SetDescription(Handle, *const c_char) -> ErrorCode;
    Archive_OpenEvtFiles(Handle) -> ErrorCode;
    Archive_CloseEvtFiles(Handle) -> ErrorCode;
    Archive_OpenDefFiles(Handle) -> ErrorCode;
    Archive_CloseDefFiles(Handle) -> ErrorCode;
    Archive_GetEvtWriter(Handle, u64) -> Handle;
    Archive_CloseEvtWriter(Handle, Handle) -> ErrorCode;
    Archive_GetDefWriter(Handle, u64) -> Handle;
    Archive_CloseDefWriter(Handle, Handle) -> ErrorCode;
    Archive_GetGlobalDefWriter(Handle) -> Handle;
    Archive_Close(Handle) -> ErrorCode;
    Error_GetDescription(ErrorCode) -> *const c_char;
    // writer, attributes, time, …
    EvtWriter_Enter(Handle, Handle, u64, Ref) -> ErrorCode;
    EvtWriter_Leave(Handle, Handle, u64, Ref) -> ErrorCode;
    EvtWriter_MpiSend(Handle, Handle, u64, u32, Ref, u32, u64) -> ErrorCode;
    EvtWriter_MpiRecv(Handle, Handle, u64, u32, Ref, u32, u64) -> ErrorCode;
    EvtWriter_MpiIsend(Handle, Handle, u64, u32, Ref, u32, u64, u64) -> ErrorCode;
    EvtWriter_MpiIsendComplete(Handle, Handle, u64, u64) -> ErrorCode;
    EvtWriter_MpiIrecvRequest(Handle, Handle, u64, u64) -> ErrorCode;
    EvtWriter_MpiIrecv(Handle, Handle, u64, u32, Ref, u32, u64, u64) -> ErrorCode;
    EvtWriter_MpiRequestTest(Handle, Handle, u64, u64) -> ErrorCode;
    EvtWriter_MpiRequestCancelled(Handle, Handle, u64, u64) -> ErrorCode;
    EvtWriter_MpiCollectiveBegin(Handle, Handle, u64) -> ErrorCode;
    EvtWriter_MpiCollectiveEnd(Handle, Handle, u64, u8, Ref, u32, u64, u64) -> ErrorCode;
    AttributeList_New() -> Handle;
    AttributeList_Delete(Handle) -> ErrorCode;
    AttributeList_AddStringRef(Handle, Ref, Ref) -> ErrorCode;
    AttributeList_AddUint32(Handle, Ref, u32) -> ErrorCode;
    AttributeList_AddUint64(Handle, Ref, u64) -> ErrorCode;
    // writer, number of the definition, …
    GlobalDefWriter_WriteClockProperties(Handle, u64, u64, u64, u64) -> ErrorCode;
    GlobalDefWriter_WriteParadigm(Handle, u8, Ref, u8) -> ErrorCode;
    GlobalDefWriter_WriteString(Handle, Ref, *const c_char) -> ErrorCode;
    GlobalDefWriter_WriteAttribute(Handle, Ref, Ref, Ref, u8) -> ErrorCode;
    GlobalDefWriter_WriteSystemTreeNode(Handle, Ref, Ref, Ref, Ref) -> ErrorCode;
    GlobalDefWriter_WriteLocationGroup(Handle, Ref, Ref, u8, Ref, Ref) -> ErrorCode;
    GlobalDefWriter_WriteLocation(Handle, u64, Ref, u8, u64, Ref) -> ErrorCode;
    GlobalDefWriter_WriteRegion(Handle, Ref, Ref, Ref, Ref, u8, u8, u32, Ref, u32, u32) -> ErrorCode;
    GlobalDefWriter_WriteGroup(Handle, Ref, Ref, u8, u8, u32, u32, *const u64) -> ErrorCode;
    GlobalDefWriter_WriteComm(Handle, Ref, Ref, Ref, Ref, u32) -> ErrorCode;
}

impl Otf2Library {
    /// Opens the library of the system, or the one that LD_LIBRARY_PATH leads to.
    ///
    /// Errors: there is none, or it is older than version 3. The text says what to install.
    pub fn open() -> io::Result<Otf2Library> {
        let mut reason = String::new();
        for name in NAMES {
            // SAFETY: Opening the library runs only code of its compiler.
            match unsafe { Library::new(name) } {
                Ok(library) => {
                    return Otf2Library::from_library(library)
                        .map_err(|error| missing_library_error(&error.to_string()));
                }
                Err(error) => reason = error.to_string(),
            }
        }
        Err(missing_library_error(&reason))
    }
}

fn missing_library_error(reason: &str) -> io::Error {
    io::Error::other(format!(
        "the format otf2 needs the library of OTF2, 3.0 or newer: {reason}. Install libotf2-trace-dev (Debian, Ubuntu) or otf2 (Spack, \
         EasyBuild, conda-forge), and add its folder to LD_LIBRARY_PATH if it is not one of the system"
    ))
}

/// Calls a function of the library with a handle of an open archive, and makes an error of its code.
///
/// The handles in the arguments belong to the same archive and are open, because each is held by a value that borrows the archive and closes
/// it when it is dropped; texts and arrays live longer than the call.
macro_rules! call {
    ($archive:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let archive = $archive;
        // SAFETY: See above.
        archive.check(unsafe { (archive.library.$function)($($argument),*) })
    }};
}
pub(super) use call;
