//! The languages of callers: C passes values, Fortran addresses; large-count variants have wider counts.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::machine::word::{Word, int_at};
use crate::mpi::abi::{AbiFamily, current_abi};
use crate::mpi::symbols;

/// The argument conventions of a family of wrappers. All functions trust that the program calls MPI as the standard says, except for null
/// addresses, which MPI refuses with an error class after the recorder has looked.
pub trait ArgumentLanguage: Copy {
    /// True if counts are of type MPI_Count, false if they are ints.
    const LARGE: bool;
    const FORTRAN: bool;
    /// True if buffers are descriptors, as in mpi_f08 of a compiler with TS 29113: their first word is the address of the data.
    const DESCRIPTORS: bool;

    /// Reads a plain int: a rank, a tag, a root, a flag.
    ///
    /// # Safety
    /// `word` is such an argument.
    #[inline(always)]
    unsafe fn int(word: Word) -> i32 {
        // SAFETY: Fortran passes the address of an INTEGER.
        if Self::FORTRAN { unsafe { int_at(word) } } else { word as i32 }
    }

    /// Reads a handle that is passed in.
    ///
    /// # Safety
    /// `word` is such an argument.
    #[inline(always)]
    unsafe fn handle(word: Word, convert: ConvertedHandle) -> Word {
        if Self::FORTRAN {
            // SAFETY: Fortran passes the address of an INTEGER (mpif.h) or of a type that holds one (mpi_f08).
            unsafe { from_fortran(int_at(word), convert) }
        } else {
            word & convert.mask()
        }
    }

    /// Reads handle `i` of an array, or the handle at an address (a request, a new communicator). Returns 0, which is no handle, if the
    /// address is null.
    ///
    /// # Safety
    /// `array` is the address of such handles, or null.
    #[inline(always)]
    unsafe fn handle_at(array: Word, i: usize, convert: ConvertedHandle) -> Word {
        // SAFETY: the caller's promise.
        unsafe { Self::handles(array, convert).handle_at(i) }
    }

    /// Returns the handles of an array, to be read one after the other.
    #[inline(always)]
    fn handles(array: Word, convert: ConvertedHandle) -> HandleArray<Self> {
        HandleArray { array, convert, is_narrow: convert.is_narrow(), language: PhantomData }
    }
}

/// Kinds of handle that Fortran and C number differently, in the order of [`from_fortran`]'s functions.
#[derive(Clone, Copy)]
pub enum ConvertedHandle {
    Comm,
    Datatype,
    Request,
    Message,
    Win,
    File,
    Op,
    Group,
    Session,
}

impl ConvertedHandle {
    /// Returns whether such a C handle has 32 bits.
    #[inline(always)]
    fn is_narrow(self) -> bool {
        current_abi().kind == AbiFamily::Mpich && !matches!(self, ConvertedHandle::File)
    }

    /// Returns the bits of such a C handle that count. MPICH's file handles are pointers, unlike its others.
    #[inline(always)]
    fn mask(self) -> usize {
        if matches!(self, ConvertedHandle::File) { usize::MAX } else { current_abi().handle_mask }
    }
}

/// The handles of an array. Their width is looked up once.
pub struct HandleArray<L> {
    array: Word,
    convert: ConvertedHandle,
    is_narrow: bool,
    language: PhantomData<L>,
}

impl<L: ArgumentLanguage> HandleArray<L> {
    /// Reads a handle, see [`ArgumentLanguage::handle_at`].
    ///
    /// # Safety
    /// The array has more than `i` handles, or is null.
    #[inline(always)]
    pub unsafe fn handle_at(&self, i: usize) -> Word {
        if self.array == 0 {
            return 0;
        }
        // SAFETY: the caller's. Fortran's handles are INTEGERs; the interface says how wide C's are.
        unsafe {
            if L::FORTRAN {
                from_fortran((self.array as *const i32).add(i).read(), self.convert)
            } else if self.is_narrow {
                (self.array as *const u32).add(i).read() as usize
            } else {
                (self.array as *const usize).add(i).read()
            }
        }
    }
}

fn from_fortran(handle: i32, convert: ConvertedHandle) -> Word {
    if convert.is_narrow() {
        return handle as u32 as Word;
    }
    /// The functions that convert: of MPI 4, and of MPI 5.
    const NAMES: [(&CStr, &CStr); 9] = [
        (c"PMPI_Comm_f2c", c"PMPI_Comm_fromint"),
        (c"PMPI_Type_f2c", c"PMPI_Type_fromint"),
        (c"PMPI_Request_f2c", c"PMPI_Request_fromint"),
        (c"PMPI_Message_f2c", c"PMPI_Message_fromint"),
        (c"PMPI_Win_f2c", c"PMPI_Win_fromint"),
        (c"PMPI_File_f2c", c"PMPI_File_fromint"),
        (c"PMPI_Op_f2c", c"PMPI_Op_fromint"),
        (c"PMPI_Group_f2c", c"PMPI_Group_fromint"),
        (c"PMPI_Session_f2c", c"PMPI_Session_fromint"),
    ];
    static FUNCTIONS: [AtomicUsize; NAMES.len()] = [const { AtomicUsize::new(0) }; NAMES.len()];
    let (Some(names), Some(known)) = (NAMES.get(convert as usize), FUNCTIONS.get(convert as usize)) else { return 0 };
    let mut function = known.load(Relaxed);
    if function == 0 {
        function = match symbols::find_symbol(names.0) {
            0 => symbols::find_symbol(names.1),
            found => found,
        };
        known.store(function, Relaxed);
    }
    if function == 0 {
        return handle as u32 as Word;
    }
    // SAFETY: the standard's signature: a Fortran integer in, a handle out; a local look-up.
    unsafe {
        let function: unsafe extern "C" fn(i32) -> Word = std::mem::transmute(function);
        function(handle) & convert.mask()
    }
}

macro_rules! languages {
    ($($(#[$doc:meta])* $name:ident $fortran:literal $large:literal $descriptors:literal;)*) => {
        $($(#[$doc])* #[derive(Clone, Copy)] pub struct $name;
        impl ArgumentLanguage for $name {
            const FORTRAN: bool = $fortran;
            const LARGE: bool = $large;
            const DESCRIPTORS: bool = $descriptors;
        })*
    };
}

languages! {
    C false false false;
    /// C with MPI_Count counts (`_c`).
    CLarge false true false;
    /// Fortran with INTEGER counts.
    Fortran true false false;
    /// Fortran with INTEGER(MPI_COUNT_KIND) counts.
    FortranLarge true true false;
    /// Fortran with INTEGER counts, buffers as descriptors (`_f08ts`).
    FortranDescribed true false true;
    /// Fortran with INTEGER(MPI_COUNT_KIND) counts, buffers as descriptors.
    FortranLargeDescribed true true true;
}
