//! The versions that were built in.
//!
//! Knows the lock file; must not know what its packages do.

const LOCK: &str = include_str!("../../Cargo.lock");

/// The locked version of a package that is there once.
pub(crate) fn of(package: &str) -> Option<&'static str> {
    let mut lines = LOCK.lines().skip_while(|line| field(line, "name") != Some(package));
    lines.find_map(|line| field(line, "version"))
}

/// What stands in `line` if it is `name = "…"`.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.strip_prefix(name)?.strip_prefix(" = \"")?.strip_suffix('"')
}
