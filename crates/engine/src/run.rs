//! `run`: a plan on standard input, snapshots on standard output. `stop` may follow the plan.

use std::io::{self, BufRead as _, Read};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::Deserializer;
use wiretrial_load::Control;
use wiretrial_load::emit::Ndjson;
use wiretrial_load::plan::{Plan, PlanDocument, PlanError};

use crate::exit::{self, Failed};
use crate::signals;

pub(crate) fn from_stdin() -> Result<ExitCode, Failed> {
    let plan = Plan::parse(read_plan(&mut io::stdin().lock())?)?;
    let control = Arc::new(Control::default());
    stop_by_word(Arc::clone(&control))?;
    let by_signal = Arc::clone(&control);
    signals::on_first(move |signal| by_signal.stop_by_signal(signal))?;
    let mut emit = Ndjson(io::stdout().lock());
    let summary = wiretrial_load::run(plan, &control, &mut emit)?;
    Ok(exit::of(&summary))
}

/// Reads one JSON object, and not a byte more.
fn read_plan(input: &mut impl Read) -> Result<PlanDocument, Failed> {
    let mut documents = Deserializer::from_reader(input).into_iter::<PlanDocument>();
    match documents.next() {
        Some(Ok(document)) => Ok(document),
        Some(Err(error)) => Err(PlanError(format!("the plan is not readable: {error}")).into()),
        None => Err(Failed::Usage(
            "no plan on standard input; to load a URL: wiretrial-engine load URL".to_owned(),
        )),
    }
}

/// A line `stop` ends the run gracefully. The end of the input means nothing.
fn stop_by_word(control: Arc<Control>) -> io::Result<()> {
    std::thread::Builder::new().name("input".to_owned()).spawn(move || {
        let lines = io::stdin().lock().lines().map_while(Result::ok);
        if lines.into_iter().any(|line| line.trim() == "stop") {
            control.stop();
        }
    })?;
    Ok(())
}
