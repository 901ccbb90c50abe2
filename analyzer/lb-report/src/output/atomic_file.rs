//! Files and folders that appear complete or not at all: they are written under temporary names.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

pub fn write_to(
    sink: impl Write + Send,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(sink);
    write(&mut out)?;
    out.flush()
}

/// Replaces the file at `path` when `write` is complete, so that readers never see a part and an error leaves the old file. Devices and pipes are
/// written directly.
pub fn replace_file(path: &Path, write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> io::Result<()> {
    // A symbolic link keeps its target.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return write_to(File::create(path)?, write);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::metadata(folder)?;
    let mut new = new_file(folder)?;
    write_to(new.as_file_mut(), write)?;
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn new_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".lb-report-");
    // The umask decides on permissions.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The error's text contains the temporary name.
    builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))
}

/// Files of a folder that get their names once all are complete. Otherwise none is left.
pub struct WholeFolder {
    path: PathBuf,
    /// True if it is a new folder, which goes away where nothing is completed.
    is_new: bool,
    files: RefCell<Vec<(String, NamedTempFile)>>,
}

impl WholeFolder {
    /// Creates the folder if it is missing.
    pub fn create(path: &Path) -> io::Result<WholeFolder> {
        let is_new = !path.exists();
        fs::create_dir_all(path)?;
        Ok(WholeFolder { path: path.to_owned(), is_new, files: RefCell::default() })
    }

    pub fn existing(path: &Path) -> io::Result<WholeFolder> {
        fs::metadata(path)?;
        Ok(WholeFolder { path: path.to_owned(), is_new: false, files: RefCell::default() })
    }

    /// Opens a file that will get this name.
    pub fn file(&self, name: &str) -> io::Result<File> {
        let new = new_file(&self.path)?;
        let file = new.reopen()?;
        self.files.borrow_mut().push((name.to_owned(), new));
        Ok(file)
    }

    /// Gives the files their names. Files called `others` from an earlier run are removed if they are `ours`.
    pub fn finish(mut self, others: &[String], ours: impl Fn(&Path) -> bool) -> io::Result<()> {
        let files = self.files.take();
        self.is_new = false;
        for other in others.iter().filter(|name| files.iter().all(|(written, _)| written != *name)) {
            let path = self.path.join(other);
            if path.is_file() && ours(&path) {
                fs::remove_file(path)?;
            }
        }
        files
            .into_iter()
            .try_for_each(|(name, file)| file.persist(self.path.join(name)).map(drop).map_err(|error| error.error))
    }
}

impl Drop for WholeFolder {
    fn drop(&mut self) {
        self.files.borrow_mut().clear();
        if self.is_new {
            // A folder with other files stays.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// A folder that gets its name when complete. Otherwise nothing of it is left.
pub struct NewFolder {
    path: PathBuf,
    pub parent: PathBuf,
    /// The folder around it while it is filled.
    temporary: TempDir,
}

impl NewFolder {
    /// Fails if the folder has files.
    pub fn create(path: &Path) -> io::Result<NewFolder> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match fs::read_dir(path).map(|entries| entries.count()) {
            Ok(1..) => return Err(io::Error::other("this folder has files: name a new one, or remove it")),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir_all(parent)?,
        }
        let temporary = tempfile::Builder::new().prefix(".lb-report-").tempdir_in(parent);
        let temporary = temporary.map_err(|error| io::Error::from(error.kind()))?;
        Ok(NewFolder { path: path.to_owned(), parent: parent.to_owned(), temporary })
    }

    /// Returns the path at which to create it.
    pub fn unfinished(&self) -> PathBuf {
        self.temporary.path().join("folder")
    }

    pub fn finish(self) -> io::Result<()> {
        fs::rename(self.unfinished(), &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_to_its_end_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        replace_file(&path, |out| out.write_all(b"old")).unwrap();
        let error = replace_file(&path, |out| out.write_all(b"new").and(Err(io::Error::other("full")))).unwrap_err();
        assert_eq!(error.to_string(), "full");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        replace_file(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn what_cannot_be_made_is_reported_without_a_name_that_nobody_gave() {
        let folder = tempfile::tempdir().unwrap();
        let error = replace_file(&folder.path().join("none/report.html"), |out| out.write_all(b"new")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains(".lb-report"), "{error}");
    }

    #[test]
    fn a_new_folder_is_there_when_it_is_complete_and_replaces_nothing() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("trace");
        let fill = |folder: &NewFolder| {
            fs::create_dir(folder.unfinished()).unwrap();
            fs::write(folder.unfinished().join("traces.otf2"), "new").unwrap();
        };
        let folder = NewFolder::create(&path).unwrap();
        fill(&folder);
        drop(folder);
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 0, "nothing is left of one that was given up");
        fs::create_dir(&path).unwrap();
        let folder = NewFolder::create(&path).unwrap();
        fill(&folder);
        folder.finish().unwrap();
        assert_eq!(fs::read(path.join("traces.otf2")).unwrap(), b"new");
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1);
        assert!(NewFolder::create(&path).is_err(), "it has files");
        assert!(NewFolder::create(&path.join("traces.otf2")).is_err(), "a file");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_goes_on_pointing_at_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("real.html"), folder.path().join("link.html"));
        fs::write(&path, "old").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        replace_file(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(link.is_symlink());
    }
}
