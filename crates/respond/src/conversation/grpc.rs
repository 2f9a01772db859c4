//! A service of gRPC: what a client says comes back.
//!
//! Knows its methods, their messages and what may be asked of an answer. Must not know streams.
//!
//! Messages are bytes here, whatever they say: no field is looked at.

use wiretrial_proto::grpc::{Deframer, Gzip, Status, encoded, framed};

use super::encodings::{self, COMPRESSED, Codecs, Encodings, MOST_INFLATED, Pieces};
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
    /// Where its messages may be compressed: where they are, and what came of the one in which they are.
    packed: Option<Box<Pieces>>,
    encodings: Encodings,
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
    /// Its messages are in gzip, where the client takes that.
    gzip: bool,
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
    /// A call of what this path names, with messages in these encodings.
    pub(super) fn of(target: &str, encodings: Encodings) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let method = Method::of(path);
        let no_method = method.is_none().then_some((Status::UNIMPLEMENTED, "no such method"));
        let fault = no_method.or_else(|| encodings.refused());
        let (content, frames, wish) = (Vec::new(), Deframer::default(), Wish::of(query));
        let packed = encodings.pieces();
        Self { method, content, frames, packed, encodings, fault, wish }
    }

    /// May it be answered as it comes?
    pub(super) fn flows(&self) -> bool {
        self.method == Some(Method::Bidi)
    }

    /// Do the messages of its answer go in gzip?
    fn answers_gzip(&self) -> bool {
        self.encodings.answers_gzip() || (self.wish.gzip && self.encodings.takes_gzip)
    }

    /// What is said of encodings in the head of its answer.
    pub(super) fn encoding(&self) -> Option<(&'static str, &'static [u8])> {
        self.encodings.field(self.answers_gzip())
    }

    /// A piece of what the client says. Gives what comes back at once of a call that flows, as far as nothing is wrong:
    /// the piece itself, or the messages that are whole with it, where any is compressed.
    pub(super) fn piece<'p>(
        &mut self,
        piece: &'p [u8],
        flows: bool,
        codecs: &'p mut Codecs,
    ) -> &'p [u8] {
        if self.fault.is_some() {
            return &[];
        }
        let answers_gzip = self.answers_gzip();
        let Codecs { gunzip, gzip, plain, packed } = codecs;
        let pieces = self.packed.as_deref_mut();
        let unpacked = encodings::unpacked(pieces, piece, MOST_INFLATED, gunzip, plain);
        let passed = unpacked
            .and_then(|taken| self.frames.pass(taken).map(|_| taken).map_err(|_| COMPRESSED));
        let taken = match passed {
            Ok(taken) => taken,
            Err(fault) => {
                self.fault = Some(fault);
                return &[];
            }
        };
        if flows && self.packed.is_none() && !answers_gzip {
            return piece;
        }
        if self.content.len() + taken.len() > MOST_KEPT {
            self.fault = Some((Status::RESOURCE_EXHAUSTED, "the call is too long"));
            return &[];
        }
        self.content.extend_from_slice(taken);
        if !flows {
            return &[];
        }
        let whole = whole(&self.content);
        packed.clear();
        if answers_gzip {
            gzip.messages(&self.content[..whole], packed);
        } else {
            packed.extend_from_slice(&self.content[..whole]);
        }
        self.content.drain(..whole);
        packed
    }

    /// All of the call came: its answer, without what came back before.
    pub(super) fn answer(&self, fails: bool) -> Answered {
        let result = match (self.method, self.fault) {
            _ if fails => Err((Status::INTERNAL, "scripted fault")),
            (Some(method), None) if self.is_between() => self.messages(method),
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

    /// Messages of its answer as they go.
    pub(super) fn as_they_go(&self, content: Vec<u8>, gzip: &mut Gzip) -> Vec<u8> {
        if self.answers_gzip() { packed(&content, gzip) } else { content }
    }

    /// Has no message begun that is not whole?
    fn is_between(&self) -> bool {
        encodings::is_between(&self.frames, self.packed.as_deref())
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

/// How many bytes of this content are whole messages.
fn whole(content: &[u8]) -> usize {
    let (mut frames, mut rest, mut end) = (Deframer::default(), content, 0);
    while let Ok(Some(part)) = frames.next(&mut rest) {
        if part.ends {
            end = content.len() - rest.len();
        }
    }
    end
}

fn packed(content: &[u8], gzip: &mut Gzip) -> Vec<u8> {
    let mut packed = Vec::new();
    gzip.messages(content, &mut packed);
    packed
}

impl Wish {
    fn of(query: &str) -> Self {
        let (count, said) = (USUAL_MESSAGES, String::new());
        let mut wish = Self { count, status: Status::OK, said, bare: false, gzip: false };
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
                "gzip" => wish.gzip = value == "1",
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
        said_in(target, Encodings::default(), content)
    }

    fn said_in(target: &str, encodings: Encodings, content: &[u8]) -> Answered {
        let (mut call, mut codecs) = (Call::of(target, encodings), Codecs::default());
        for piece in content.chunks(3) {
            call.piece(piece, false, &mut codecs);
        }
        let Answered { content, status } = call.answer(false);
        Answered { content: call.as_they_go(content, &mut codecs.gzip), status }
    }

    /// Messages in gzip, behind their prefixes.
    fn in_gzip(messages: &[&[u8]]) -> Vec<u8> {
        packed(&frames(messages), &mut Gzip::default())
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
        for (encoding, status) in
            [("identity", "0"), ("Identity", "0"), ("gzip", "0"), ("snappy", "12"), ("", "12")]
        {
            let encodings = Encodings::said(Some(encoding.as_bytes()), None);
            let found = said_in("/wiretrial.Echo/Unary", encodings, &one).status;
            let found = found.map(|(status, _)| status);
            assert_eq!(found.as_deref(), Some(status), "{encoding}");
            let told = encodings.field(false);
            assert_eq!(told.is_some(), status == "12", "{encoding}: what there is is told");
        }
    }

    #[test]
    fn messages_in_gzip_come_back_as_the_client_takes_them() {
        let (plain, gzip) = (frames(&[b"abcabc"]), in_gzip(&[b"abcabc"]));
        let unary = "/wiretrial.Echo/Unary";
        for (path, sent, accepted, content, back) in [
            (unary, "gzip", "gzip", &gzip, &gzip),
            (unary, "gzip", "gzip", &plain, &gzip),
            (unary, "gzip", "", &gzip, &plain),
            // Who says that it takes gzip, as all clients of some languages do, does not ask for it.
            (unary, "identity", "identity,gzip", &plain, &plain),
            ("/wiretrial.Echo/Unary?gzip=1", "identity", "identity,gzip", &plain, &gzip),
            ("/wiretrial.Echo/Unary?gzip=1", "identity", "", &plain, &plain),
            ("/wiretrial.Echo/Client", "gzip", "gzip", &[&plain[..], &gzip].concat(), &gzip),
        ] {
            let encodings = Encodings::said(Some(sent.as_bytes()), Some(accepted.as_bytes()));
            let answered = said_in(path, encodings, content);
            assert_eq!(answered.status, Some(("0".to_owned(), String::new())));
            assert_eq!(&answered.content, back, "{path} {sent} {accepted}");
        }
    }

    #[test]
    fn a_call_that_flows_gives_each_message_back_once_it_is_whole() {
        let (plain, gzip) = (frames(&[b"ab", b"", b"cde"]), in_gzip(&[b"ab", b"", b"cde"]));
        let both = Encodings { is_gzip: true, takes_gzip: true, is_unknown: false };
        for (encodings, sent, back) in [
            (both, &gzip, &gzip),
            (both, &plain, &gzip),
            (Encodings { takes_gzip: false, ..both }, &gzip, &plain),
            (Encodings::default(), &plain, &plain),
        ] {
            for cut in 1..=sent.len() {
                let mut call = Call::of("/wiretrial.Echo/Bidi", encodings);
                let (mut codecs, mut came) = (Codecs::default(), Vec::new());
                for piece in sent.chunks(cut) {
                    came.extend_from_slice(call.piece(piece, true, &mut codecs));
                }
                assert_eq!(&came, back, "{encodings:?} cut to {cut}");
                let ok = Some(("0".to_owned(), String::new()));
                let answered = call.answer(false);
                assert_eq!(answered, Answered { content: Vec::new(), status: ok });
            }
        }
    }

    #[test]
    fn what_is_wrong_with_a_message_in_gzip_is_the_call_s_status() {
        let encodings = Encodings { is_gzip: true, ..Encodings::default() };
        let yes = in_gzip(&[b"yes"]);
        for (content, status) in [
            (vec![1, 0, 0, 0, 3, b'y', b'e', b's'], "13"),
            (yes[..yes.len() - 1].to_vec(), "13"),
            (vec![2, 0, 0, 0, 0], "13"),
            (in_gzip(&[&vec![0; MOST_KEPT + 1]]), "8"),
        ] {
            let answered = said_in("/wiretrial.Echo/Unary", encodings, &content);
            let found = answered.status.map(|(status, _)| status);
            assert_eq!((answered.content, found.as_deref()), (Vec::new(), Some(status)));
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
        let mut call = Call::of("/wiretrial.Echo/Unary?bare=1", Encodings::default());
        let mut codecs = Codecs::default();
        call.piece(&one, false, &mut codecs);
        assert_eq!(call.answer(true).status, status("13", "scripted fault"));
    }
}
