//! Responses, rendered.
//!
//! Knows status lines, the fields that frame a body, and numbers; must not know requests.

use super::date::DateField;

/// Length of a response's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyLength {
    /// So many bytes.
    Known(u64),
    /// Not known when the head is written: chunked, or ended by the connection's end where the
    /// client speaks HTTP/1.0.
    Chunked,
}

/// How the body behind a head is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFraming {
    /// `Content-Length`.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
    /// No field: the connection's end is the body's end.
    UntilEnd,
    /// No field and no body (204).
    Nothing,
}

/// What the Connection field says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Persistence {
    /// Nothing: the version's default holds.
    Default,
    /// `close`.
    Close,
    /// `keep-alive`, for HTTP/1.0.
    KeepAlive,
}

/// Appends a response head.
pub(super) fn head(
    status: u16,
    content_type: &str,
    framing: BodyFraming,
    persistence: Persistence,
    date: Option<&DateField>,
    out: &mut Vec<u8>,
) {
    out.reserve(200 + content_type.len());
    status_line(status, out);
    if let Some(date) = date {
        date.append(out);
    }
    if !content_type.is_empty() {
        field(b"Content-Type: ", content_type.as_bytes(), out);
    }
    match framing {
        BodyFraming::Length(length) => {
            out.extend_from_slice(b"Content-Length: ");
            decimal(length, out);
            out.extend_from_slice(b"\r\n");
        }
        BodyFraming::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        BodyFraming::UntilEnd | BodyFraming::Nothing => {}
    }
    match persistence {
        Persistence::Default => {}
        Persistence::Close => out.extend_from_slice(b"Connection: close\r\n"),
        Persistence::KeepAlive => out.extend_from_slice(b"Connection: keep-alive\r\n"),
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends a whole answer to a request that cannot be served; it ends the connection.
/// `fields` are further field lines, each with its end.
pub(super) fn refusal(status: u16, fields: &str, date: Option<&DateField>, out: &mut Vec<u8>) {
    status_line(status, out);
    if let Some(date) = date {
        date.append(out);
    }
    out.extend_from_slice(fields.as_bytes());
    out.extend_from_slice(b"Content-Length: 0\r\nConnection: close\r\n\r\n");
}

/// Appends one chunk; nothing for no bytes, as that would be the end.
pub(super) fn chunk(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    out.reserve(bytes.len() + 20);
    let digits = (bytes.len().ilog2() / 4 + 1) as usize;
    for place in (0..digits).rev() {
        out.push(b"0123456789abcdef"[(bytes.len() >> (4 * place)) & 0xf]);
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Appends a number.
pub(crate) fn decimal(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}

fn status_line(status: u16, out: &mut Vec<u8>) {
    if status == 200 {
        return out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
    }
    out.extend_from_slice(b"HTTP/1.1 ");
    decimal(u64::from(status), out);
    field(b" ", reason(status).as_bytes(), out);
}

fn field(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(name);
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// The reason phrase; empty for statuses that nothing here answers with.
const fn reason(status: u16) -> &'static str {
    match status {
        201 => "Created",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        426 => "Upgrade Required",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}
