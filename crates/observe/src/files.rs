//! Reads the kernel's files, whole and of a bounded length.
//!
//! Knows where Linux keeps them; must not know what stands in them.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The most that is read of one file: `/proc/stat` of a thousand CPUs is a tenth of it.
const MOST_BYTES: u64 = 4 << 20;

/// Where the kernel's file systems are mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// `/proc`.
    pub proc: PathBuf,
    /// `/sys`.
    pub sys: PathBuf,
    /// `/boot`.
    pub boot: PathBuf,
}

impl Default for Places {
    fn default() -> Self {
        Self { proc: "/proc".into(), sys: "/sys".into(), boot: "/boot".into() }
    }
}

impl Places {
    /// A file of a process.
    pub(crate) fn process(&self, pid: u32, file: &str) -> PathBuf {
        self.proc.join(pid.to_string()).join(file)
    }
}

/// A file as text; bytes that are no UTF-8 are replaced.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(text(bytes))
}

/// The same of what a file holds that is compressed with gzip.
pub(crate) fn read_gzip(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(File::open(path)?).take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(text(bytes))
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|odd| String::from_utf8_lossy(odd.as_bytes()).into_owned())
}

/// The names in a folder that are numbers, in order; none where it can't be read.
pub(crate) fn numbers(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<u32> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    found.sort_unstable();
    found
}

/// How many descriptors the folder of a process's holds; none where it can't be read. Since Linux 6.2
/// its size tells; before, it is 0, and they are counted.
pub(crate) fn descriptors(folder: &Path) -> Option<u64> {
    let told = fs::metadata(folder).ok()?.len();
    if told > 0 {
        return Some(told);
    }
    Some(fs::read_dir(folder).ok()?.flatten().count() as u64)
}

/// Why a file can't be read, in few words.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it is not there".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}
