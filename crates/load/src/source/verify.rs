//! Is this reply right? Checked as it flows, byte by byte, without being held; only where rules
//! are to be looked up in it, it is.

use std::sync::Arc;

use super::Payloads;
use super::excerpt::escaped;
use super::rules::Rules;
use super::template::same;
use super::wire::Come;
use crate::plan::ContentRule;
use crate::plan::wire::Messages;

/// What is shown of a difference: bytes before it, which are right, and from it on.
const BEFORE: usize = 24;
const AFTER: usize = 24;
/// The largest reply in which rules are looked up, bytes.
const MOST_LOOKED_AT: usize = 16 << 20;
/// What to do about replies that are right and not all alike.
const VARIES: &str =
    "; where replies vary, use --expect shape, status, json:PATH=VALUE or regex:PATTERN";

/// Says what right content is.
#[derive(Debug, Clone)]
pub enum Verifier {
    /// The request's own payload.
    Echo,
    /// Always these bytes.
    Fixed(Arc<[u8]>),
    /// Those of the first reply.
    Learned(Arc<[u8]>),
    /// Anything.
    Any,
    /// Content in which rules hold.
    Matching(Arc<Rules>),
    /// Messages of gRPC.
    Messages(Arc<Messages>),
}

/// How far the current reply of one connection has come.
#[derive(Debug, Default)]
pub struct Progress {
    /// Payload bytes so far.
    pub received: u64,
    /// Where it first differed.
    mismatch: Option<Box<Mismatch>>,
    /// What came, where the whole of it is looked at.
    content: Vec<u8>,
    /// Messages of gRPC.
    come: Come,
}

impl Progress {
    /// Another reply begins.
    pub(crate) fn clear(&mut self) {
        self.received = 0;
        self.mismatch = None;
        self.content.clear();
        self.come.clear();
    }
}

/// How a reply differed from what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// From this offset on.
    Differs {
        /// Offset of the first wrong byte.
        offset: u64,
        /// What came around it, for people.
        got: String,
        /// What was expected around it.
        expected: String,
    },
    /// It ended after so many bytes, all right, before this.
    Short(u64, String),
    /// It went on after so many bytes, all right, with this.
    Long(u64, String),
    /// What is said of it does not hold.
    Rule(String),
}

impl Verifier {
    /// What this rule says; what is to be learned is not known yet.
    pub fn new(rule: &ContentRule) -> Self {
        match rule {
            // Whoever is alone hears of itself alone.
            ContentRule::Echo | ContentRule::Broadcast | ContentRule::Learned => Self::Echo,
            ContentRule::Fixed(bytes) => Self::Fixed(Arc::from(bytes.as_slice())),
            ContentRule::Any => Self::Any,
            ContentRule::Matching(rules) => Self::Matching(Arc::new(Rules::new(rules))),
            ContentRule::Shaped(shape) => Self::Matching(Arc::new(Rules::shaped(shape))),
            ContentRule::Messages(messages) => Self::Messages(Arc::new(messages.clone())),
        }
    }

    /// Such replies as this one; the request's own payload shows an echo.
    pub fn learned(content: &[u8], is_echo: bool) -> Self {
        if is_echo { Self::Echo } else { Self::Learned(Arc::from(content)) }
    }

    /// Is every byte of a right reply known beforehand?
    pub fn is_exact(&self) -> bool {
        matches!(self, Self::Echo | Self::Fixed(_) | Self::Learned(_))
    }

    /// What to do about replies that differ, as it goes behind what is said of one.
    pub fn remedy(&self) -> &'static str {
        if matches!(self, Self::Learned(_)) { VARIES } else { "" }
    }

    /// Is the reply to message `seq`, of which all came at once, right by its bytes? False too where
    /// rules are to be looked up in it.
    #[inline]
    pub(crate) fn is_plainly_right(&self, seq: u64, reply: &[u8], payloads: &mut Payloads) -> bool {
        match self {
            Self::Echo => payloads.is(seq, reply),
            Self::Fixed(bytes) | Self::Learned(bytes) => same(bytes, reply),
            Self::Any => true,
            Self::Matching(_) | Self::Messages(_) => false,
        }
    }

    /// Checks the reply to message `seq`, of which all came at once.
    ///
    /// # Errors
    /// How it differs.
    #[inline]
    pub fn check(
        &self,
        seq: u64,
        reply: &[u8],
        payloads: &mut Payloads,
    ) -> Result<(), Box<Mismatch>> {
        if let Self::Matching(rules) = self {
            return follows(rules, reply);
        }
        if self.is_plainly_right(seq, reply, payloads) {
            return Ok(());
        }
        self.first_difference(seq, reply, payloads)
    }

    /// Checks the next `piece` of the reply to message `seq`.
    pub fn update(&self, progress: &mut Progress, seq: u64, piece: &[u8], payloads: &mut Payloads) {
        let offset = progress.received;
        progress.received += piece.len() as u64;
        if progress.mismatch.is_some() || matches!(self, Self::Any) {
            return;
        }
        if let Self::Messages(messages) = self {
            let told = progress.come.piece(messages, piece, &mut progress.content);
            progress.mismatch = told.err().map(|fault| Box::new(Mismatch::Rule(fault)));
            return;
        }
        if matches!(self, Self::Matching(_)) {
            if progress.content.len() + piece.len() > MOST_LOOKED_AT {
                let text = format!("it is over {} MiB, too much to look at", MOST_LOOKED_AT >> 20);
                progress.mismatch = Some(Box::new(Mismatch::Rule(text)));
                progress.content = Vec::new();
            } else {
                progress.content.extend_from_slice(piece);
            }
            return;
        }
        let mut done = 0;
        while done < piece.len() {
            let (offset, rest) = (offset + done as u64, &piece[done..]);
            let expected = self.expected_from(offset, seq, payloads);
            let length = expected.len().min(rest.len());
            if length > 0 && expected[..length] == rest[..length] {
                done += length;
                continue;
            }
            let same = expected.iter().zip(rest).take_while(|(a, b)| a == b).count();
            progress.mismatch =
                Some(Box::new(self.difference(offset + same as u64, seq, &rest[same..], payloads)));
            return;
        }
    }

    /// The reply to message `seq` is complete: was it right? Begins anew for the next one.
    ///
    /// # Errors
    /// How it differed.
    pub fn finish(
        &self,
        progress: &mut Progress,
        seq: u64,
        payloads: &mut Payloads,
    ) -> Result<(), Box<Mismatch>> {
        let received = std::mem::take(&mut progress.received);
        if let Some(mismatch) = progress.mismatch.take() {
            progress.clear();
            return Err(mismatch);
        }
        match self {
            Self::Any => return Ok(()),
            Self::Matching(rules) => {
                let result = follows(rules, &progress.content);
                // Its room is kept, for the next one.
                progress.content.clear();
                return result;
            }
            Self::Messages(messages) => {
                let told = progress.come.finish(messages);
                progress.clear();
                return told.map_err(|fault| Box::new(Mismatch::Rule(fault)));
            }
            Self::Echo | Self::Fixed(_) | Self::Learned(_) => {}
        }
        // All that came was right, so as many bytes as are expected are the expected ones.
        if received == self.length(seq, payloads) {
            return Ok(());
        }
        let missing = self.text_from(received, AFTER, seq, payloads);
        Err(Box::new(Mismatch::Short(received, escaped(&missing))))
    }

    #[cold]
    fn first_difference(
        &self,
        seq: u64,
        reply: &[u8],
        payloads: &mut Payloads,
    ) -> Result<(), Box<Mismatch>> {
        let mut progress = Progress::default();
        self.update(&mut progress, seq, reply, payloads);
        self.finish(&mut progress, seq, payloads)
    }

    /// From `offset` on there came `rest`, which is not what was expected there.
    #[cold]
    fn difference(&self, offset: u64, seq: u64, rest: &[u8], payloads: &mut Payloads) -> Mismatch {
        let got = &rest[..rest.len().min(AFTER)];
        let wanted = self.text_from(offset, AFTER, seq, payloads);
        let begin = offset.saturating_sub(BEFORE as u64);
        let before = self.text_from(begin, (offset - begin) as usize, seq, payloads);
        let dots = if begin > 0 { "…" } else { "" };
        let around = |text: &[u8]| {
            let more = if text.len() == AFTER { "…" } else { "" };
            format!("{dots}{}{more}", escaped(&[before.as_slice(), text].concat()))
        };
        if wanted.is_empty() {
            return Mismatch::Long(offset, around(got));
        }
        let (got, expected) = (around(got), around(&wanted));
        Mismatch::Differs { offset, got, expected }
    }

    fn length(&self, seq: u64, payloads: &Payloads) -> u64 {
        match self {
            Self::Echo => payloads.length(seq) as u64,
            Self::Fixed(bytes) | Self::Learned(bytes) => bytes.len() as u64,
            Self::Any | Self::Matching(_) | Self::Messages(_) => 0,
        }
    }

    /// What is expected from this offset on, perhaps not all of it; nothing at the end.
    fn expected_from<'a>(&'a self, offset: u64, seq: u64, payloads: &'a mut Payloads) -> &'a [u8] {
        match self {
            Self::Echo => payloads.from(seq, offset as usize),
            Self::Fixed(bytes) | Self::Learned(bytes) => {
                bytes.get(offset as usize..).unwrap_or_default()
            }
            Self::Any | Self::Matching(_) | Self::Messages(_) => &[],
        }
    }

    /// So many bytes of what is expected from this offset on, or as many as there are.
    fn text_from(&self, offset: u64, length: usize, seq: u64, payloads: &mut Payloads) -> Vec<u8> {
        let mut text = Vec::new();
        while text.len() < length {
            let more = self.expected_from(offset + text.len() as u64, seq, payloads);
            if more.is_empty() {
                break;
            }
            text.extend_from_slice(&more[..more.len().min(length - text.len())]);
        }
        text
    }
}

fn follows(rules: &Rules, content: &[u8]) -> Result<(), Box<Mismatch>> {
    rules.check(content).map_err(|fault| Box::new(Mismatch::Rule(fault)))
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Differs { offset, got, expected } => {
                write!(f, "from byte {offset} on it was '{got}', not '{expected}'")
            }
            Self::Short(offset, expected) => {
                write!(f, "it ended after {offset} bytes, before '{expected}'")
            }
            Self::Long(offset, got) => write!(f, "it went on after its {offset} bytes: '{got}'"),
            Self::Rule(fault) => f.write_str(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PayloadPlan, Rule};

    fn check(verifier: &Verifier, seq: u64, reply: &[u8], piece: usize) -> Result<(), String> {
        let mut payloads = Payloads::new(&PayloadPlan::Sequence(20));
        let mut progress = Progress::default();
        for _ in 0..2 {
            for part in reply.chunks(piece) {
                verifier.update(&mut progress, seq, part, &mut payloads);
            }
            let told = verifier.finish(&mut progress, seq, &mut payloads);
            assert_eq!(progress.received, 0, "it begins anew");
            if let Err(mismatch) = told {
                return Err(mismatch.to_string());
            }
        }
        let mut payloads = Payloads::new(&PayloadPlan::Sequence(20));
        assert_eq!(verifier.check(seq, reply, &mut payloads), Ok(()), "all at once");
        Ok(())
    }

    #[test]
    fn table_of_replies_in_pieces_of_every_size() {
        let right = b"0000000000000009qrst";
        let cases: [(&[u8], Result<(), &str>); 5] = [
            (right, Ok(())),
            (b"000000000000000aqrst", Err("from byte 15 on it was '000000000000000a")),
            (&right[..19], Err("it ended after 19 bytes, before 't'")),
            (b"", Err("it ended after 0 bytes, before '0000000000000009qrst'")),
            (
                b"0000000000000009qrstu",
                Err("it went on after its 20 bytes: '0000000000000009qrstu'"),
            ),
        ];
        for (reply, expected) in cases {
            for piece in 1..=21 {
                let told = check(&Verifier::Echo, 9, reply, piece);
                match expected {
                    Ok(()) => assert_eq!(told, Ok(()), "pieces of {piece}"),
                    Err(begin) => {
                        let fault = told.expect_err("wrong");
                        assert!(fault.starts_with(begin), "pieces of {piece}: {fault}");
                    }
                }
            }
        }
        assert_eq!(check(&Verifier::Fixed(Arc::from(*right)), 1, right, 7), Ok(()));
    }

    #[test]
    fn a_difference_shows_both_texts_around_it() {
        let first = br#"{"id":1,"items":["a","b"],"time":"12:00:00","more":"than is shown of it"}"#;
        let later = br#"{"id":1,"items":["a","b"],"time":"12:00:07","more":"than is shown of it"}"#;
        let verifier = Verifier::learned(first, false);
        let mut payloads = Payloads::new(&PayloadPlan::None);
        let mismatch = verifier.check(0, later, &mut payloads).expect_err("it varies");
        assert_eq!(
            format!("{mismatch}{}", verifier.remedy()),
            r#"from byte 41 on it was '…"a","b"],"time":"12:00:07","more":"than is shown…', "#
                .to_owned()
                + r#"not '…"a","b"],"time":"12:00:00","more":"than is shown…'; where replies vary, "#
                + "use --expect shape, status, json:PATH=VALUE or regex:PATTERN"
        );
        assert_eq!(Verifier::Echo.remedy(), "");
    }

    #[test]
    fn rules_are_asked_when_all_pieces_are_there() {
        let rules = ["json:ok=true", "regex:^\\{"].map(|text| Rule::parse(text).expect("a rule"));
        let verifier = Verifier::new(&ContentRule::Matching(rules.to_vec()));
        assert!(!verifier.is_exact());
        let reply = br#"{"id":17,"ok":true}"#;
        for piece in 1..=reply.len() {
            assert_eq!(check(&verifier, 9, reply, piece), Ok(()), "pieces of {piece}");
            let fault = check(&verifier, 9, br#"{"id":17,"ok":false}"#, piece).expect_err("wrong");
            assert!(fault.starts_with("ok was false, not true, in"), "{fault}");
        }
        assert_eq!(check(&Verifier::Any, 9, reply, 5), Ok(()));
        assert_eq!(check(&Verifier::Any, 9, b"", 5), Ok(()));
    }

    #[test]
    fn a_shape_is_looked_for_when_all_pieces_are_there() {
        let document =
            r#"{"content": {"is": "shaped", "shape": {"types": ["list"], "length": [2, 2]}}}"#;
        let plan = format!(
            r#"{{"schema":"wiretrial-plan","version":1,"load":{{"connections":1}},"stop":{{"requests":1}},"target":{{"url":"http://h/","expect":{document}}}}}"#
        );
        let plan = crate::plan::Plan::from_json(&plan).expect("a plan");
        let verifier = Verifier::new(&plan.target.expect.content);
        assert!(!verifier.is_exact());
        for piece in 1..=9 {
            assert_eq!(check(&verifier, 9, br#"["ab",1] "#, piece), Ok(()), "pieces of {piece}");
            let fault = check(&verifier, 9, br#"["ab"]"#, piece).expect_err("wrong");
            assert_eq!(fault, r#"$ had 1 element, not 2, in '["ab"]'"#);
        }
    }

    #[test]
    fn a_reply_without_end_is_not_kept() {
        let rules = vec![Rule::parse("json:ok").expect("a rule")];
        let verifier = Verifier::new(&ContentRule::Matching(rules));
        let mut payloads = Payloads::new(&PayloadPlan::None);
        let mut progress = Progress::default();
        let piece = vec![b' '; 1 << 20];
        for _ in 0..20 {
            verifier.update(&mut progress, 0, &piece, &mut payloads);
            assert!(progress.content.capacity() <= 2 * MOST_LOOKED_AT);
        }
        let mismatch = verifier.finish(&mut progress, 0, &mut payloads).expect_err("too long");
        assert_eq!(mismatch.to_string(), "it is over 16 MiB, too much to look at");
    }
}
