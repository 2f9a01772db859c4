//! Secrets of headers and URLs are sent, and shown nowhere.

use crate::{Respond, run, text};

const SECRET: &str = "sekrit-7f3a90";

#[test]
fn nothing_that_is_printed_holds_a_secret() {
    let server = Respond::start(&[]);
    let at = &server.http;
    let header = format!("Authorization: Bearer {SECRET}");
    let right = format!("http://{at}/?page=1&token={SECRET}");
    let cases = [
        (right.clone(), 0, "/?page=1&token=***"),
        (format!("http://{at}/nope?token={SECRET}"), 1, "status 404"),
        (format!("http://me:{SECRET}@{at}/"), 2, "http://***@"),
        (format!("http://{at}/?token={SECRET} \"{SECRET}"), 2, "invalid uri character"),
        (format!("ftp://{at}/?key={SECRET}"), 2, "unknown scheme"),
    ];
    for (url, code, expected) in &cases {
        for format in ["text", "json"] {
            let words = ["load", url, "-n", "20", "-c", "2", "-H", &header, "--format", format];
            let output = run(&words);
            let said = text(&output.stdout) + &text(&output.stderr);
            assert_eq!(output.status.code(), Some(*code), "{url}: {said}");
            assert!(said.contains(expected), "{url}: {said}");
            assert!(!said.contains(SECRET), "{url}: {said}");
        }
    }
    let bare = format!("Authorization Bearer {SECRET}");
    for words in [["load", &right, "-H", &bare], ["load", "http://h/", "-H", &right]] {
        let said = text(&run(&words).stderr);
        assert!(!said.contains(SECRET), "{said}");
    }
    let publishing = ["load", "http://h/", "--publish", "http://h/", "--publish-header"];
    for more in [&[bare.as_str()][..], &[header.as_str(), "--publish-header"][..]] {
        let said = text(&run(&[&publishing[..], more].concat()).stderr);
        assert!(!said.is_empty() && !said.contains(SECRET), "{said}");
    }
    let output = run(&["load", "http://h/", &right]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("unexpected argument") && !said.contains(SECRET), "{said}");
}
