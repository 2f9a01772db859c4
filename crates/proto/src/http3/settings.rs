//! What either side declares of itself (RFC 9114 section 7.2.4).
//!
//! Knows the settings and their bounds; must not know what they do to a stream.

use super::frame::{self, ErrorCode};
use super::outgoing::Outgoing;
use super::varint;

/// The kind of a stream of control (section 6.2.1).
const CONTROL_STREAM: u64 = 0x0;
const QPACK_MAX_TABLE_CAPACITY: u64 = 0x1;
const MAX_FIELD_SECTION_SIZE: u64 = 0x6;
const QPACK_BLOCKED_STREAMS: u64 = 0x7;
/// RFC 9220 section 3.
const ENABLE_CONNECT_PROTOCOL: u64 = 0x8;
/// Those of HTTP/2 that nobody may send (sections 7.2.4.1 and 11.2.2).
const OF_HTTP2: [u64; 5] = [0x0, 0x2, 0x3, 0x4, 0x5];
/// Settings that are looked at for one that comes twice; more have no use.
const MOST_SETTINGS: usize = 64;

/// What one side lets the other do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http3Limits {
    /// The largest list of fields, bytes, with 32 for each.
    pub max_field_section: usize,
    /// At a server: requests that the client may have open at once. Those above are rejected; QUIC's
    /// own limit is the transport's.
    pub max_streams: usize,
    /// At a server: the client may ask for another protocol on a stream: CONNECT with a protocol (RFC
    /// 9220).
    pub connect_protocol: bool,
    /// At a client: the longest message of a reply to a call of gRPC that is taken where it comes in gzip, bytes, before
    /// and after.
    pub max_inflated: u32,
    /// The table that the other side's encoder may use, bytes; 0: none. No block may wait for it.
    pub table: usize,
}

impl Default for Http3Limits {
    fn default() -> Self {
        Self {
            max_field_section: crate::head::MAX_HEAD,
            max_streams: usize::MAX,
            connect_protocol: false,
            max_inflated: 16 << 20,
            table: 0,
        }
    }
}

/// One side's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Bytes that the other side's encoder may use for its table.
    pub max_table_capacity: u64,
    /// The largest list of fields, bytes, with 32 for each.
    pub max_field_section: u64,
    /// Streams that may wait for entries of the table.
    pub blocked_streams: u64,
    /// Does it take CONNECT with a protocol (WebSocket)?
    pub enable_connect: bool,
}

impl Default for Settings {
    /// What holds where nothing is said.
    fn default() -> Self {
        Self {
            max_table_capacity: 0,
            max_field_section: varint::MOST,
            blocked_streams: 0,
            enable_connect: false,
        }
    }
}

impl Settings {
    /// What these limits are to the other side.
    pub(super) fn of(limits: Http3Limits) -> Self {
        Self {
            max_field_section: (limits.max_field_section as u64).min(varint::MOST),
            enable_connect: limits.connect_protocol,
            max_table_capacity: limits.table as u64,
            ..Self::default()
        }
    }

    /// Begins our stream of control, with this number, and says them there.
    pub(super) fn open(&self, stream: u64, out: &mut Outgoing) {
        out.write(stream, false, |bytes| {
            varint::write(CONTROL_STREAM, bytes);
            self.write(bytes);
        });
    }

    /// Reads the payload of a frame. Settings that nobody knows mean nothing.
    ///
    /// # Errors
    /// `FrameError` where an entry is not whole; `SettingsError` for one that comes twice, one of
    /// HTTP/2, or a value that is out of bounds; `ExcessiveLoad` for more of them than have any use.
    pub fn read(payload: &[u8]) -> Result<Self, ErrorCode> {
        let mut read = Self::default();
        let mut seen = Vec::new();
        let mut rest = payload;
        while !rest.is_empty() {
            let (id, first) = varint::read(rest).ok_or(ErrorCode::FrameError)?;
            let (value, second) = varint::read(&rest[first..]).ok_or(ErrorCode::FrameError)?;
            rest = &rest[first + second..];
            if OF_HTTP2.contains(&id) || seen.contains(&id) {
                return Err(ErrorCode::SettingsError);
            }
            if seen.len() == MOST_SETTINGS {
                return Err(ErrorCode::ExcessiveLoad);
            }
            seen.push(id);
            match id {
                QPACK_MAX_TABLE_CAPACITY => read.max_table_capacity = value,
                MAX_FIELD_SECTION_SIZE => read.max_field_section = value,
                QPACK_BLOCKED_STREAMS => read.blocked_streams = value,
                ENABLE_CONNECT_PROTOCOL => {
                    read.enable_connect = match value {
                        0 => false,
                        1 => true,
                        _ => return Err(ErrorCode::SettingsError),
                    }
                }
                _ => {}
            }
        }
        Ok(read)
    }

    /// Appends the frame that says what differs from [`Settings::default`].
    pub fn write(&self, out: &mut Vec<u8>) {
        let before = Self::default();
        let values = [
            (QPACK_MAX_TABLE_CAPACITY, self.max_table_capacity, before.max_table_capacity),
            (MAX_FIELD_SECTION_SIZE, self.max_field_section, before.max_field_section),
            (QPACK_BLOCKED_STREAMS, self.blocked_streams, before.blocked_streams),
            (ENABLE_CONNECT_PROTOCOL, self.enable_connect.into(), before.enable_connect.into()),
        ];
        let mut payload = Vec::new();
        for (id, value, _) in values.into_iter().filter(|(_, value, before)| value != before) {
            varint::write(id, &mut payload);
            varint::write(value, &mut payload);
        }
        frame::write_head(0x4, payload.len() as u64, out);
        out.extend_from_slice(&payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of numbers below 64.
    fn read(entries: &[(u8, u8)]) -> Result<Settings, ErrorCode> {
        let payload: Vec<u8> = entries.iter().flat_map(|&(id, value)| [id, value]).collect();
        Settings::read(&payload)
    }

    #[test]
    fn what_is_written_is_read() {
        let own = Settings {
            max_table_capacity: 4096,
            max_field_section: 65_536,
            blocked_streams: 16,
            enable_connect: true,
        };
        for settings in [own, Settings::default()] {
            let mut out = Vec::new();
            settings.write(&mut out);
            let head = frame::FrameHead::read(&out).unwrap();
            assert_eq!(
                (head.kind, head.length),
                (frame::Kind::Settings, (out.len() - head.size) as u64)
            );
            assert_eq!(Settings::read(&out[head.size..]), Ok(settings));
        }
    }

    #[test]
    fn what_nobody_knows_means_nothing() {
        assert_eq!(read(&[(0x21, 5), (0x33, 1)]), Ok(Settings::default()));
    }

    #[test]
    fn what_breaks_the_rules_is_refused() {
        for id in [0x0, 0x2, 0x3, 0x4, 0x5] {
            assert_eq!(read(&[(id, 0)]), Err(ErrorCode::SettingsError), "of HTTP/2: {id}");
        }
        assert_eq!(read(&[(0x7, 0), (0x7, 0)]), Err(ErrorCode::SettingsError), "twice");
        assert_eq!(read(&[(0x21, 0), (0x21, 1)]), Err(ErrorCode::SettingsError), "twice");
        assert_eq!(read(&[(0x8, 2)]), Err(ErrorCode::SettingsError), "neither no nor yes");
        assert_eq!(Settings::read(&[0x7]), Err(ErrorCode::FrameError), "half an entry");
        assert_eq!(Settings::read(&[0x7, 0x40]), Err(ErrorCode::FrameError), "half a number");
        let mut many = Vec::new();
        for id in 100..200 {
            varint::write(id, &mut many);
            varint::write(0, &mut many);
        }
        assert_eq!(Settings::read(&many), Err(ErrorCode::ExcessiveLoad));
    }
}
