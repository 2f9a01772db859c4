//! What either side declares of itself (RFC 9113 section 6.5).
//!
//! Knows the settings and their bounds; must not know what they do to a stream.

use super::frame::{self, ACK, ErrorCode, Kind, LEAST_MAX_FRAME, MOST_MAX_FRAME, WIDEST, WINDOW};

const HEADER_TABLE_SIZE: u16 = 1;
const ENABLE_PUSH: u16 = 2;
const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_FRAME_SIZE: u16 = 5;
const MAX_HEADER_LIST_SIZE: u16 = 6;
/// RFC 8441 section 3.
const ENABLE_CONNECT_PROTOCOL: u16 = 8;

/// One side's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Bytes that the other side's encoder may use for its table.
    pub header_table_size: u32,
    /// May the other side push?
    pub enable_push: bool,
    /// Streams that the other side may have open.
    pub max_concurrent_streams: u32,
    /// What may be sent on a new stream before more is allowed, bytes.
    pub initial_window: u32,
    /// The longest payload of a frame, bytes.
    pub max_frame: u32,
    /// The largest list of fields, bytes, with 32 for each.
    pub max_header_list: u32,
    /// Does it take CONNECT with a protocol (WebSocket)?
    pub enable_connect: bool,
}

impl Default for Settings {
    /// What holds before anything was said.
    fn default() -> Self {
        Self {
            header_table_size: 4096,
            enable_push: true,
            max_concurrent_streams: u32::MAX,
            initial_window: WINDOW,
            max_frame: LEAST_MAX_FRAME,
            max_header_list: u32::MAX,
            enable_connect: false,
        }
    }
}

impl Settings {
    /// Takes in the payload of a frame, of whole entries. Settings that nobody knows mean nothing.
    ///
    /// # Errors
    /// A value that is out of bounds.
    pub(super) fn apply(&mut self, payload: &[u8]) -> Result<(), ErrorCode> {
        for entry in payload.chunks_exact(6) {
            let id = u16::from_be_bytes([entry[0], entry[1]]);
            let value = u32::from_be_bytes([entry[2], entry[3], entry[4], entry[5]]);
            match id {
                HEADER_TABLE_SIZE => self.header_table_size = value,
                ENABLE_PUSH => self.enable_push = truth(value)?,
                MAX_CONCURRENT_STREAMS => self.max_concurrent_streams = value,
                INITIAL_WINDOW_SIZE if value > WIDEST => return Err(ErrorCode::FlowControlError),
                INITIAL_WINDOW_SIZE => self.initial_window = value,
                MAX_FRAME_SIZE if !(LEAST_MAX_FRAME..=MOST_MAX_FRAME).contains(&value) => {
                    return Err(ErrorCode::ProtocolError);
                }
                MAX_FRAME_SIZE => self.max_frame = value,
                MAX_HEADER_LIST_SIZE => self.max_header_list = value,
                ENABLE_CONNECT_PROTOCOL => {
                    let enable = truth(value)?;
                    // Once said, it holds (RFC 8441 section 3).
                    if self.enable_connect && !enable {
                        return Err(ErrorCode::ProtocolError);
                    }
                    self.enable_connect = enable;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Appends the frame that says what differs from [`Settings::default`].
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let before = Self::default();
        let values = [
            (HEADER_TABLE_SIZE, self.header_table_size, before.header_table_size),
            (ENABLE_PUSH, self.enable_push.into(), before.enable_push.into()),
            (MAX_CONCURRENT_STREAMS, self.max_concurrent_streams, before.max_concurrent_streams),
            (INITIAL_WINDOW_SIZE, self.initial_window, before.initial_window),
            (MAX_FRAME_SIZE, self.max_frame, before.max_frame),
            (MAX_HEADER_LIST_SIZE, self.max_header_list, before.max_header_list),
            (ENABLE_CONNECT_PROTOCOL, self.enable_connect.into(), before.enable_connect.into()),
        ];
        let mut payload = Vec::with_capacity(6 * values.len());
        for (id, value, _) in values.into_iter().filter(|(_, value, before)| value != before) {
            payload.extend_from_slice(&id.to_be_bytes());
            payload.extend_from_slice(&value.to_be_bytes());
        }
        frame::write(Kind::Settings, 0, 0, &payload, out);
    }
}

/// Appends the answer to the other side's settings.
pub(super) fn write_ack(out: &mut Vec<u8>) {
    frame::write(Kind::Settings, ACK, 0, &[], out);
}

const fn truth(value: u32) -> Result<bool, ErrorCode> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(ErrorCode::ProtocolError),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http2::frame::HEAD;

    #[test]
    fn what_is_written_is_applied() {
        let settings = Settings {
            header_table_size: 0,
            enable_push: false,
            max_concurrent_streams: 7,
            initial_window: 1 << 20,
            max_frame: MOST_MAX_FRAME,
            max_header_list: 9,
            enable_connect: true,
        };
        let mut out = Vec::new();
        settings.write(&mut out);
        let mut found = Settings::default();
        assert_eq!(found.apply(&out[HEAD..]), Ok(()));
        assert_eq!(found, settings);
        out.clear();
        Settings::default().write(&mut out);
        assert_eq!(out.len(), HEAD, "what holds anyway is not said");
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        let apply = |id: u16, value: u32| {
            let entry = [&id.to_be_bytes()[..], &value.to_be_bytes()[..]].concat();
            Settings::default().apply(&entry)
        };
        assert_eq!(apply(ENABLE_PUSH, 2), Err(ErrorCode::ProtocolError));
        assert_eq!(apply(INITIAL_WINDOW_SIZE, WIDEST), Ok(()));
        assert_eq!(apply(INITIAL_WINDOW_SIZE, WIDEST + 1), Err(ErrorCode::FlowControlError));
        assert_eq!(apply(MAX_FRAME_SIZE, 16_383), Err(ErrorCode::ProtocolError));
        assert_eq!(apply(MAX_FRAME_SIZE, 1 << 24), Err(ErrorCode::ProtocolError));
        assert_eq!(apply(ENABLE_CONNECT_PROTOCOL, 3), Err(ErrorCode::ProtocolError));
        assert_eq!(apply(4711, 3), Ok(()), "nobody knows it");
        let mut settings = Settings { enable_connect: true, ..Settings::default() };
        let taken_back = [0, 8, 0, 0, 0, 0];
        assert_eq!(settings.apply(&taken_back), Err(ErrorCode::ProtocolError));
    }
}
