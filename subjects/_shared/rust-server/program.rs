//! How a server begins and ends: its flags, its threads, one line about what went wrong.

use std::error::Error;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use tokio::runtime::{Builder, Runtime};

use crate::flags::Flags;

/// Serves as the command line says; an error is told in one line and by the exit code.
pub(crate) fn run(serve: impl FnOnce(&Flags) -> Result<(), Box<dyn Error>>) -> ExitCode {
    let ended = Flags::read(std::env::args().skip(1)).map_err(Into::into);
    match ended.and_then(|flags| serve(&flags)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("server: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A runtime with as many threads as `--threads` says.
pub(crate) fn workers(flags: &Flags) -> Result<Runtime, Box<dyn Error>> {
    let threads = flags.number::<NonZeroUsize>("threads")?.get();
    Ok(Builder::new_multi_thread().worker_threads(threads).enable_all().build()?)
}
