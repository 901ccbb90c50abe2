//! Converts the names that a compiler or a library gives to functions to their names in the source.

use addr2line::gimli::{
    DW_LANG_Fortran03, DW_LANG_Fortran08, DW_LANG_Fortran18, DW_LANG_Fortran77, DW_LANG_Fortran90, DW_LANG_Fortran95,
    DwLang,
};

/// Prefix that glibc gives a public function's name for its own calls.
const WITHIN_GLIBC: &str = "__GI_";

/// Returns the name in the source of a demangled `name`. `language` is the language of its source file, if it is known.
///
/// A procedure of a Fortran module, `__module_MOD_procedure` by gfortran, becomes `module::procedure`. Compilers append an underscore to the names
/// of other Fortran procedures. Without debug information nothing distinguishes `solve_` from a C function of this name, so it stays.
pub(super) fn source_name(name: String, language: Option<DwLang>) -> String {
    let parts = name.strip_prefix("__").and_then(|rest| rest.split_once("_MOD_"));
    if let Some((module, procedure)) = parts.filter(|(module, procedure)| !module.is_empty() && !procedure.is_empty()) {
        return format!("{}::{procedure}", module.replace("_SMOD_", "::"));
    }
    let shorter = match language {
        Some(language) if is_fortran(language) => name.strip_suffix('_'),
        _ => name.strip_prefix(WITHIN_GLIBC),
    };
    match shorter.filter(|shorter| !shorter.is_empty()) {
        Some(shorter) => shorter.to_owned(),
        None => name,
    }
}

fn is_fortran(language: DwLang) -> bool {
    let before_2003 = [DW_LANG_Fortran77, DW_LANG_Fortran90, DW_LANG_Fortran95];
    let since_2003 = [DW_LANG_Fortran03, DW_LANG_Fortran08, DW_LANG_Fortran18];
    before_2003.contains(&language) || since_2003.contains(&language)
}

#[cfg(test)]
mod tests {
    use addr2line::gimli::DW_LANG_C11;

    use super::*;

    #[test]
    fn procedures_of_fortran_modules_are_named_by_both() {
        let of = |name: &str| source_name(name.to_owned(), None);
        assert_eq!(of("__solver_MOD_iterate"), "solver::iterate");
        assert_eq!(of("__solver_SMOD_inner_MOD_iterate"), "solver::inner::iterate");
        assert_eq!(
            (of("MAIN__"), of("__libc_start_main"), of("__MOD_")),
            ("MAIN__".into(), "__libc_start_main".into(), "__MOD_".into())
        );
    }

    #[test]
    fn other_fortran_procedures_lose_the_underscore_that_compilers_append() {
        let of = |name: &str, language| source_name(name.to_owned(), language);
        assert_eq!(of("hydro_", Some(DW_LANG_Fortran08)), "hydro");
        // A C function may be called so.
        assert_eq!(of("hydro_", Some(DW_LANG_C11)), "hydro_");
        assert_eq!(of("hydro_", None), "hydro_");
        assert_eq!(of("_", Some(DW_LANG_Fortran95)), "_");
    }

    #[test]
    fn functions_of_glibc_have_their_public_names() {
        assert_eq!(source_name("__GI_sched_yield".into(), Some(DW_LANG_C11)), "sched_yield");
        assert_eq!(source_name("__GI_".into(), None), "__GI_");
    }
}
