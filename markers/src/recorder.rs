//! The recorder's functions, as `struct lbprof_api` of lbprof.h has them, if the recorder is in the process.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char, c_double, c_int};

/// `struct lbprof_api`, version 1. The recorder's may have more members.
#[repr(C)]
pub(crate) struct RecorderFunctions {
    size: usize,
    phase_begin: unsafe extern "C" fn(*const c_char, c_int),
    phase_end: unsafe extern "C" fn(*const c_char),
    iteration_begin: unsafe extern "C" fn(*const c_char),
    iteration_end: unsafe extern "C" fn(*const c_char),
    work: unsafe extern "C" fn(c_double, c_double),
    count: unsafe extern "C" fn(*const c_char, c_double),
    param: unsafe extern "C" fn(*const c_char, c_double),
    record: unsafe extern "C" fn(c_int),
}

#[expect(unsafe_code, reason = "the recorder's functions are found by name in the process, as lbprof.h finds them")]
impl RecorderFunctions {
    /// Returns the recorder, or `None` if it is not in the process.
    #[cfg(target_os = "linux")]
    pub(crate) fn find() -> Option<&'static RecorderFunctions> {
        use std::sync::OnceLock;
        static FOUND: OnceLock<Option<&'static RecorderFunctions>> = OnceLock::new();
        *FOUND.get_or_init(|| {
            // SAFETY: the name is a C string.
            let entry = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"lbprof_api".as_ptr()) };
            if entry.is_null() {
                return None;
            }
            // SAFETY: a function of this name is the recorder's entry, as lbprof.h declares it, and stays in the process.
            let entry: extern "C" fn(c_int) -> *const RecorderFunctions = unsafe { std::mem::transmute(entry) };
            // SAFETY: for version 1 it returns a structure that starts like this one and lasts as long as the process, or null.
            unsafe { entry(1).as_ref() }
        })
    }

    /// Returns nothing: only Linux has the recorder.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn find() -> Option<&'static RecorderFunctions> {
        None
    }

    pub(crate) fn begin_phase(&self, name: &CStr, kind: c_int) {
        // SAFETY: the recorder copies the name, a C string.
        unsafe { (self.phase_begin)(name.as_ptr(), kind) }
    }

    pub(crate) fn end_phase(&self, name: &CStr) {
        // SAFETY: as above.
        unsafe { (self.phase_end)(name.as_ptr()) }
    }

    pub(crate) fn begin_iteration(&self, name: &CStr) {
        // SAFETY: as above.
        unsafe { (self.iteration_begin)(name.as_ptr()) }
    }

    pub(crate) fn end_iteration(&self, name: &CStr) {
        // SAFETY: as above.
        unsafe { (self.iteration_end)(name.as_ptr()) }
    }

    pub(crate) fn add_work(&self, operations: f64, quanta: f64) {
        // SAFETY: the function takes any numbers.
        unsafe { (self.work)(operations, quanta) }
    }

    pub(crate) fn add_count(&self, name: &CStr, value: f64) {
        // SAFETY: as for phases.
        unsafe { (self.count)(name.as_ptr(), value) }
    }

    pub(crate) fn set_param(&self, name: &CStr, value: f64) {
        // SAFETY: as for phases.
        unsafe { (self.param)(name.as_ptr(), value) }
    }

    pub(crate) fn set_recording(&self, is_on: bool) {
        // SAFETY: the function takes any number.
        unsafe { (self.record)(c_int::from(is_on)) }
    }
}

/// Calls `work` with the recorder, if there is one, and the name as a C string.
pub(crate) fn mark(name: &str, work: impl FnOnce(&RecorderFunctions, &CStr)) {
    if let Some(recorder) = RecorderFunctions::find() {
        with_c_string(name, |name| work(recorder, name));
    }
}

/// Calls `work` with the name as a C string, up to its first zero byte.
fn with_c_string(name: &str, work: impl FnOnce(&CStr)) {
    /// Names below this length need no memory of the heap.
    const SHORT: usize = 64;
    let name = name.split('\0').next().unwrap_or_default();
    let mut short = [0u8; SHORT];
    let text: Cow<CStr> = match short.get_mut(..name.len()).filter(|_| name.len() < SHORT) {
        Some(room) => {
            room.copy_from_slice(name.as_bytes());
            Cow::Borrowed(CStr::from_bytes_until_nul(&short).unwrap_or_default())
        }
        None => Cow::Owned(CString::new(name).unwrap_or_default()),
    };
    work(&text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_end_at_their_first_zero() {
        let long = "x".repeat(64);
        for (name, expected) in [("", ""), ("force", "force"), ("a\0b", "a"), (&long, &*long), (&long[1..], &long[1..])]
        {
            with_c_string(name, |text| assert_eq!(text.to_str(), Ok(expected)));
        }
    }
}
