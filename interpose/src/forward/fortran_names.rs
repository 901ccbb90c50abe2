//! Decides which calls by a name of Fortran are meant for MPI, before an argument is read as Fortran's.
//!
//! Other libraries have functions of their own with such names, which are bound to this library's, because it is searched first: R's Rmpi has
//! a `mpi_send` in C, sequential programs have stubs. So an entry in Fortran looks at its route: [`ROUTE_MPI`]; or the address of another
//! function, at which the call goes on with all registers as they were; or 0 if it depends on the caller. The definition that counts is the
//! one that the loader would have taken without this library:
//!
//! ```text
//!   the next one that all objects see ... for every caller, until an object is unloaded
//!   else the only one ................... for every caller, until an object is loaded or unloaded
//!   else the one in the caller's scope .. for callers in this object
//! ```
//!
//! The caller is known by its return address. A function that ends with such a call (a jump) has none, nor has one that is called by an
//! address that was kept. Then the objects whose words hold this library's address are the possible callers.

use std::ffi::CStr;
use std::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::forward::weak::set_word;
use crate::forward::{BY_NAME, ForwardTarget, NAMES, NEXT, missing_in_fortran, report_missing};
use crate::harmless::enter;
use crate::harmless::signals::run_critical_section;
use crate::machine::processor::ROUTE_MPI;
use crate::machine::system::loader::by_caller::AddressesByCaller;
use crate::machine::system::loader::dynamic_symbols::{LoadedSymbols, ObjectSymbols};
use crate::machine::system::loader::foreign;
use crate::machine::system::loader::objects;
use crate::machine::system::loader::objects::ObjectChanges;
use crate::mpi::symbols::{is_c, is_fortran_mpi, is_of_mpi, keep_loaded};
use crate::state::thread;

/// True if a route is an address.
static HAS_OTHERS: AtomicBool = AtomicBool::new(false);

/// Routes by the calling object.
static BY_CALLER: AddressesByCaller<{ NAMES.len() }> = AddressesByCaller::new();

/// The route to the only definition that there is, and the number of objects loaded and unloaded until it was found.
struct OnlyRoute {
    route: AtomicUsize,
    changes: AtomicU64,
}

static ONLY: [OnlyRoute; NAMES.len()] =
    [const { OnlyRoute { route: AtomicUsize::new(0), changes: AtomicU64::new(0) } }; NAMES.len()];

/// Returns the address at which a call goes on if its entry has no route: `wrapper` if the call is meant for MPI. `caller` is the return
/// address.
pub unsafe extern "C" fn choose(next: *const ForwardTarget, wrapper: usize, caller: usize) -> usize {
    let index = (next as usize - NEXT.as_ptr() as usize) / size_of::<ForwardTarget>();
    let route = match BY_CALLER.find(index, caller) {
        0 => enter::enter_quietly(|| run_critical_section(|| look_up(index, caller))),
        known => known,
    };
    if route == ROUTE_MPI { wrapper } else { route }
}

/// Decides for the functions that objects refer to, so that none of their calls takes the loader's lock: a fork in another thread would leave
/// the lock taken in the child. Objects that the program loads later are looked at when they first call.
pub fn resolve_referenced() {
    let symbols = LoadedSymbols::read();
    const MPI: [&CStr; 6] =
        [c"pmpi_init_", c"pmpi_init", c"pmpi_init__", c"PMPI_INIT", c"pmpi_init_f08_", c"mpi_init_f08_"];
    if !MPI.iter().any(|name| symbols.definitions(name).next().is_some()) {
        return;
    }
    for object in symbols.objects() {
        let Some((caller, _)) = object.object().bounds() else { continue };
        for name in object.undefined_names().filter(|name| is_of_mpi(name) && !is_c(name)) {
            if let Some(index) = index_of(name)
                && NEXT.get(index).is_some_and(|next| next.route.load(Relaxed) == 0)
                && BY_CALLER.find(index, caller) == 0
            {
                decide_route(&symbols, index, caller);
            }
        }
    }
}

/// Forgets routes after an unload, because other functions may come to the place of the ones that calls were meant for.
pub fn forget_unloaded() {
    if HAS_OTHERS.load(Relaxed) {
        for next in &NEXT {
            if next.route.load(Relaxed) != ROUTE_MPI {
                next.route.store(0, Relaxed);
            }
        }
    }
}

fn index_of(name: &CStr) -> Option<usize> {
    let at = BY_NAME.binary_search_by_key(&Some(name), |&index| Some(NAMES.get(usize::from(index))?.1)).ok()?;
    BY_NAME.get(at).map(|&index| usize::from(index))
}

/// Finds the route of calls from an object that is not known.
fn look_up(index: usize, caller: usize) -> usize {
    let Some(only) = ONLY.get(index) else { return ROUTE_MPI };
    let route = only.route.load(Acquire);
    if route != 0 && only.changes.load(Relaxed) == count_changes(objects::object_changes()) {
        return route;
    }
    let symbols = LoadedSymbols::read();
    match decide_route(&symbols, index, caller) {
        Some(route) => route,
        None => {
            report_missing(index);
            // The entry's note is another call's by now if a signal handler made that call.
            thread::current_thread().missing.set(index);
            if let Some(next) = NEXT.get(index) {
                next.address.store(missing_in_fortran as *const () as usize, Relaxed);
            }
            ROUTE_MPI
        }
    }
}

fn count_changes(changes: ObjectChanges) -> u64 {
    changes.loaded + changes.unloaded
}

/// Finds the definition that a call is meant for, and keeps the route. Returns `None` if there is no definition.
fn decide_route(symbols: &LoadedSymbols, index: usize, caller: usize) -> Option<usize> {
    let (Some(next), Some(only), Some((profiling, own))) = (NEXT.get(index), ONLY.get(index), NAMES.get(index)) else {
        return None;
    };
    let visible = foreign::next_definition(own);
    if visible != 0 {
        let route = route_to(symbols.object_at(visible), own, next, visible);
        HAS_OTHERS.fetch_or(route != ROUTE_MPI, Relaxed);
        next.route.store(route, Relaxed);
        return Some(route);
    }
    let definitions: Vec<(&ObjectSymbols, usize)> = symbols.next_definitions(own).collect();
    match definitions.as_slice() {
        // The twins of functions of mpi_f08 have names that differ by library.
        [] => {
            let (_, address) = symbols.definitions(profiling).next()?;
            next.address.store(address, Relaxed);
            next.route.store(ROUTE_MPI, Relaxed);
            Some(ROUTE_MPI)
        }
        [(object, address)] => {
            let route = route_to(Some(object), own, next, *address);
            only.route.store(0, Relaxed);
            only.changes.store(count_changes(symbols.changes()), Release);
            only.route.store(route, Release);
            keep_for(symbols, index, caller, own, route);
            Some(route)
        }
        several => {
            let (object, address) = seen_by_caller(symbols, own, caller, several)?;
            let route = route_to(Some(object), own, next, address);
            keep_for(symbols, index, caller, own, route);
            Some(route)
        }
    }
}

/// Returns the route of calls that are meant for the function at `address` in an object. If it is MPI's, the wrapper calls it.
fn route_to(object: Option<&ObjectSymbols>, own: &CStr, next: &ForwardTarget, address: usize) -> usize {
    let Some(object) = object.filter(|object| is_fortran_mpi(object, own)) else { return address };
    keep_loaded(object);
    next.address.store(address, Relaxed);
    ROUTE_MPI
}

/// Keeps the route for calls from the object at `caller` if that refers to the function: then it is the caller.
fn keep_for(symbols: &LoadedSymbols, index: usize, caller: usize, own: &CStr, route: usize) {
    if let Some(object) = symbols.object_at(caller).filter(|object| object.is_referring_to(own))
        && let Some(bounds) = object.object().bounds()
    {
        BY_CALLER.keep(index, bounds, route);
    }
}

/// Returns the one among several definitions that the loader would have taken for the caller without this library.
///
/// Objects that see another function than MPI's are bound to that, so that the next call of an unknown caller does not come from them.
fn seen_by_caller<'a>(
    symbols: &'a LoadedSymbols,
    own: &CStr,
    caller: usize,
    definitions: &[(&'a ObjectSymbols, usize)],
) -> Option<(&'a ObjectSymbols, usize)> {
    let ours = foreign::visible_definition(own);
    let mut seen_by_bound = None;
    let mut seen_by_object = None;
    for object in symbols.objects() {
        let is_caller = object.contains(caller) && object.is_referring_to(own);
        let words: Vec<_> = object.bound_words(own, ours).collect();
        if !is_caller && words.is_empty() {
            continue;
        }
        let seen = symbols.scope(object).into_iter().find_map(|seen| Some((seen, seen.definition(own)?)));
        let Some((definer, address)) = seen else { continue };
        if is_caller {
            seen_by_object = seen;
        }
        seen_by_bound = seen_by_bound.or(seen);
        if !is_fortran_mpi(definer, own) {
            for word in words {
                set_word(&object.object(), word, address);
            }
        }
    }
    seen_by_object.or(seen_by_bound).or_else(|| definitions.first().copied())
}
