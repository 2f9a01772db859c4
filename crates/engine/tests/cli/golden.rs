//! Help, as it is printed. To accept a change: `WIRETRIAL_ACCEPT=1 cargo test -p wiretrial-engine --test cli`.

use std::path::PathBuf;

use crate::{run, text};

#[test]
fn help_is_as_accepted() {
    let cases: [(&str, &[&str]); 6] = [
        ("help.txt", &["--help"]),
        ("ask-help.txt", &["ask", "--help"]),
        ("load-help.txt", &["load", "--help"]),
        ("respond-help.txt", &["respond", "--help"]),
        ("link-help.txt", &["link", "--help"]),
        ("observe-help.txt", &["observe", "--help"]),
    ];
    for (file, args) in cases {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli/golden").join(file);
        let printed = text(&run(args).stdout);
        if std::env::var_os("WIRETRIAL_ACCEPT").is_some() {
            std::fs::write(&path, &printed).expect("written");
        }
        let accepted = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(printed, accepted, "{file} has changed; see the head of this module");
    }
}

#[test]
fn completion_scripts_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&["completion", shell]);
        assert!(output.status.success());
        assert!(text(&output.stdout).contains("respond"), "{shell}");
    }
}
