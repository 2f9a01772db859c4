//! `run`: a plan on standard input, snapshots, or lines for people, on standard output. `check`: plans, and nothing else.
//! The lines `begin OFFSET_NS`, where
//! the plan waits for it, and `stop` may follow the plan.

use std::io::{self, BufRead as _, IsTerminal as _, Read};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::Deserializer;
use wiretrial_load::clock::Nanos;
use wiretrial_load::emit::{Ndjson, Text};
use wiretrial_load::measure::snapshot::Summary;
use wiretrial_load::plan::{Plan, PlanDocument, PlanError};
use wiretrial_load::{Control, RunError};

use crate::cli::Format;
use crate::exit::{self, Failed};
use crate::signals;

pub(crate) fn from_stdin(format: Format) -> Result<ExitCode, Failed> {
    let plan = Plan::parse(read_plan(&mut io::stdin().lock())?)?;
    let control = Arc::new(Control::default());
    obey_words(Arc::clone(&control), plan.share.awaits_begin)?;
    let by_signal = Arc::clone(&control);
    signals::on_first(move |signal| by_signal.stop_by_signal(signal))?;
    let summary = run(plan, &control, format)?;
    Ok(exit::of(&summary))
}

/// Runs a plan to its end, and says what comes of it: to people, who may watch, or line by line.
pub(crate) fn run(plan: Plan, control: &Arc<Control>, format: Format) -> Result<Summary, RunError> {
    match format {
        Format::Json => wiretrial_load::run(plan, control, &mut Ndjson(io::stdout().lock())),
        Format::Text => {
            let watched = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let progress = watched.then(|| io::stderr().lock());
            let mut emit = Text::new(io::stdout().lock(), progress);
            wiretrial_load::run(plan, control, &mut emit)
        }
    }
}

/// Reads plans to the end of the input: each makes sense, or the first fault is told.
pub(crate) fn check_stdin() -> Result<ExitCode, Failed> {
    let input = io::stdin().lock();
    for document in Deserializer::from_reader(input).into_iter::<PlanDocument>() {
        Plan::parse(document.map_err(|error| unreadable(&error))?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads one JSON object, and not a byte more.
pub(crate) fn read_plan(input: &mut impl Read) -> Result<PlanDocument, Failed> {
    let mut documents = Deserializer::from_reader(input).into_iter::<PlanDocument>();
    match documents.next() {
        Some(Ok(document)) => Ok(document),
        Some(Err(error)) => Err(unreadable(&error).into()),
        None => Err(Failed::Usage(
            "no plan on standard input; to load a URL: wiretrial-engine load URL".to_owned(),
        )),
    }
}

fn unreadable(error: &serde_json::Error) -> PlanError {
    PlanError(format!("the plan is not readable: {error}"))
}

/// A line `begin OFFSET_NS` says when the load begins, a line `stop` ends the run gracefully. The
/// end of the input means nothing, unless the beginning can't be said any more.
fn obey_words(control: Arc<Control>, awaits_begin: bool) -> io::Result<()> {
    std::thread::Builder::new().name("input".to_owned()).spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let mut words = line.split_whitespace();
            match (words.next(), words.next().and_then(|word| word.parse().ok())) {
                (Some("begin"), Some(offset)) if awaits_begin => control.set_begin(Nanos(offset)),
                (Some("stop"), _) => return control.stop(),
                _ => {}
            }
        }
        if awaits_begin && control.begin().is_none() {
            control.stop();
        }
    })?;
    Ok(())
}
