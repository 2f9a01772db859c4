//! A service of gRPC: what a client says comes back.
//!
//! Knows its methods, their messages and what may be asked of an answer. Must not know streams.
//!
//! Messages are bytes here, whatever they say: no field is looked at.

use wiretrial_proto::grpc::{Deframer, Status, encoded, framed};

use crate::route::decoded;

/// The longest content of a call that is kept until its answer, bytes.
const MOST_KEPT: usize = 16 << 20;
/// Messages of an answer, and all of their bytes.
const MOST_MESSAGES: usize = 100_000;
const MOST_BYTES: usize = 64 << 20;
/// Messages of an answer where nobody says how many.
const USUAL_MESSAGES: usize = 10;

/// A call that is not answered whole.
#[derive(Debug)]
pub(super) struct Call {
    method: Option<Method>,
    /// What the client said so far, with the prefixes of its messages.
    content: Vec<u8>,
    frames: Deframer,
    /// It can't be answered.
    fault: Option<(Status, &'static str)>,
    wish: Wish,
}

/// What is asked of an answer, in the query of the call's path.
#[derive(Debug, PartialEq, Eq)]
struct Wish {
    /// Messages of it, where that is the server's to say.
    count: usize,
    status: Status,
    /// What is said of the status.
    said: String,
    /// Its status is left out.
    bare: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// The message.
    Unary,
    /// The message, several times.
    Server,
    /// The last message.
    Client,
    /// Each message, as it comes.
    Bidi,
}

/// An answer, whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answered {
    /// Messages with their prefixes.
    pub(super) content: Vec<u8>,
    /// The status and what is said of it, as they stand in their fields; none: they are left out.
    pub(super) status: Option<(String, String)>,
}

/// Does this path name a method?
pub(super) fn has(target: &str) -> bool {
    Method::of(target.split('?').next().unwrap_or_default()).is_some()
}

/// What is wrong with messages in this encoding; none: nothing.
pub(super) fn refused_encoding(encoding: Option<&[u8]>) -> Option<(Status, &'static str)> {
    let is_plain = encoding.is_none_or(|encoding| encoding.eq_ignore_ascii_case(b"identity"));
    (!is_plain).then_some((Status::UNIMPLEMENTED, "messages are taken uncompressed"))
}

impl Method {
    fn of(path: &str) -> Option<Self> {
        match path {
            "/wiretrial.Echo/Unary" => Some(Self::Unary),
            "/wiretrial.Echo/Server" => Some(Self::Server),
            "/wiretrial.Echo/Client" => Some(Self::Client),
            "/wiretrial.Echo/Bidi" => Some(Self::Bidi),
            _ => None,
        }
    }
}

impl Call {
    /// A call of what this path names, whose messages are in this encoding.
    pub(super) fn of(target: &str, encoding: Option<&[u8]>) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let method = Method::of(path);
        let no_method = method.is_none().then_some((Status::UNIMPLEMENTED, "no such method"));
        let fault = no_method.or_else(|| refused_encoding(encoding));
        let (content, frames, wish) = (Vec::new(), Deframer::default(), Wish::of(query));
        Self { method, content, frames, fault, wish }
    }

    /// May it be answered as it comes?
    pub(super) fn flows(&self) -> bool {
        self.method == Some(Method::Bidi)
    }

    /// A piece of what the client says. What comes back at once is the piece itself, as far as nothing is wrong.
    pub(super) fn piece(&mut self, piece: &[u8], keeps: bool) -> bool {
        if self.fault.is_some() {
            return false;
        }
        if self.frames.pass(piece).is_err() {
            self.fault = Some((Status::INTERNAL, "a message is compressed, and in no encoding"));
        } else if keeps && self.content.len() + piece.len() > MOST_KEPT {
            self.fault = Some((Status::RESOURCE_EXHAUSTED, "the call is too long"));
        } else if keeps {
            self.content.extend_from_slice(piece);
        }
        self.fault.is_none()
    }

    /// All of the call came: its answer, without what came back before.
    pub(super) fn answer(&self, fails: bool) -> Answered {
        let result = match (self.method, self.fault) {
            _ if fails => Err((Status::INTERNAL, "scripted fault")),
            (Some(method), None) if self.frames.is_between() => self.messages(method),
            (_, Some(fault)) => Err(fault),
            _ => Err((Status::INTERNAL, "the call ended inside a message")),
        };
        let Wish { status, said, bare, .. } = &self.wish;
        match result {
            Err((status, said)) => Answered {
                content: Vec::new(),
                status: Some((status.0.to_string(), encoded(said))),
            },
            Ok(content) => {
                Answered { content, status: (!bare).then(|| (status.0.to_string(), encoded(said))) }
            }
        }
    }

    fn messages(&self, method: Method) -> Result<Vec<u8>, (Status, &'static str)> {
        let mut frames = Deframer::default();
        let (mut input, mut messages) = (&self.content[..], Vec::new());
        // It was looked at as it came, so that nothing is wrong with it.
        while let Ok(Some(part)) = frames.next(&mut input) {
            messages.push(part.piece);
        }
        let last = messages.last().copied();
        let one = last.filter(|_| messages.len() == 1);
        let wrong = (Status::UNIMPLEMENTED, "the method takes one message");
        let back = match method {
            Method::Bidi => messages,
            Method::Unary => vec![one.ok_or(wrong)?],
            Method::Server => {
                let one = one.ok_or(wrong)?;
                let count = self.wish.count;
                if count.saturating_mul(one.len()) > MOST_BYTES {
                    return Err((Status::RESOURCE_EXHAUSTED, "the answer is too long"));
                }
                vec![one; count]
            }
            Method::Client => {
                vec![last.ok_or((Status::INTERNAL, "the method takes a message or more"))?]
            }
        };
        framed(back).ok_or((Status::INTERNAL, "a message is too long"))
    }
}

impl Wish {
    fn of(query: &str) -> Self {
        let mut wish =
            Self { count: USUAL_MESSAGES, status: Status::OK, said: String::new(), bare: false };
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match name {
                "count" => {
                    let count = value.parse().unwrap_or(USUAL_MESSAGES);
                    wish.count = count.min(MOST_MESSAGES);
                }
                "status" => {
                    let status = Status::parse(value.as_bytes());
                    wish.status = status.map_or(Status::OK, Status);
                }
                "said" => wish.said = decoded(value),
                "bare" => wish.bare = value == "1",
                _ => {}
            }
        }
        wish
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(target: &str, content: &[u8]) -> Answered {
        let mut call = Call::of(target, None);
        for piece in content.chunks(3) {
            call.piece(piece, true);
        }
        call.answer(false)
    }

    fn frames(messages: &[&[u8]]) -> Vec<u8> {
        framed(messages.iter().copied()).expect("short ones")
    }

    #[test]
    fn table_of_methods() {
        let (one, two) = (frames(&[b"ab"]), frames(&[b"ab", b""]));
        let ok = Some(("0".to_owned(), String::new()));
        for (method, content, back) in [
            ("Unary", &one, one.clone()),
            ("Server?count=3", &one, frames(&[&b"ab"[..]; 3])),
            ("Server?count=0", &one, Vec::new()),
            ("Server", &one, frames(&[&b"ab"[..]; 10])),
            ("Client", &two, frames(&[b""])),
            ("Bidi", &two, two.clone()),
            ("Bidi", &Vec::new(), Vec::new()),
        ] {
            let answered = answer(&format!("/wiretrial.Echo/{method}"), content);
            assert_eq!(answered, Answered { content: back, status: ok.clone() }, "{method}");
        }
    }

    #[test]
    fn table_of_wrong_calls() {
        let (one, two) = (frames(&[b"ab"]), frames(&[b"ab", b""]));
        let compressed = [1, 0, 0, 0, 0];
        for (method, content, status) in [
            // How many messages there are is part of what a method is.
            ("/wiretrial.Echo/Unary", &two[..], "12"),
            ("/wiretrial.Echo/Unary", &[], "12"),
            ("/wiretrial.Echo/Server", &two, "12"),
            ("/wiretrial.Echo/Client", &[], "13"),
            ("/wiretrial.Echo/Bidi", &one[..6], "13"),
            ("/wiretrial.Echo/Unary", &compressed, "13"),
            ("/wiretrial.Echo/Other", &one, "12"),
            ("/message", &one, "12"),
        ] {
            let Answered { content: back, status: found } = answer(method, content);
            let found = found.map(|(status, _)| status);
            assert_eq!((back, found.as_deref()), (Vec::new(), Some(status)), "{method}");
        }
    }

    #[test]
    fn encodings_that_are_not_known_are_refused_by_their_names() {
        let one = frames(&[b"ab"]);
        for (encoding, status) in [("identity", "0"), ("Identity", "0"), ("gzip", "12")] {
            let mut call = Call::of("/wiretrial.Echo/Unary", Some(encoding.as_bytes()));
            call.piece(&one, true);
            let found = call.answer(false).status.map(|(status, _)| status);
            assert_eq!(found.as_deref(), Some(status), "{encoding}");
        }
    }

    #[test]
    fn what_is_asked_of_an_answer() {
        let one = frames(&[b"ab"]);
        let asked = |query: &str| answer(&format!("/wiretrial.Echo/Unary?{query}"), &one).status;
        let status = |status: &str, said: &str| Some((status.to_owned(), said.to_owned()));
        assert_eq!(asked("status=5&said=no%20such%C3%AB"), status("5", "no such%C3%AB"));
        assert_eq!(asked("status=five"), status("0", ""));
        assert_eq!(asked("bare=1"), None);
        let mut call = Call::of("/wiretrial.Echo/Unary?bare=1", None);
        call.piece(&one, true);
        assert_eq!(call.answer(true).status, status("13", "scripted fault"));
    }
}
