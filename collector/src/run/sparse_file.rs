//! Files with holes: what was never written is not read.
//!
//! A file may claim any length and hold a few bytes. A log has no holes; one that has was copied wrong, or made so to keep its reader busy.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use rustix::fs::{SeekFrom as Find, seek};
use rustix::io::Errno;

/// The data of a file, one piece after the other, without the holes between them.
pub struct DataOnly {
    file: File,
    /// End of the current piece, from the start of the file.
    end: u64,
    at: u64,
    skipped: u64,
    finds: bool,
}

impl DataOnly {
    /// The data of `file`, from its begin.
    pub fn new(file: File) -> Self {
        DataOnly { file, end: 0, at: 0, skipped: 0, finds: true }
    }

    /// Bytes of holes so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    fn find(&mut self) -> io::Result<bool> {
        match seek(&self.file, Find::Data(self.at)) {
            Ok(begin) => {
                self.end = seek(&self.file, Find::Hole(begin))?;
                self.skipped += begin - self.at;
                self.at = self.file.seek(SeekFrom::Start(begin))?;
                Ok(true)
            }
            // Nothing but a hole, or nothing at all, up to the end.
            Err(Errno::NXIO) => {
                self.skipped += self.file.metadata()?.len().saturating_sub(self.at);
                self.at = self.at.max(self.file.metadata()?.len());
                Ok(false)
            }
            Err(Errno::INVAL | Errno::NOTSUP) => {
                self.finds = false;
                Ok(true)
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Read for DataOnly {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.finds && self.at >= self.end && !self.find()? {
            return Ok(0);
        }
        let most = if self.finds { usize::try_from(self.end - self.at).unwrap_or(usize::MAX) } else { usize::MAX };
        let length = buffer.len().min(most);
        let read = self.file.read(&mut buffer[..length])?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn holes_are_not_read() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 4096]).unwrap();
        file.seek(SeekFrom::Start(100 << 30)).unwrap();
        file.write_all(&[2; 10]).unwrap();
        file.set_len(200 << 30).unwrap();
        let mut data = DataOnly::new(file);
        data.file.rewind().unwrap();
        let mut bytes = Vec::new();
        data.read_to_end(&mut bytes).unwrap();
        assert!(bytes.starts_with(&[1; 4096]));
        assert!(bytes.len() < 100_000 && bytes[4096..].starts_with(&[2; 10]), "{}", bytes.len());
        assert_eq!(data.skipped() + bytes.len() as u64, 200 << 30);
    }

    #[test]
    fn a_file_without_holes_is_read_as_it_is() {
        let mut file = tempfile::tempfile().unwrap();
        let written: Vec<u8> = (0..100_000u32).map(|i| i as u8).collect();
        file.write_all(&written).unwrap();
        file.rewind().unwrap();
        let mut bytes = Vec::new();
        let mut data = DataOnly::new(file);
        data.read_to_end(&mut bytes).unwrap();
        assert_eq!((bytes == written, data.skipped()), (true, 0));
    }
}
