//! `wiretrial-engine`: the load generator, the reference server, the link and the observer in one binary.
//!
//! A thin face: flags become a plan, the plan runs, the outcome becomes an exit code.
//! Knows the command line; must not know how anything is measured, served, carried or observed.
#![forbid(unsafe_code)]

mod ask;
mod cli;
mod deflate;
mod exit;
mod link;
mod load;
mod observe;
mod quantity;
mod respond;
mod run;
mod signals;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use cli::{Cli, Command, Side};
use exit::Failed;
use wiretrial_load::plan::redaction;

fn main() -> ExitCode {
    let outcome = match parsed().command {
        Command::Run { format } => run::from_stdin(format),
        Command::Check => run::check_stdin(),
        Command::Ask(flags) => ask::from_stdin(&flags),
        Command::Load(flags) => load::run(&flags),
        Command::Respond(flags) => respond::serve(flags),
        Command::Link(flags) => link::run(&flags),
        Command::Observe(flags) => observe::run(*flags),
        Command::Schema { side } => print_schema(side),
        Command::Completion { shell } => {
            clap_complete::generate(
                shell,
                &mut Cli::command(),
                "wiretrial-engine",
                &mut io::stdout(),
            );
            Ok(ExitCode::SUCCESS)
        }
    };
    outcome.unwrap_or_else(|failed| failed.report())
}

/// The command line. What is refused in it is shown, without secrets.
fn parsed() -> Cli {
    Cli::try_parse().unwrap_or_else(|refused| {
        let given = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let shown = redaction::command(&given.collect::<Vec<_>>());
        Cli::try_parse_from(shown).err().unwrap_or(refused).exit()
    })
}

fn print_schema(side: Side) -> Result<ExitCode, Failed> {
    let schema = match side {
        Side::Plan => wiretrial_load::schema::plan(),
        Side::Snapshot => wiretrial_load::schema::snapshot(),
        Side::Exchange => wiretrial_load::schema::exchange(),
        Side::Observation => wiretrial_observe::schema(),
    };
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &schema).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(ExitCode::SUCCESS)
}
