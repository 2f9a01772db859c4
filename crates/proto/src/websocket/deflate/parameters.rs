//! The parameters (RFC 7692 section 7.1): asked for, agreed on, written.
//!
//! Knows their names, values and what each side owes the other; must not know where in a head
//! they stand.

use std::fmt;

/// Name of the extension.
pub(in crate::websocket) const NAME: &[u8] = b"permessage-deflate";

const SMALLEST_WINDOW: u8 = 8;
const LARGEST_WINDOW: u8 = 15;

/// What one side asks for, or what both have agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeflateConfig {
    /// The server compresses each message on its own.
    pub server_no_context_takeover: bool,
    /// The client compresses each message on its own.
    pub client_no_context_takeover: bool,
    /// The server refers back by at most 2 to the power of this, bytes; 8 to 15.
    pub server_max_window_bits: u8,
    /// The client refers back by at most 2 to the power of this, bytes; 8 to 15.
    pub client_max_window_bits: u8,
    /// Effort of this side's own compression, 1 (fast) to 9 (small). Not negotiated.
    pub level: u8,
}

/// Parameters that nobody can agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadDeflate {
    /// Window bits outside of 8 to 15.
    #[error("{0}={1} is not 8 to 15")]
    WindowBits(&'static str, u8),
    /// A level outside of 1 to 9.
    #[error("level={0} is not 1 (fast) to 9 (small)")]
    Level(u8),
}

impl Default for DeflateConfig {
    fn default() -> Self {
        Self {
            server_no_context_takeover: false,
            client_no_context_takeover: false,
            server_max_window_bits: LARGEST_WINDOW,
            client_max_window_bits: LARGEST_WINDOW,
            level: 6,
        }
    }
}

impl DeflateConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first value outside of its range.
    pub fn validate(&self) -> Result<(), BadDeflate> {
        let windows = [
            ("server_max_window_bits", self.server_max_window_bits),
            ("client_max_window_bits", self.client_max_window_bits),
        ];
        for (name, bits) in windows {
            if !(SMALLEST_WINDOW..=LARGEST_WINDOW).contains(&bits) {
                return Err(BadDeflate::WindowBits(name, bits));
            }
        }
        if !(1..=9).contains(&self.level) {
            return Err(BadDeflate::Level(self.level));
        }
        Ok(())
    }

    /// How the server compresses.
    pub(super) fn server(self) -> Direction {
        Direction {
            takeover: !self.server_no_context_takeover,
            window_bits: self.server_max_window_bits,
        }
    }

    /// How the client compresses.
    pub(super) fn client(self) -> Direction {
        Direction {
            takeover: !self.client_no_context_takeover,
            window_bits: self.client_max_window_bits,
        }
    }

    /// As a client offers it. That it understands `client_max_window_bits` is always said.
    pub(crate) fn offer(self) -> String {
        let mut text = self.flags();
        let (server, client) = (self.server_max_window_bits, self.client_max_window_bits);
        if server < LARGEST_WINDOW {
            text.extend(["; server_max_window_bits=", &server.to_string()]);
        }
        text += "; client_max_window_bits";
        if client < LARGEST_WINDOW {
            text.extend(["=", &client.to_string()]);
        }
        text
    }

    /// What a client that offered this makes of the server's answer; the text says what is
    /// wrong with it.
    pub(in crate::websocket) fn judge<'a>(
        self,
        answer: impl Iterator<Item = Parameter<'a>>,
    ) -> Result<Self, &'static str> {
        let answer = Told::read(answer)
            .ok_or("the server answered permessage-deflate with parameters that are not valid")?;
        if self.server_no_context_takeover && !answer.server_no_context_takeover {
            return Err("the server did not agree to server_no_context_takeover");
        }
        let server_bits = match answer.server_max_window_bits {
            Window::NoValue => {
                return Err("the server sent server_max_window_bits without a value");
            }
            window => window.bits(),
        };
        if server_bits > self.server_max_window_bits {
            return Err("the server did not agree to server_max_window_bits");
        }
        let client_bits = match answer.client_max_window_bits {
            Window::NoValue => {
                return Err("the server sent client_max_window_bits without a value");
            }
            Window::Bits(bits) => bits,
            Window::Unnamed => self.client_max_window_bits,
        };
        if client_bits > self.client_max_window_bits {
            return Err("the server answered with more client_max_window_bits than were offered");
        }
        Ok(Self {
            server_no_context_takeover: answer.server_no_context_takeover,
            // Once offered it is a promise, whatever the answer says (section 7.1.1.2).
            client_no_context_takeover: self.client_no_context_takeover
                || answer.client_no_context_takeover,
            server_max_window_bits: server_bits,
            client_max_window_bits: client_bits,
            level: self.level,
        })
    }

    /// What a server with these wishes can agree on; none: the offer is declined, because it is
    /// not valid or leaves a wish unmet.
    pub(super) fn accept<'a>(
        self,
        offer: impl Iterator<Item = Parameter<'a>>,
    ) -> Option<DeflateAnswer> {
        let offer = Told::read(offer)?;
        let (server, client) = (offer.server_max_window_bits, offer.client_max_window_bits);
        if server == Window::NoValue {
            return None;
        }
        // A client that does not say that it understands it cannot be told (section 7.1.2.2).
        if client == Window::Unnamed && self.client_max_window_bits < LARGEST_WINDOW {
            return None;
        }
        let agreed = Self {
            server_no_context_takeover: self.server_no_context_takeover
                || offer.server_no_context_takeover,
            client_no_context_takeover: self.client_no_context_takeover
                || offer.client_no_context_takeover,
            server_max_window_bits: self.server_max_window_bits.min(server.bits()),
            client_max_window_bits: self.client_max_window_bits.min(client.bits()),
            level: self.level,
        };
        Some(DeflateAnswer { agreed, window_was_asked: server != Window::Unnamed })
    }

    fn flags(self) -> String {
        let mut text = String::from("permessage-deflate");
        if self.server_no_context_takeover {
            text += "; server_no_context_takeover";
        }
        if self.client_no_context_takeover {
            text += "; client_no_context_takeover";
        }
        text
    }
}

/// As an answer would say it. Windows of 15 bits are what holds without a word.
impl fmt::Display for DeflateConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        DeflateAnswer { agreed: *self, window_was_asked: false }.fmt(f)
    }
}

/// What a server agreed on; as text, the value of `Sec-WebSocket-Extensions` that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeflateAnswer {
    /// What holds from here on.
    pub agreed: DeflateConfig,
    /// Whoever asks for a window is told one, the largest too (section 7.1.2.1).
    window_was_asked: bool,
}

impl fmt::Display for DeflateAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.agreed.flags())?;
        let (server, client) =
            (self.agreed.server_max_window_bits, self.agreed.client_max_window_bits);
        if server < LARGEST_WINDOW || self.window_was_asked {
            write!(f, "; server_max_window_bits={server}")?;
        }
        if client < LARGEST_WINDOW {
            write!(f, "; client_max_window_bits={client}")?;
        }
        Ok(())
    }
}

/// How one side compresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Direction {
    /// A message may refer to those before it.
    pub(super) takeover: bool,
    pub(super) window_bits: u8,
}

/// One parameter of an extension, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::websocket) struct Parameter<'a> {
    pub(in crate::websocket) name: &'a [u8],
    /// Without its quotes.
    pub(in crate::websocket) value: Option<&'a [u8]>,
}

/// The parameters that one side named.
#[derive(Debug, Default)]
struct Told {
    server_no_context_takeover: bool,
    client_no_context_takeover: bool,
    server_max_window_bits: Window,
    client_max_window_bits: Window,
}

/// What was said of a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Window {
    #[default]
    Unnamed,
    /// Only a client may do that, for its own window: it understands the parameter.
    NoValue,
    Bits(u8),
}

impl Told {
    /// None: a parameter is unknown, there twice, or has a value that it cannot have.
    fn read<'a>(parameters: impl Iterator<Item = Parameter<'a>>) -> Option<Self> {
        let mut told = Self::default();
        for Parameter { name, value } in parameters {
            match name {
                b"server_no_context_takeover" => {
                    flag(&mut told.server_no_context_takeover, value)?;
                }
                b"client_no_context_takeover" => {
                    flag(&mut told.client_no_context_takeover, value)?;
                }
                b"server_max_window_bits" => told.server_max_window_bits.tell(value)?,
                b"client_max_window_bits" => told.client_max_window_bits.tell(value)?,
                _ => return None,
            }
        }
        Some(told)
    }
}

/// None: it was told before, or has a value.
fn flag(told: &mut bool, value: Option<&[u8]>) -> Option<()> {
    let fresh = !std::mem::replace(told, true);
    (fresh && value.is_none()).then_some(())
}

impl Window {
    /// None: it was told before, or the value is no decimal number from 8 to 15.
    fn tell(&mut self, value: Option<&[u8]>) -> Option<()> {
        let told = match value {
            None => Self::NoValue,
            Some(digits) => (SMALLEST_WINDOW..=LARGEST_WINDOW)
                .find(|bits| bits.to_string().as_bytes() == digits)
                .map(Self::Bits)?,
        };
        (std::mem::replace(self, told) == Self::Unnamed).then_some(())
    }

    /// What holds then.
    fn bits(self) -> u8 {
        match self {
            Self::Unnamed | Self::NoValue => LARGEST_WINDOW,
            Self::Bits(bits) => bits,
        }
    }
}
