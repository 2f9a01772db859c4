//! Takes secrets out of what is shown: of URLs, and of the words of a command line.
//!
//! Text to text. Knows by which names secrets go, as the laboratory's `redaction.py` does: one table
//! of cases holds both. Must not know who shows it; what is sent is never changed.

use std::borrow::Cow;

/// Stands in place of a secret.
pub const MARK: &str = "***";

/// A name with one of these words holds a secret.
const WORDS: [&str; 10] =
    ["auth", "oauth", "key", "sig", "pwd", "jwt", "otp", "csrf", "xsrf", "hmac"];
/// So does one with these letters in a row, however it is written.
const PARTS: [&str; 13] = [
    "authoriz",
    "authentic",
    "cookie",
    "token",
    "secret",
    "passw",
    "passphrase",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "session",
    "signature",
];
/// And one that is no more than this.
const WHOLE: [&str; 4] = ["code", "pass", "pin", "sid"];
/// Names that look so, and hold none.
const PUBLIC: [&str; 3] = ["www-authenticate", "idempotency-key", "sec-websocket-key"];
/// Options whose values are header fields; the short one may have its value behind it.
const HEADER_FLAGS: [&str; 3] = ["-H", "--header", "--publish-header"];
/// Letters of a secret that is looked for where nothing says that it is one.
const FEWEST: usize = 4;

/// Whether the value of a header, or of a URL's parameter, with this name is a secret.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let plain = separated(&decoded(name));
    if PUBLIC.contains(&plain.as_str()) {
        return false;
    }
    let mut words = plain.split(|letter: char| !letter.is_ascii_alphanumeric());
    let joined: String = plain.chars().filter(char::is_ascii_alphanumeric).collect();
    WHOLE.contains(&joined.as_str())
        || words.any(|word| WORDS.contains(&word))
        || PARTS.iter().any(|part| joined.contains(part))
}

/// A URL without user names and without the values of secrets.
#[must_use]
pub fn url(address: &str) -> String {
    let (place, user, rest) = taken_apart(address);
    let mut shown = String::from(place);
    if !user.is_empty() {
        shown += MARK;
        shown.push('@');
    }
    for (piece, secret) in pieces(rest) {
        shown += piece;
        if secret.is_some() {
            shown += MARK;
        }
    }
    without_inner_users(&shown, place.len())
}

/// The words of a command line: their URLs, and the values of `-H`, `--header` and `--publish-header`, without secrets.
#[must_use]
pub fn command(words: &[String]) -> Vec<String> {
    let mut follows = false;
    let mut shown = Vec::new();
    for word in words {
        let is_flag = HEADER_FLAGS.contains(&word.as_str());
        shown.push(if follows {
            line(word).into_owned()
        } else if let Some((flag, value)) =
            word.split_once('=').filter(|(flag, _)| flag.len() > 2 && HEADER_FLAGS.contains(flag))
        {
            format!("{flag}={}", line(value))
        } else if let Some(value) = word.strip_prefix("-H").filter(|value| !value.is_empty()) {
            format!("-H{}", line(value))
        } else if word.contains('?') || word.contains("//") {
            url(word)
        } else {
            word.clone()
        });
        follows = is_flag && !follows;
    }
    shown
}

/// The secrets of one target, to be found again in what its server sends.
#[derive(Debug, Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// Those in a URL and in header fields.
    #[must_use]
    pub fn of(address: &str, headers: &[(String, String)]) -> Self {
        let (_, _, rest) = taken_apart(address);
        let mut found: Vec<String> = Vec::new();
        for secret in pieces(rest).into_iter().filter_map(|(_, secret)| secret) {
            found.extend([secret.to_owned(), decoded(secret)]);
        }
        for (name, value) in headers {
            if is_secret(name) || is_bearer(value) {
                found.push(value.clone());
                // A scheme before it, or the name of a cookie.
                found.extend(value.split([' ', ';', '=']).map(str::to_owned));
            }
        }
        found.retain(|secret| secret.len() >= FEWEST && !secret.eq_ignore_ascii_case("bearer"));
        found.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(found)
    }

    /// The text without any of them.
    #[must_use]
    pub fn hidden_in(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, MARK))
    }
}

fn is_bearer(value: &str) -> bool {
    value.split_whitespace().any(|word| word.eq_ignore_ascii_case("bearer"))
}

/// `Name: value` as it may be shown; of what has no colon, nothing.
fn line(line: &str) -> Cow<'_, str> {
    match line.split_once(':') {
        None => Cow::Borrowed(MARK),
        Some((name, value)) if is_secret(name.trim()) || is_bearer(value) => {
            Cow::Owned(format!("{name}: {MARK}"))
        }
        Some((_, value)) if value.contains("://") => Cow::Owned(url(line)),
        Some(_) => Cow::Borrowed(line),
    }
}

/// Scheme and slashes; the user name and password; the rest, from the host on.
fn taken_apart(address: &str) -> (&str, &str, &str) {
    let start = address.find("://").map_or(0, |offset| offset + 3);
    let (place, body) = address.split_at(start);
    let authority = body.split(['/', '?', '#']).next().unwrap_or_default();
    if start == 0 && !(authority.contains(':') && body.contains('@')) {
        return (place, "", body);
    }
    if let Some((user, _)) = authority.rsplit_once('@') {
        return (place, user, body.get(user.len() + 1..).unwrap_or_default());
    }
    let port = authority.rsplit_once(':').map_or("1", |(_, port)| port);
    let is_port = !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
    if is_port || authority.ends_with(']') {
        return (place, "", body);
    }
    // A password with a slash or a question mark in it, which should have been escaped.
    if let Some((user, rest)) = body.rsplit_once('@') {
        return (place, user, rest);
    }
    (place, "", body)
}

/// The address in pieces; one that ends in a secret's name and `=` comes with the secret.
fn pieces(address: &str) -> Vec<(&str, Option<&str>)> {
    let Some(offset) = address.find(['?', '#']) else { return vec![(address, None)] };
    let (head, query) = address.split_at(offset + 1);
    let mut found = vec![(head, None)];
    let mut begin = 0;
    for (end, letter) in query.char_indices().chain([(query.len(), '&')]) {
        if !matches!(letter, '&' | '#' | '?') {
            continue;
        }
        let piece = query.get(begin..end).unwrap_or_default();
        found.push(parameter(piece));
        found.push((query.get(end..end + 1).unwrap_or_default(), None));
        begin = end + 1;
    }
    found
}

/// One parameter, or several behind `;`: from the first secret on, all of it may be the secret.
fn parameter(piece: &str) -> (&str, Option<&str>) {
    let mut begin = 0;
    for part in piece.split(';') {
        if let Some((name, _)) = part.split_once('=').filter(|(name, _)| is_secret(name)) {
            let (shown, secret) = piece.split_at(begin + name.len() + 1);
            return (shown, Some(secret));
        }
        begin += part.len() + 1;
    }
    (piece, None)
}

/// Without the user name of a URL that is part of another one.
fn without_inner_users(address: &str, from: usize) -> String {
    let (mut shown, mut rest) = (String::new(), address);
    let mut offset = from;
    while let Some(found) = rest.get(offset..).and_then(|behind| behind.find("://")) {
        let (head, behind) = rest.split_at(offset + found + 3);
        shown += head;
        let end = behind.find(['/', '?', '#', '&', ' ', '@']).unwrap_or(behind.len());
        rest = behind;
        if behind[end..].starts_with('@') && end > 0 {
            shown += MARK;
            rest = &behind[end..];
        }
        offset = 0;
    }
    shown + rest
}

/// With what is escaped by `%` as it is meant.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut offset = 0;
    while let Some(&byte) = bytes.get(offset) {
        let escaped = (byte == b'%')
            .then(|| text.get(offset + 1..offset + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        plain.push(escaped.unwrap_or(byte));
        offset += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// In small letters, `accessToken` as `access-token`.
fn separated(name: &str) -> String {
    let mut plain = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for letter in name.chars() {
        let ended = before.is_ascii_lowercase() || before.is_ascii_digit();
        if letter.is_ascii_uppercase() && ended {
            plain.push('-');
        }
        plain.push(letter.to_ascii_lowercase());
        before = letter;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the laboratory's test reads, too.
    const CASES: &str = include_str!("../../../../tests/redaction-urls.txt");

    #[test]
    fn the_table_that_both_halves_keep() {
        let cases: Vec<_> = CASES.lines().filter_map(|line| line.split_once(" -> ")).collect();
        assert!(cases.len() > 20);
        for (address, shown) in cases {
            assert_eq!(url(address), shown, "{address}");
            assert_eq!(url(shown), shown, "once more");
        }
    }

    #[test]
    fn a_command_line_keeps_its_other_words() {
        let words = [
            "load",
            "http://h/?token=x",
            "-H",
            "Authorization: x",
            "--header=Cookie: x",
            "-HX-Api-Key: x",
            "-H",
            "x",
            "-H",
            "Accept: */*",
            "--publish-header",
            "Cookie: x",
            "--publish-header=X-Api-Key: x",
            "-c",
            "4",
        ];
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        assert_eq!(
            command(&words).join(" "),
            "load http://h/?token=*** -H Authorization: *** --header=Cookie: *** -HX-Api-Key: *** \
             -H *** -H Accept: */* --publish-header Cookie: *** \
             --publish-header=X-Api-Key: *** -c 4"
        );
    }

    #[test]
    fn what_a_server_sends_back_is_found() {
        let headers = [("Authorization".to_owned(), "Bearer abcdef".to_owned())];
        let secrets = Secrets::of("http://h/?a=1&token=one%20two", &headers);
        assert_eq!(secrets.hidden_in("abcdef, one two, one%20two, a=1"), "***, ***, ***, a=1");
    }
}
