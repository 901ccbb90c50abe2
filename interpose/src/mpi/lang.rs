//! Reads arguments: C passes values, Fortran addresses; large-count variants have wider counts.

use std::marker::PhantomData;

use crate::mpi::abi::{AbiFamily, abi};
use crate::mpi::fortran::{self, FortranPlace};
use crate::mpi::symbols;
use crate::word::{Word, int_at};

/// The argument conventions of a family of wrappers. All functions trust that the program calls MPI as the standard says, but for null
/// addresses: those MPI refuses with an error class, after the recorder has looked.
pub trait ArgumentLanguage: Copy {
    /// An MPI_Count or int, as the variant has it.
    const LARGE: bool;
    /// True if arguments are Fortran's.
    const FORTRAN: bool;
    /// True if buffers are descriptors, as in mpi_f08 of a compiler with TS 29113: their first word is the address of the data.
    const DESCRIPTORS: bool;

    /// A plain int: a rank, a tag, a root, a flag.
    ///
    /// # Safety
    /// `word` is such an argument.
    #[inline(always)]
    unsafe fn int(word: Word) -> i32 {
        // SAFETY: Fortran passes the address of an INTEGER.
        if Self::FORTRAN { unsafe { int_at(word) } } else { word as i32 }
    }

    /// A count.
    ///
    /// # Safety
    /// `word` is such an argument.
    #[inline(always)]
    unsafe fn count(word: Word) -> u64 {
        // SAFETY: Fortran passes an address, C the value, of whose register an int fills the lower half.
        let count = unsafe {
            match (Self::FORTRAN, Self::LARGE) {
                (true, true) => (word as *const i64).read(),
                (true, false) => i64::from(int_at(word)),
                (false, true) => word as i64,
                (false, false) => i64::from(word as i32),
            }
        };
        if count < 0 { 0 } else { count as u64 }
    }

    /// Element `i` of an array of counts; 0 where the array is null.
    ///
    /// # Safety
    /// `array` is such an argument with more than `i` elements, or null.
    #[inline(always)]
    unsafe fn count_at(array: Word, i: usize) -> u64 {
        if array == 0 {
            return 0;
        }
        // SAFETY: both languages pass the address of the first element.
        let count = unsafe {
            if Self::LARGE {
                (array as *const i64).add(i).read()
            } else {
                i64::from((array as *const i32).add(i).read())
            }
        };
        if count < 0 { 0 } else { count as u64 }
    }

    /// An int that MPI has stored: a flag, an index, an outcount. Addresses in both languages. 0 where the address is null: MPICH 5 returns
    /// MPI_SUCCESS from a call that it refused, where the program's error handler came back from it.
    ///
    /// # Safety
    /// `word` is such an argument, after a successful call.
    #[inline(always)]
    unsafe fn out_int(word: Word) -> i32 {
        // SAFETY: see above.
        if word == 0 { 0 } else { unsafe { int_at(word) } }
    }

    /// An index that MPI has stored, counted from 0; negative where the array is null.
    ///
    /// # Safety
    /// As [`ArgumentLanguage::out_int`].
    #[inline(always)]
    unsafe fn index_at(array: Word, i: usize) -> i32 {
        if array == 0 {
            return -1;
        }
        // SAFETY: as the caller says. MPI_UNDEFINED is negative in all interfaces and stays so.
        let index = unsafe { (array as *const i32).add(i).read() };
        if Self::FORTRAN { index - 1 } else { index }
    }

    /// A handle passed in, of the kind whose conversion from Fortran is `convert`.
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

    /// Handle `i` of an array, or the handle at an address (a request, a new communicator); 0, which is no handle, where that is null.
    ///
    /// # Safety
    /// `array` is the address of such handles, or null.
    #[inline(always)]
    unsafe fn handle_at(array: Word, i: usize, convert: ConvertedHandle) -> Word {
        if array == 0 {
            return 0;
        }
        // SAFETY: Fortran's are INTEGERs; C's as wide as the interface has them.
        unsafe {
            if Self::FORTRAN {
                from_fortran((array as *const i32).add(i).read(), convert)
            } else if convert.is_narrow() {
                (array as *const u32).add(i).read() as usize
            } else {
                (array as *const usize).add(i).read()
            }
        }
    }

    /// The handles of an array, to be read one after the other.
    #[inline(always)]
    fn handles(array: Word, convert: ConvertedHandle) -> HandleArray<Self>
    where
        Self: Sized,
    {
        HandleArray { array, convert, is_narrow: convert.is_narrow(), language: PhantomData }
    }

    /// Returns whether a status argument says that the program wants none, as `ignore` does in C.
    ///
    /// # Safety
    /// `word` is such an argument.
    #[inline(always)]
    unsafe fn status_ignored(word: Word, ignore: Word) -> bool {
        if Self::FORTRAN { fortran::is_fortran_place(FortranPlace::StatusIgnore, word) } else { word == ignore }
    }

    /// Returns whether an array of statuses is ignored.
    ///
    /// # Safety
    /// `word` is such an argument.
    #[inline(always)]
    unsafe fn statuses_ignored(word: Word) -> bool {
        if Self::FORTRAN {
            fortran::is_fortran_place(FortranPlace::StatusesIgnore, word)
        } else {
            word == abi().statuses_ignore
        }
    }

    /// Returns whether a buffer argument is MPI_IN_PLACE.
    ///
    /// # Safety
    /// `word` is such an argument.
    #[inline(always)]
    unsafe fn in_place(word: Word) -> bool {
        if !Self::FORTRAN {
            return word == abi().in_place;
        }
        // SAFETY: the address of a descriptor. Other buffers are not read, for they may be a device's memory.
        let address = if Self::DESCRIPTORS { unsafe { (word as *const usize).read() } } else { word };
        fortran::is_fortran_place(FortranPlace::InPlace, address)
    }
}

/// Kinds of handle that Fortran and C number differently.
#[derive(Clone, Copy)]
pub enum ConvertedHandle {
    /// MPI_Comm
    Comm,
    /// MPI_Datatype
    Datatype,
    /// MPI_Request
    Request,
    /// MPI_Message
    Message,
    /// MPI_Win
    Win,
    /// MPI_File
    File,
    /// MPI_Op
    Op,
    /// MPI_Group
    Group,
}

impl ConvertedHandle {
    /// Returns whether such a C handle has 32 bits.
    #[inline(always)]
    fn is_narrow(self) -> bool {
        abi().kind == AbiFamily::Mpich && !matches!(self, ConvertedHandle::File)
    }

    /// Bits of such a C handle that count. MPICH's file handles are pointers, unlike its others.
    #[inline(always)]
    fn mask(self) -> usize {
        if matches!(self, ConvertedHandle::File) { usize::MAX } else { abi().handle_mask }
    }
}

/// The handles of an array: how wide they are is looked up once.
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
        // SAFETY: the caller's.
        unsafe {
            if L::FORTRAN || self.array == 0 {
                L::handle_at(self.array, i, self.convert)
            } else if self.is_narrow {
                (self.array as *const u32).add(i).read() as usize
            } else {
                (self.array as *const usize).add(i).read()
            }
        }
    }
}

/// The C handle of a Fortran one.
fn from_fortran(handle: i32, convert: ConvertedHandle) -> Word {
    if convert.is_narrow() {
        return handle as u32 as Word;
    }
    let names = match convert {
        ConvertedHandle::Comm => (c"PMPI_Comm_f2c", c"PMPI_Comm_fromint"),
        ConvertedHandle::Datatype => (c"PMPI_Type_f2c", c"PMPI_Type_fromint"),
        ConvertedHandle::Request => (c"PMPI_Request_f2c", c"PMPI_Request_fromint"),
        ConvertedHandle::Message => (c"PMPI_Message_f2c", c"PMPI_Message_fromint"),
        ConvertedHandle::Win => (c"PMPI_Win_f2c", c"PMPI_Win_fromint"),
        ConvertedHandle::File => (c"PMPI_File_f2c", c"PMPI_File_fromint"),
        ConvertedHandle::Op => (c"PMPI_Op_f2c", c"PMPI_Op_fromint"),
        ConvertedHandle::Group => (c"PMPI_Group_f2c", c"PMPI_Group_fromint"),
    };
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    static FUNCTIONS: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];
    let Some(known) = FUNCTIONS.get(convert as usize) else { return 0 };
    let mut function = known.load(Relaxed);
    if function == 0 {
        function = match symbols::symbol(names.0) {
            0 => symbols::symbol(names.1),
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
    /// C with int counts.
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
