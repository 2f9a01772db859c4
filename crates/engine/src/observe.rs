//! `observe`: flags become targets, and their counters are printed until standard input ends, a
//! signal comes or the time is up.

use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::process::ExitCode;

use clap::Args;
use wiretrial_load::clock::Nanos;
use wiretrial_observe::observation::End;
use wiretrial_observe::{Orders, Places, Settings, Target};

use crate::exit::Failed;
use crate::quantity::duration;
use crate::signals;

pub(crate) const EXAMPLES: &str = "\
A line `mark NAME` on standard input prints a sample at once; `stop`, the end of the input, SIGINT and SIGTERM print the last one.

Examples:
  wiretrial-engine observe --pid app=4711 --pid proxy=4712 > samples.ndjson
  wiretrial-engine observe --cgroup /system.slice/app.service --interval 100ms --for 30s
  sleep infinity | wiretrial-engine observe --host > samples.ndjson
  ssh host wiretrial-engine observe --pid 4711 < marks";

#[derive(Debug, Args)]
pub(crate) struct ObserveFlags {
    /// A process and all that descend from it; may be given again.
    #[arg(long = "pid", value_parser = Target::tree, value_name = "[NAME=]PID", required_unless_present_any = ["cgroups", "host"])]
    trees: Vec<Target>,
    /// A control group: its folder, or its path as in /proc/PID/cgroup; may be given again.
    #[arg(long = "cgroup", value_parser = Target::group, value_name = "[NAME=]PATH")]
    cgroups: Vec<Target>,
    /// The host alone. Its counters stand beside those of targets, too.
    #[arg(long, conflicts_with_all = ["trees", "cgroups"])]
    host: bool,
    /// Time between two samples, 10ms or more.
    #[arg(long, value_parser = duration, value_name = "TIME", default_value = "1s")]
    interval: Nanos,
    /// End after this time. Default: only when the input ends or a signal comes.
    #[arg(long = "for", value_parser = duration, value_name = "TIME")]
    length: Option<Nanos>,
}

pub(crate) fn run(flags: ObserveFlags) -> Result<ExitCode, Failed> {
    let settings = Settings {
        targets: [flags.trees, flags.cgroups].concat(),
        interval_ns: flags.interval.0,
        duration_ns: flags.length.map(|length| length.0),
        places: Places::default(),
    };
    let mut signals = signals::pipe()?;
    let input = io::stdin();
    let mut orders = Orders::new(input.as_fd(), signals.as_fd());
    let end = wiretrial_observe::observe(&settings, &mut orders, &mut io::stdout().lock())?;
    if end != End::Signal {
        return Ok(ExitCode::SUCCESS);
    }
    let mut number = [0];
    signals.read_exact(&mut number)?;
    Ok(ExitCode::from(128 + number[0]))
}
