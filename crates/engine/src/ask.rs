//! `ask`: a plan on standard input, its exchanges one by one on standard output.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use wiretrial_load::plan::Plan;
use wiretrial_load::{Asking, Control};

use crate::cli::AskFlags;
use crate::exit::Failed;
use crate::run::read_plan;
use crate::signals;

pub(crate) fn from_stdin(flags: &AskFlags) -> Result<ExitCode, Failed> {
    let AskFlags { sessions, connections, time_limit, no_wait, .. } = *flags;
    let most_body = usize::try_from(flags.most_body).unwrap_or(usize::MAX);
    let asking = Asking { sessions, connections, most_body, time_limit, is_patient: !no_wait };
    let plan = Plan::parse(read_plan(&mut io::stdin().lock())?)?;
    let control = Arc::new(Control::default());
    let by_signal = Arc::clone(&control);
    signals::on_first(move |signal| by_signal.stop_by_signal(signal))?;
    let mut out = io::stdout().lock();
    wiretrial_load::ask(&plan, &asking, &control, |told| {
        serde_json::to_writer(&mut out, told)?;
        out.write_all(b"\n")?;
        out.flush()
    })?;
    Ok(ExitCode::SUCCESS)
}
