//! Folders and files count only if this user owns them and nobody else may write into them.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::PathBuf;

use crate::machine::system::files::owned_files::{OwnedFolder, open_owned};

fn new_folder(name: &str) -> io::Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("lbprof-owned-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder)?;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
    Ok(folder)
}

#[test]
fn new_folders_and_files_are_writable_by_their_owner_alone() -> io::Result<()> {
    let folder = new_folder("new")?.join("run");
    let made = OwnedFolder::create(&folder)?;
    made.open_file("log", libc::O_WRONLY | libc::O_CREAT)?;
    for path in [folder.clone(), folder.join("log")] {
        assert_eq!(fs::metadata(&path)?.permissions().mode() & 0o022, 0, "{}", path.display());
    }
    assert!(
        made.open_file("log", libc::O_WRONLY | libc::O_CREAT).is_err(),
        "a file that exists is never taken for new"
    );
    assert!(OwnedFolder::create(&folder).is_err());
    assert!(OwnedFolder::open_or_create(&folder).is_ok());
    fs::remove_dir_all(folder.with_file_name(""))
}

#[test]
fn links_are_not_followed() -> io::Result<()> {
    let folder = new_folder("links")?;
    fs::write(folder.join("precious"), "text")?;
    symlink(folder.join("precious"), folder.join("log"))?;
    symlink(&folder, folder.join("run"))?;
    for flags in [libc::O_WRONLY | libc::O_APPEND, libc::O_WRONLY | libc::O_CREAT, libc::O_RDONLY] {
        assert!(open_owned(&folder.join("log"), flags).is_err());
    }
    assert!(OwnedFolder::open(&folder.join("run")).is_err());
    assert_eq!(fs::read_to_string(folder.join("precious"))?, "text");
    fs::remove_dir_all(folder)
}

#[test]
fn what_others_may_write_into_is_refused() -> io::Result<()> {
    let folder = new_folder("shared")?;
    fs::write(folder.join("log"), "")?;
    fs::set_permissions(folder.join("log"), fs::Permissions::from_mode(0o666))?;
    assert!(open_owned(&folder.join("log"), libc::O_WRONLY).is_err());
    for mode in [0o777, 0o775, 0o1777] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode))?;
        assert!(OwnedFolder::open(&folder).is_err(), "{mode:o}");
    }
    fs::remove_dir_all(folder)
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() -> io::Result<()> {
    let folder = new_folder("pipe")?;
    let name = std::ffi::CString::new(folder.join("log").as_os_str().as_encoded_bytes())?;
    // SAFETY: a path that lives here.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o644) }, 0);
    for flags in [libc::O_WRONLY, libc::O_RDONLY] {
        assert!(open_owned(&folder.join("log"), flags).is_err());
    }
    fs::remove_dir_all(folder)
}

#[test]
fn what_belongs_to_others_is_refused() -> io::Result<()> {
    let folder = new_folder("foreign")?;
    fs::write(folder.join("log"), "")?;
    // Only root can give files away.
    if chown(folder.join("log"), Some(61_734), None).is_ok() {
        assert!(open_owned(&folder.join("log"), libc::O_WRONLY).is_err());
        chown(&folder, Some(61_734), None)?;
        assert!(OwnedFolder::open(&folder).is_err());
    }
    fs::remove_dir_all(folder)
}
