//! Lines for people about what came in the way of messages over HTTP/2; nothing where nothing did.
//!
//! Knows words. Must not know how anything was counted.

use std::io::{self, Write};

use super::words::{grouped, time};
use crate::measure::http2::Http2Figures;

pub(super) fn write(out: &mut impl Write, figures: &Http2Figures) -> io::Result<()> {
    let Http2Figures { goaways, refused, sends_held, .. } = *figures;
    if goaways + refused > 0 {
        writeln!(
            out,
            "  streams        {} refused, {} GOAWAY",
            grouped(refused),
            grouped(goaways)
        )?;
    }
    if sends_held > 0 {
        writeln!(
            out,
            "  requests held  {} waited for the server's window of their stream {} in all, of the connection {}",
            grouped(sends_held),
            time(figures.held_by_stream_ns),
            time(figures.held_by_connection_ns)
        )?;
    }
    for (count, waited, of) in [
        (figures.streams_exhausted, figures.stream_exhausted_ns, "a stream"),
        (figures.connections_exhausted, figures.connection_exhausted_ns, "a connection"),
    ] {
        if count > 0 {
            writeln!(
                out,
                "  server held    {} times by our window of {of}, {} in all",
                grouped(count),
                time(waited)
            )?;
        }
    }
    Ok(())
}
