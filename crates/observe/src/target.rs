//! What to observe, as it is named on the command line.

use std::fmt;

/// The longest name of a target or a mark, in bytes.
pub(crate) const LONGEST_NAME: usize = 200;

/// One thing to observe, and the name under which its counters stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its name in every sample.
    pub name: String,
    /// What it is.
    pub what: What,
}

/// A target's kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A process and all its descendants.
    Tree(u32),
    /// A control group: a folder, or a path as in `/proc/PID/cgroup`.
    Group(String),
}

impl Target {
    /// Reads `PID` or `NAME=PID`.
    pub fn tree(text: &str) -> Result<Self, String> {
        let (name, pid) = text.rsplit_once('=').unwrap_or((text, text));
        let number = pid.parse().ok().filter(|pid| *pid > 0 && i32::try_from(*pid).is_ok());
        let number =
            number.ok_or_else(|| format!("'{pid}' is no process id; write 123 or app=123"))?;
        Self::named(name, What::Tree(number))
    }

    /// Reads `PATH` or `NAME=PATH`.
    pub fn group(text: &str) -> Result<Self, String> {
        let named = text.split_once('=').filter(|(name, _)| !name.contains('/'));
        let (name, path) = named.unwrap_or((text, text));
        if !path.starts_with('/') || path.split('/').any(|part| part == "..") {
            return Err(format!(
                "'{path}' is no path of a control group; write /sys/fs/cgroup/app, or /app as in /proc/PID/cgroup"
            ));
        }
        Self::named(name, What::Group(path.to_owned()))
    }

    fn named(name: &str, what: What) -> Result<Self, String> {
        fit(name)?;
        Ok(Self { name: name.to_owned(), what })
    }
}

impl fmt::Display for What {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tree(pid) => write!(formatter, "process {pid}"),
            Self::Group(path) => write!(formatter, "control group {path}"),
        }
    }
}

/// Refuses names that are empty, long, or would not stay on one line.
pub(crate) fn fit(name: &str) -> Result<(), String> {
    if name.trim().is_empty() {
        return Err("a name is empty".to_owned());
    }
    if name.len() > LONGEST_NAME {
        return Err(format!("a name is longer than {LONGEST_NAME} bytes"));
    }
    if name.chars().any(char::is_control) {
        return Err("a name has a control character".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_targets() {
        for (text, name, what) in [
            ("1", "1", What::Tree(1)),
            ("app=123", "app", What::Tree(123)),
            ("a=b=7", "a=b", What::Tree(7)),
        ] {
            assert_eq!(Target::tree(text), Ok(Target { name: name.to_owned(), what }), "{text}");
        }
        for wrong in
            ["", "0", "-1", "app", "app=", "=5", "4294967296", "2147483648", "a\nb=5", " =5"]
        {
            assert!(Target::tree(wrong).is_err(), "{wrong:?}");
        }
        for (text, name, path) in [
            ("/app", "/app", "/app"),
            ("db=/system.slice/db.service", "db", "/system.slice/db.service"),
            ("/odd=name/x", "/odd=name/x", "/odd=name/x"),
            ("a=/odd=name", "a", "/odd=name"),
        ] {
            let what = What::Group(path.to_owned());
            assert_eq!(Target::group(text), Ok(Target { name: name.to_owned(), what }), "{text}");
        }
        for wrong in ["", "app", "a=app", "=/app", "/app/../..", "a=/../x"] {
            assert!(Target::group(wrong).is_err(), "{wrong:?}");
        }
        assert!(
            fit(&"x".repeat(LONGEST_NAME)).is_ok() && fit(&"x".repeat(LONGEST_NAME + 1)).is_err()
        );
    }
}
