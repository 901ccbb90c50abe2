//! The functions of OpenMP's run-time libraries.
//!
//! A call goes where it would go without us: to the next definition that all can see; else, for an extension that was loaded with RTLD_LOCAL,
//! to a definition in the libraries that the calling object depends on, whatever their names are. Python's packages bring libraries of their own, so
//! there may be several in one process, and threads of one must never meet at the barrier of another.

use std::ffi::CStr;

use crate::harmless::enter;
use crate::harmless::signals::run_critical_section;
use crate::machine::system::loader::by_caller::AddressesByCaller;
use crate::machine::system::loader::foreign;
use crate::machine::system::loader::foreign::NextFunction;
use crate::machine::system::loader::objects;

/// A function of a run-time library.
#[repr(C)]
pub struct RuntimeFunction {
    /// The function if all objects can see it. First, for an entry that reads its address.
    visible: NextFunction,
    /// Its addresses for objects that were loaded with RTLD_LOCAL.
    local: AddressesByCaller<1>,
}

pub static GET_THREAD_NUM: RuntimeFunction = RuntimeFunction::named("omp_get_thread_num\0");
pub static GET_MAX_THREADS: RuntimeFunction = RuntimeFunction::named("omp_get_max_threads\0");
pub static GET_LEVEL: RuntimeFunction = RuntimeFunction::named("omp_get_level\0");
pub static GET_TEAM_SIZE: RuntimeFunction = RuntimeFunction::named("omp_get_team_size\0");

impl RuntimeFunction {
    /// The function of a name that ends with a zero.
    pub const fn named(name: &'static str) -> Self {
        let Ok(name) = CStr::from_bytes_with_nul(name.as_bytes()) else { unreachable!() };
        RuntimeFunction { visible: NextFunction::named(name), local: AddressesByCaller::new() }
    }

    /// The address of the function that a call from `caller` is meant for; 0: there is none.
    #[inline(always)]
    pub fn address(&self, caller: usize) -> usize {
        match self.visible.known_address() {
            0 => self.local_address(caller),
            address => address,
        }
    }

    #[cold]
    #[inline(never)]
    fn local_address(&self, caller: usize) -> usize {
        match self.local.find(0, caller) {
            0 => enter::enter_quietly(|| run_critical_section(|| self.look_up(caller))),
            known => known,
        }
    }

    fn look_up(&self, caller: usize) -> usize {
        let visible = self.visible.address();
        if visible != 0 {
            return visible;
        }
        let seen = objects::look_at(caller, |object| (object.path().to_owned(), object.bounds()));
        let Some((path, Some(bounds))) = seen else { return 0 };
        let found = foreign::definition_seen_by(&path, self.visible.name);
        if found != 0 {
            self.local.keep(0, bounds, found);
        }
        found
    }
}
