//! Header fields as a browser sends them, of which none, some or all are another's in each request.
//!
//! Knows their names and values. Must not know how they are encoded, nor which message it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::NUMBER_BYTES;

/// Which of ten header fields, like those of a browser, are another's in each request. Names and lengths are the
/// same in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HeaderProfile {
    /// None: each request says the same.
    Constant,
    /// Two: the cookie and the request's id.
    Partly,
    /// All: no request says what another has said.
    Unique,
}

/// Fields that requests have beside their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Which one it is.
    pub kind: HeaderProfile,
    /// Its fields, but for those that the target says itself.
    pub fields: Vec<Field>,
}

/// A header field whose value may have the message's number in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: Vec<Piece>,
}

/// A piece of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// As it stands.
    Text(&'static str),
    /// So many of the 16 hexadecimal digits of the message's number, behind those that stand before it in the value.
    Digits(usize),
}

use Piece::{Digits, Text};

/// What stands for the number where it is the same in each request.
const SAME: &str = "2f6b9c1e84a7d035";

/// Names and values as a program in a browser sends them. All digits of the number are in each value, and no field
/// asks for something that a server may refuse, or may answer in another way: no encoding, no range, no origin.
const FIELDS: [(&str, &[Piece]); 10] = [
    (
        "User-Agent",
        &[
            Text("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "),
            Text("Chrome/143.0.0.0 Safari/537.36 wiretrial/"),
            Digits(16),
        ],
    ),
    ("Accept", &[Text("application/json;v="), Digits(16), Text(", */*;q=0.8")]),
    // A part of a language's name has 8 letters at most (RFC 5646 section 2.1).
    (
        "Accept-Language",
        &[Text("en-GB,en;q=0.9,x-"), Digits(8), Text("-"), Digits(8), Text(";q=0.1")],
    ),
    (
        "Sec-CH-UA",
        &[Text("\"Chromium\";v=\"143\", \"Not A(Brand\";v=\"24."), Digits(16), Text("\"")],
    ),
    ("Sec-CH-UA-Platform", &[Text("\"Linux "), Digits(16), Text("\"")]),
    ("Cookie", &[Text("theme=dark; lang=en; visit="), Digits(16)]),
    ("Baggage", &[Text("tenant=blue,visit="), Digits(16)]),
    ("X-Client-Id", &[Digits(16)]),
    ("X-Client-Version", &[Text("4.12.0+"), Digits(16)]),
    ("X-Request-Id", &[Digits(16)]),
];
/// What is another's in each request of [`HeaderProfile::Partly`].
const VARYING: [&str; 2] = ["Cookie", "X-Request-Id"];

impl Profile {
    /// Its fields beside these, which a target says itself: a field of the same name takes the place of ours.
    pub fn new(kind: HeaderProfile, own: &[(String, String)]) -> Self {
        let is_own = |name: &str| own.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let fields = FIELDS.iter().filter(|(name, _)| !is_own(name)).map(|&(name, value)| {
            let varies = match kind {
                HeaderProfile::Constant => false,
                HeaderProfile::Partly => VARYING.contains(&name),
                HeaderProfile::Unique => true,
            };
            Field { name, value: if varies { value.to_vec() } else { same(value) } }
        });
        Self { kind, fields: fields.collect() }
    }

    /// Its fields with values that are the same each time, by name.
    pub fn as_constant(&self) -> impl Iterator<Item = (String, String)> {
        self.fields.iter().map(|field| {
            let texts = same(&field.value).into_iter().map(|piece| match piece {
                Text(text) => text,
                Digits(_) => "",
            });
            (field.name.to_owned(), texts.collect())
        })
    }

    /// Names and values together, bytes.
    pub fn bytes(&self) -> usize {
        let length = |piece: &Piece| match piece {
            Text(text) => text.len(),
            Digits(width) => *width,
        };
        let of = |field: &Field| field.name.len() + field.value.iter().map(length).sum::<usize>();
        self.fields.iter().map(of).sum()
    }
}

/// The value with the same digits each time.
fn same(value: &[Piece]) -> Vec<Piece> {
    let mut from = 0;
    let pieces = value.iter().map(|piece| match *piece {
        Digits(width) => {
            let begin = from;
            from += width;
            Text(&SAME[begin..from])
        }
        text @ Text(_) => text,
    });
    pieces.collect()
}

/// Each value has all digits of a number, so that no two are alike.
const _: () = {
    assert!(SAME.len() == NUMBER_BYTES);
    let mut field = 0;
    while field < FIELDS.len() {
        let (mut piece, mut digits) = (0, 0);
        while piece < FIELDS[field].1.len() {
            if let Digits(width) = FIELDS[field].1[piece] {
                digits += width;
            }
            piece += 1;
        }
        assert!(digits == NUMBER_BYTES);
        field += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [HeaderProfile; 3] =
        [HeaderProfile::Constant, HeaderProfile::Partly, HeaderProfile::Unique];

    fn varying(profile: &Profile) -> Vec<&str> {
        let has_digits = |field: &&Field| field.value.iter().any(|it| matches!(it, Digits(_)));
        profile.fields.iter().filter(has_digits).map(|field| field.name).collect()
    }

    #[test]
    fn profiles_differ_in_what_is_another_s_alone() {
        let profiles = ALL.map(|kind| Profile::new(kind, &[]));
        assert_eq!(profiles.each_ref().map(|one| varying(one).len()), [0, 2, 10]);
        assert_eq!(varying(&profiles[1]), VARYING);
        for profile in &profiles {
            assert_eq!(profile.bytes(), profiles[0].bytes(), "{:?}", profile.kind);
            assert!(profile.as_constant().eq(profiles[0].as_constant()), "{:?}", profile.kind);
        }
        let texts: usize =
            profiles[0].as_constant().map(|(name, value)| name.len() + value.len()).sum();
        assert_eq!(texts, profiles[0].bytes());
    }

    #[test]
    fn a_target_s_own_field_takes_the_place_of_ours() {
        let own = [("cookie".to_owned(), "a=b".to_owned()), ("X-Own".to_owned(), String::new())];
        let profile = Profile::new(HeaderProfile::Partly, &own);
        assert_eq!(profile.fields.len(), FIELDS.len() - 1);
        assert_eq!(varying(&profile), ["X-Request-Id"]);
    }

    /// Names as they are read (RFC 9110 section 5.1), each once; values that may stand in a field.
    #[test]
    fn all_of_them_may_be_said() {
        let mut names: Vec<_> = FIELDS.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), FIELDS.len());
        for (name, value) in Profile::new(HeaderProfile::Constant, &[]).as_constant() {
            assert!(value.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{name}: {value}");
            assert_eq!(value.trim(), value, "{name}");
        }
    }
}
