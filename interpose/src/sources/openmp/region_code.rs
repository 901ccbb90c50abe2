//! Locates a region in the code: compilers call its start from places that optimization may move into another function.

use std::ffi::{CStr, c_char};

use crate::machine::unwind::PathCall;
use crate::machine::unwind::python::PythonCall;
use crate::state::parallel::RegionLaunch;

#[derive(Clone, Copy)]
pub struct RegionCode {
    caller: usize,
    /// The function that a compiler has made of it; 0: not known.
    function: usize,
    /// True if the name of that function is the one of the function in the source.
    is_named: bool,
    /// Its location in the source ([`SourceLocation`]); 0: not known.
    location: usize,
}

/// `ident_t` of LLVM's run-time library.
#[repr(C)]
struct SourceLocation {
    numbers: [i32; 4],
    /// `;file;function;line;column;;`, where a compiler has such information; else `;unknown;unknown;0;0;;`.
    text: *const c_char,
}

impl RegionCode {
    pub fn with_function(function: usize) -> RegionCode {
        RegionCode { caller: 0, function, is_named: true, location: 0 }
    }

    /// Returns the code of a region that a call from `caller` has started as `launch` says.
    pub fn with_launch(launch: RegionLaunch, caller: usize) -> RegionCode {
        RegionCode { caller, function: launch.function, is_named: false, location: launch.location }
    }

    /// Returns an address that distinguishes it from other regions.
    pub fn address(self) -> usize {
        if self.function != 0 { self.function } else { self.caller }
    }

    /// Returns the call that stands for the region within the call that starts it, or `None` if only the latter does.
    pub fn call(self) -> Option<PathCall> {
        // SAFETY: null, or a constant of the program's.
        if let Some(location) = unsafe { (self.location as *const SourceLocation).as_ref() } {
            // SAFETY: a text that ends with NUL.
            let text = (!location.text.is_null()).then(|| unsafe { CStr::from_ptr(location.text) });
            return text.and_then(source_line).map(PathCall::Python);
        }
        // As if the function's first instruction had made a call.
        (self.is_named && self.function != 0).then(|| PathCall::To(self.function + 1))
    }
}

/// Returns the place in the source that a text of LLVM's stands for.
fn source_line(text: &CStr) -> Option<PythonCall> {
    let text = text.to_str().ok()?;
    let [_, file, function, line, ..] = text.split(';').collect::<Vec<_>>()[..] else { return None };
    let line = line.parse().ok().filter(|&line| line > 0)?;
    Some(PythonCall { function: function.into(), file: file.into(), line, column: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_clang_and_of_builds_without_debug_information_are_read() {
        let text = source_line(c";g_all_kinds.c;assemble;12;13;;")
            .map(|line| format!("{} {}:{}", line.function, line.file, line.line));
        assert_eq!(text.as_deref(), Some("assemble g_all_kinds.c:12"));
        assert_eq!(source_line(c";unknown;unknown;0;0;;"), None);
        assert_eq!(source_line(c"a;b"), None);
    }
}
