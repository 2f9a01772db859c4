//! The peer's control stream (RFC 9114 section 6.2.1).
//!
//! Knows which frame may come there and when; must not know what it does to a request.

use super::frame::{ErrorCode, FrameHead, Kind};
use super::{Settings, varint};

/// The longest frame on it that is waited for, bytes: settings have some tens.
const MOST: u64 = 16_384;

/// What the peer said of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// What it takes; once, and first.
    Settings(Settings),
    /// It leaves: no stream from this one on counts.
    Leaving(u64),
}

/// The reader of the peer's control stream, behind its first number.
#[derive(Debug, Clone)]
pub struct ControlReader {
    is_client: bool,
    has_settings: bool,
    /// The last stream that it named when it left: a later farewell names no greater one.
    last: Option<u64>,
    /// The greatest push that it allows.
    pushes: u64,
    /// Bytes of a frame that means nothing that are still to come.
    skipped: u64,
}

impl ControlReader {
    /// At a client, or at a server.
    pub fn new(is_client: bool) -> Self {
        Self { is_client, has_settings: false, last: None, pushes: 0, skipped: 0 }
    }

    /// Takes in what is at the begin of `input`; to be called until it brings nothing. Returns how many
    /// bytes are done with, and what they said.
    ///
    /// # Errors
    /// The peer breaks the rules, which ends the connection.
    pub fn read(&mut self, input: &[u8]) -> Result<(usize, Option<Said>), ErrorCode> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            let passed = rest.len().min(usize::try_from(self.skipped).unwrap_or(usize::MAX));
            self.skipped -= passed as u64;
            consumed += passed;
            if self.skipped > 0 {
                return Ok((consumed, None));
            }
            let rest = &input[consumed..];
            let Some(head) = FrameHead::read(rest) else { return Ok((consumed, None)) };
            if !self.has_settings && head.kind != Kind::Settings {
                return Err(ErrorCode::MissingSettings);
            }
            if head.kind == Kind::Other {
                consumed += head.size;
                self.skipped = head.length;
                continue;
            }
            self.check(head.kind)?;
            if head.length > MOST {
                return Err(ErrorCode::ExcessiveLoad);
            }
            let end = head.size + head.length as usize;
            let Some(payload) = rest.get(head.size..end) else { return Ok((consumed, None)) };
            consumed += end;
            if let Some(said) = self.take(head.kind, payload)? {
                return Ok((consumed, Some(said)));
            }
        }
    }

    /// May this frame come here?
    fn check(&self, kind: Kind) -> Result<(), ErrorCode> {
        match kind {
            Kind::Settings if !self.has_settings => Ok(()),
            Kind::GoAway | Kind::CancelPush => Ok(()),
            // Only a client says how many pushes it takes.
            Kind::MaxPushId if !self.is_client => Ok(()),
            _ => Err(ErrorCode::FrameUnexpected),
        }
    }

    fn take(&mut self, kind: Kind, payload: &[u8]) -> Result<Option<Said>, ErrorCode> {
        if kind == Kind::Settings {
            self.has_settings = true;
            return Ok(Some(Said::Settings(Settings::read(payload)?)));
        }
        let (number, length) = varint::read(payload).ok_or(ErrorCode::FrameError)?;
        if length != payload.len() {
            return Err(ErrorCode::FrameError);
        }
        match kind {
            Kind::GoAway => {
                // A server names a stream that a client began (RFC 9000 section 2.1).
                let is_stream = !self.is_client || number % 4 == 0;
                if !is_stream || self.last.is_some_and(|last| number > last) {
                    return Err(ErrorCode::IdError);
                }
                self.last = Some(number);
                Ok(Some(Said::Leaving(number)))
            }
            Kind::MaxPushId if number < self.pushes => Err(ErrorCode::IdError),
            Kind::MaxPushId => {
                self.pushes = number;
                Ok(None)
            }
            // A push that nobody promised can't be cancelled (section 7.2.3).
            _ => Err(ErrorCode::IdError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http3::frame::{write_goaway, write_head};

    /// What the stream says, cut at each of these places.
    fn read(is_client: bool, input: &[u8], cuts: &[usize]) -> Result<Vec<Said>, ErrorCode> {
        let mut reader = ControlReader::new(is_client);
        let (mut found, mut begin) = (Vec::new(), 0);
        for &end in cuts.iter().chain([&input.len()]) {
            loop {
                let (consumed, said) = reader.read(&input[begin..end.max(begin)])?;
                begin += consumed;
                let Some(said) = said else { break };
                found.push(said);
            }
        }
        Ok(found)
    }

    fn of(frames: &[(u64, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (kind, payload) in frames {
            write_head(*kind, payload.len() as u64, &mut out);
            out.extend_from_slice(payload);
        }
        out
    }

    #[test]
    fn settings_come_first_and_farewells_behind() {
        let own = Settings { max_field_section: 9_000, ..Settings::default() };
        let mut input = Vec::new();
        own.write(&mut input);
        input.extend_from_slice(&of(&[(0x21, b"???"), (0xf0700, b"")]));
        write_goaway(400, &mut input);
        write_goaway(0, &mut input);
        let said = [Said::Settings(own), Said::Leaving(400), Said::Leaving(0)];
        assert_eq!(read(true, &input, &[]).as_deref(), Ok(&said[..]));
        let each: Vec<usize> = (0..input.len()).collect();
        assert_eq!(read(true, &input, &each).as_deref(), Ok(&said[..]), "byte by byte");
        for at in 0..input.len() {
            assert_eq!(read(true, &input, &[at]).as_deref(), Ok(&said[..]), "cut at {at}");
        }
    }

    #[test]
    fn a_client_may_say_how_many_pushes_it_takes() {
        let input = of(&[(0x4, b""), (0xd, b"\x05"), (0xd, b"\x05"), (0xd, b"\x09")]);
        assert_eq!(read(false, &input, &[]), Ok(vec![Said::Settings(Settings::default())]));
    }

    #[test]
    fn what_breaks_the_rules_is_refused() {
        type Frames<'a> = &'a [(u64, &'a [u8])];
        let cases: [(bool, Frames<'_>, ErrorCode, &str); 13] = [
            (true, &[(0x7, b"\x00")], ErrorCode::MissingSettings, "a farewell first"),
            (true, &[(0x21, b"")], ErrorCode::MissingSettings, "what nobody knows first"),
            (true, &[(0x4, b""), (0x4, b"")], ErrorCode::FrameUnexpected, "settings twice"),
            (true, &[(0x4, b""), (0x0, b"")], ErrorCode::FrameUnexpected, "content"),
            (true, &[(0x4, b""), (0x1, b"")], ErrorCode::FrameUnexpected, "fields"),
            (true, &[(0x4, b""), (0x6, b"")], ErrorCode::FrameUnexpected, "a ping of HTTP/2"),
            (true, &[(0x4, b""), (0xd, b"\x00")], ErrorCode::FrameUnexpected, "a server's"),
            (false, &[(0x4, b""), (0xd, b"\x05"), (0xd, b"\x04")], ErrorCode::IdError, "fewer"),
            (true, &[(0x4, b""), (0x3, b"\x00")], ErrorCode::IdError, "a push that was not"),
            (true, &[(0x4, b""), (0x7, b"\x01")], ErrorCode::IdError, "no request's stream"),
            (true, &[(0x4, b""), (0x7, b"\x04"), (0x7, b"\x08")], ErrorCode::IdError, "greater"),
            (true, &[(0x4, b""), (0x7, b"")], ErrorCode::FrameError, "a farewell to nothing"),
            (true, &[(0x4, b""), (0x7, b"\x00\x00")], ErrorCode::FrameError, "and more"),
        ];
        for (is_client, frames, error, name) in cases {
            assert_eq!(read(is_client, &of(frames), &[]), Err(error), "{name}");
        }
        let mut long = of(&[(0x4, b"")]);
        write_head(0x7, MOST + 1, &mut long);
        assert_eq!(read(true, &long, &[]), Err(ErrorCode::ExcessiveLoad));
    }
}
