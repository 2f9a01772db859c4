//! SIGINT and SIGTERM end a run gracefully; a second one ends the process at once.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Calls `on_signal` with the first signal's number, from a thread of its own.
pub(crate) fn on_first(on_signal: impl FnOnce(i32) + Send + 'static) -> io::Result<()> {
    // Before all else: from its first registration on, a signal no longer ends the process by
    // itself, and one that only set the flag would be lost.
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let seen = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Before the next line, so that it looks at the flag before that one sets it.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&seen))?;
        signal_hook::flag::register(signal, Arc::clone(&seen))?;
    }
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            on_signal(signal);
        }
    })?;
    Ok(())
}

/// A pipe into which the first signal's number is written, a byte, for a loop that waits for
/// descriptors.
pub(crate) fn pipe() -> io::Result<io::PipeReader> {
    let (signals, mut signalled) = io::pipe()?;
    on_first(move |signal| {
        let number = u8::try_from(signal).unwrap_or_default();
        // Nobody reads it only when the loop has ended.
        let _ = signalled.write_all(&[number]);
    })?;
    Ok(signals)
}
