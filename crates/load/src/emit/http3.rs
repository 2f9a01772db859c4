//! Lines for people about HTTP/3: what came in the way of messages, and datagrams.
//!
//! Knows words. Must not know how anything was counted.

use std::io::{self, Write};

use super::words::{grouped, time};
use crate::measure::http3::Http3Figures;

pub(super) fn write(out: &mut impl Write, figures: &Http3Figures) -> io::Result<()> {
    let Http3Figures { goaways, refused, sends_held_ns, .. } = *figures;
    if goaways + refused > 0 {
        let (refused, goaways) = (grouped(refused), grouped(goaways));
        writeln!(out, "  streams        {refused} refused, {goaways} GOAWAY")?;
    }
    let (accepted, early_refused) = (figures.early_accepted, figures.early_refused);
    if accepted + early_refused > 0 {
        let (accepted, refused) = (grouped(accepted), grouped(early_refused));
        writeln!(
            out,
            "  early          {accepted} connections before the handshake's end, {refused} refused"
        )?;
    }
    if sends_held_ns > 0 {
        let held = time(sends_held_ns);
        writeln!(out, "  requests held  {held} in all for a window of the server's")?;
    }
    writeln!(
        out,
        "  datagrams      sent {}, {} a call; received {}, {} a call; lost {} packets of {}, dropped here {}",
        grouped(figures.datagrams_sent),
        each(figures.datagrams_sent, figures.sends),
        grouped(figures.datagrams_received),
        each(figures.datagrams_received, figures.receives),
        grouped(figures.packets_lost),
        grouped(figures.packets_sent),
        grouped(figures.datagrams_dropped)
    )?;
    if figures.ended == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "  path           congestion window {} bytes, round trip {}, datagrams up to {} bytes: means of connections at their ends",
        grouped(figures.congestion_windows / figures.ended),
        time(figures.round_trips_ns / figures.ended),
        grouped(figures.largest_datagrams / figures.ended)
    )
}

/// How many of them there were in a call, on average.
fn each(datagrams: u64, calls: u64) -> String {
    format!("{:.1}", datagrams as f64 / calls.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_happen_is_not_said() {
        let figures = Http3Figures {
            datagrams_sent: 1_500,
            sends: 1_000,
            datagrams_received: 900,
            receives: 450,
            packets_sent: 1_502,
            packets_lost: 3,
            ..Http3Figures::default()
        };
        let told = |figures: &Http3Figures| {
            let mut out = Vec::new();
            write(&mut out, figures).expect("memory can be written");
            String::from_utf8(out).expect("text")
        };
        let datagrams = "  datagrams      sent 1,500, 1.5 a call; received 900, 2.0 a call; lost 3 packets of 1,502, dropped here 0\n";
        assert_eq!(told(&figures), datagrams);
        let held = Http3Figures {
            goaways: 2,
            refused: 1,
            sends_held_ns: 2_500_000,
            early_accepted: 7,
            early_refused: 1,
            ..figures
        };
        let before = "  streams        1 refused, 2 GOAWAY\n  early          7 connections before the handshake's end, 1 refused\n  requests held  2.50 ms in all for a window of the server's\n";
        assert_eq!(told(&held), format!("{before}{datagrams}"));
        let path = Http3Figures {
            ended: 2,
            congestion_windows: 130_000,
            round_trips_ns: 3_000_000,
            largest_datagrams: 2_904,
            ..figures
        };
        let behind = "  path           congestion window 65,000 bytes, round trip 1.50 ms, datagrams up to 1,452 bytes: means of connections at their ends\n";
        assert_eq!(told(&path), format!("{datagrams}{behind}"));
    }
}
