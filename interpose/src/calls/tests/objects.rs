//! Objects are found without the loader's lock, whatever the loader's version, as the loader itself lists them.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::sync::atomic::Ordering::Relaxed;

use crate::machine::system::loader::dynamic_symbols::{defined_symbols, undefined_symbols};
use crate::machine::system::loader::objects;
use crate::machine::system::loader::objects::LoadedObject;

/// Facts of an object: where it begins and ends, what addresses are relative to, its file, its segments.
type Facts = (Option<(usize, usize)>, usize, String, Vec<(usize, usize)>);

fn facts(object: &LoadedObject) -> Facts {
    let path = object.path().to_string_lossy().into_owned();
    (object.bounds(), object.base(), path, object.segments(libc::PT_NOTE).collect())
}

#[test]
fn both_ways_find_what_the_loader_lists() {
    let mut all = Vec::new();
    objects::visit_objects(None, |object| all.push(facts(object)));
    assert!(all.len() > 3, "{all:?}");
    objects::find_out();
    for is_new_loader in [true, false] {
        for one in &all {
            let (begin, end) = one.0.unwrap();
            for address in [begin, begin + (end - begin) / 2, end - 1] {
                let found = objects::look_at(address, facts);
                assert_eq!(found.as_ref(), Some(one), "{address:x}, {is_new_loader}");
            }
        }
        let on_stack = 0;
        assert_eq!(objects::look_at((&raw const on_stack) as usize, facts), None);
        assert_eq!(objects::look_at(8, facts), None);
        objects::FIND.store(0, Relaxed);
    }
}

#[test]
fn names_are_defined_where_they_are_not_taken_from_others() {
    let (mut by_libc, mut by_program, mut n_objects) = (false, false, 0);
    objects::visit_objects(None, |object| {
        // SAFETY: what a test is linked with stays.
        let (own, others) = unsafe { (defined_symbols(object), undefined_symbols(object)) };
        let own: BTreeSet<&CStr> = own.map(|(_, name)| name).collect();
        let others: BTreeSet<&CStr> = others.map(|(_, name)| name).collect();
        // A name may have several versions, but no object takes its own from another.
        assert!(own.is_disjoint(&others), "{:?}", object.path());
        n_objects += usize::from(!own.is_empty());
        by_libc |= own.contains(c"dl_iterate_phdr");
        by_program |= object.is_program() && others.contains(c"dl_iterate_phdr");
    });
    assert!(by_libc && by_program && n_objects > 2, "{by_libc}, {by_program}, {n_objects}");
}
