//! Finds liblbprof.so, and has it loaded into the program.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::bail;
use lbprof_collector::words::SystemError;

const NAME: &str = "liblbprof.so";

/// Maximum depth of a program's folder. The folder above the root is the root.
const DEEPEST: usize = 64;

/// Folders to look in, from the one that holds lb-run: a build's folder, then an installation's `bin`.
const PLACES: [&str; 4] = [".", "../lib", "../lib64", "../lib/lbprof"];

/// Returns the library's path: `LBPROF_LIBRARY`, or beside lb-run, or `None` if that place is unknown because there is no /proc.
///
/// Errors: it is in none of these places; the message says what to do.
pub fn find_library() -> anyhow::Result<Option<PathBuf>> {
    if let Some(given) = std::env::var_os("LBPROF_LIBRARY").filter(|path| !path.is_empty()) {
        let path = std::path::absolute(&given).and_then(|path| path.metadata().map(|file| (path, file.is_file())));
        return match path {
            Err(error) => bail!("LBPROF_LIBRARY={}: {}", Path::new(&given).display(), SystemError(&error)),
            Ok((path, true)) => require_usable(path).map(Some),
            Ok((path, false)) => bail!("LBPROF_LIBRARY={}: not a file: it must be the path of {NAME}", path.display()),
        };
    }
    let Ok(exe) = std::env::current_exe() else { return Ok(None) };
    let folder = exe.parent().unwrap_or(Path::new("/"));
    let mut paths = PLACES.iter().map(|place| folder.join(place).join(NAME));
    let Some(path) = paths.find(|path| path.is_file()).and_then(|path| path.canonicalize().ok()) else {
        bail!(
            "{NAME} is neither next to {} nor in ../lib or ../lib64 relative to it: install lbprof completely, or set \
             LBPROF_LIBRARY to the library's path",
            exe.display()
        )
    };
    require_usable(path).map(Some)
}

pub fn beside_lb_run(name: &str) -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.parent()?.join(name);
    path.is_file().then_some(path)
}

/// Returns the path, unless LD_PRELOAD cannot hold it.
fn require_usable(path: PathBuf) -> anyhow::Result<PathBuf> {
    // The dynamic loader separates the libraries in LD_PRELOAD by either, and knows no quotes.
    if path.as_os_str().as_bytes().iter().any(|byte| b": \t\n".contains(byte)) {
        bail!(
            "{}: a library in a folder with a blank or a colon in its name cannot be preloaded: install lbprof elsewhere",
            path.display()
        );
    }
    Ok(path)
}

/// Returns ASAN_OPTIONS for the program. The address sanitizer's runtime ends a program if any library is preloaded before it, but
/// ours replaces no function of the runtime. The user's options come first.
pub fn asan_options(already: Option<OsString>) -> OsString {
    const CHECK: &str = "verify_asan_link_order";
    let mut options = already.unwrap_or_default();
    if options.as_bytes().windows(CHECK.len()).any(|part| part == CHECK.as_bytes()) {
        return options;
    }
    if !options.is_empty() {
        options.push(":");
    }
    options.push(format!("{CHECK}=0"));
    options
}

/// Returns LD_PRELOAD for the program: the library, once, before the libraries that are there already.
pub fn preload_list(library: &Path, already: Option<OsString>) -> OsString {
    let library = loadable_by_glibc(library);
    let mut preload = library.clone();
    let already = already.unwrap_or_default();
    for other in already.as_bytes().split(|byte| b": ".contains(byte)).map(OsStr::from_bytes) {
        if !other.is_empty() && other != library {
            preload.push(":");
            preload.push(other);
        }
    }
    preload
}

/// Returns the library's path in a form that only the GNU C library's loader understands: the program's folder, from there up to the root, and down to
/// the library. That loader replaces `$ORIGIN` by the folder. The loader of musl looks for a file below a folder of that name, finds none, and silently
/// goes on; the library itself would keep it from starting any program, and those that the program starts. If a shell replaces `$ORIGIN` by
/// nothing the path is still the library's.
fn loadable_by_glibc(library: &Path) -> OsString {
    // The loader learns the program's folder from there.
    if !library.is_absolute() || Path::new("/proc/self/exe").read_link().is_err() {
        return library.as_os_str().to_owned();
    }
    let mut path = OsString::from("$ORIGIN");
    path.push("/..".repeat(DEEPEST));
    path.push(library);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_comes_first_and_once() {
        let library = Path::new("/opt/lib/liblbprof.so");
        let first = preload_list(library, None);
        assert_eq!(preload_list(library, Some("".into())), first);
        let first = first.to_str().unwrap_or_default();
        assert_eq!(preload_list(library, Some("/a.so /b.so::".into())), *format!("{first}:/a.so:/b.so"));
        assert_eq!(preload_list(library, Some(format!("/a.so:{first} /b.so").into())), *format!("{first}:/a.so:/b.so"));
    }

    #[test]
    fn the_path_is_the_librarys_from_any_folder() {
        let path = loadable_by_glibc(Path::new("/proc/self/exe"));
        let path = path.to_str().unwrap_or_default();
        assert!(!Path::new(path).exists(), "{path}");
        for folder in ["", "/", "/usr/bin", "/proc/self/task"] {
            assert!(Path::new(&path.replace("$ORIGIN", folder)).exists(), "{path} in {folder}");
        }
    }

    #[test]
    fn the_address_sanitizer_is_informed_that_it_does_not_come_first() {
        assert_eq!(asan_options(None), "verify_asan_link_order=0");
        assert_eq!(asan_options(Some("detect_leaks=0".into())), "detect_leaks=0:verify_asan_link_order=0");
        assert_eq!(asan_options(Some("verify_asan_link_order=1".into())), "verify_asan_link_order=1");
    }

    #[test]
    fn a_path_that_the_loader_would_split_is_refused() {
        assert!(require_usable("/opt/my tools/liblbprof.so".into()).is_err());
        assert!(require_usable("/opt/a:b/liblbprof.so".into()).is_err());
        assert!(require_usable("/opt/tools/liblbprof.so".into()).is_ok());
    }
}
