//! The table in `docs/faults.md` and the tests name each other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of tests") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "py") {
            found.push(path);
        }
    }
}

/// Names of the functions in these files that are tests.
fn tests_in(folders: &[&str]) -> BTreeSet<String> {
    let mut files = Vec::new();
    for folder in folders {
        sources(&Path::new(ROOT).join(folder), &mut files);
    }
    let mut names = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source");
        let mut marked = false;
        for line in text.lines() {
            let rust = line.trim().strip_prefix("fn ").filter(|_| marked);
            let python = line.strip_prefix("def ").filter(|rest| rest.starts_with("test_"));
            marked = line.trim() == "#[test]";
            if let Some((name, _)) = rust.or(python).and_then(|rest| rest.split_once('(')) {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

#[test]
fn every_row_names_tests_and_every_test_has_a_row() {
    let text = fs::read_to_string(Path::new(ROOT).join("docs/faults.md")).expect("the table");
    // What is quoted and long enough to be no flag, class or field.
    let quoted = text.split('`').skip(1).step_by(2);
    let named: BTreeSet<String> =
        quoted.filter(|words| words.matches('_').count() >= 3).map(str::to_owned).collect();
    let all = tests_in(&[
        "crates/engine/tests",
        "crates/load/src/simulation/scripted",
        "crates/proto/src",
        "crates/proto/tests",
        "tests/cli",
        "tests/lab",
        "tests/observers",
        "tests/team",
    ]);
    let missing: Vec<_> = named.difference(&all).collect();
    assert!(missing.is_empty(), "named in docs/faults.md and not there: {missing:?}");
    let mut ours = tests_in(&["crates/engine/tests/faults"]);
    ours.remove("every_row_names_tests_and_every_test_has_a_row");
    let unnamed: Vec<_> = ours.difference(&named).collect();
    assert!(unnamed.is_empty(), "not named in docs/faults.md: {unnamed:?}");
}
