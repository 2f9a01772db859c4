//! `link`: flags become two devices, and packets are carried between them until standard input
//! ends or a signal comes.

use std::io::{self, BufRead as _, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use wiretrial_link::{Account, Device, Ends, LinkError, Namespace, Orders, Settings, Shape};

use crate::exit::Failed;
use crate::quantity::duration;
use crate::signals;

pub(crate) const EXAMPLES: &str = "\
A direction: delay=26ms,jitter=2ms/normal,loss=0.1%/4,reorder=1%/2ms,duplicate=0.01%,blackhole=10s/2s,rebind=10s,rate=100mbit,queue=100ms,mtu=1500

Examples:
  wiretrial-engine link --show --up delay=26ms --down delay=26ms,rate=50mbit
  wiretrial-engine link --near-namespace /proc/4711/ns/net --far-namespace /proc/4712/ns/net --up delay=26ms --down delay=26ms";

const NEAR_IS_BEHIND: &str =
    "rebind is of the way up, since the near end is behind the router: write it there";

#[derive(Debug, Args)]
pub(crate) struct LinkFlags {
    /// What the direction from near to far is like.
    #[arg(long, value_name = "DIRECTION", default_value = "")]
    up: Shape,
    /// What the direction from far to near is like.
    #[arg(long, value_name = "DIRECTION", default_value = "")]
    down: Shape,
    /// Network namespace of the near end. Default: the own one.
    #[arg(long, value_name = "FILE")]
    near_namespace: Option<PathBuf>,
    /// Network namespace of the far end. Default: the own one.
    #[arg(long, value_name = "FILE")]
    far_namespace: Option<PathBuf>,
    /// Name of the near end.
    #[arg(long, value_name = "NAME", default_value = "near0")]
    near_device: String,
    /// Name of the far end.
    #[arg(long, value_name = "NAME", default_value = "far0")]
    far_device: String,
    /// Seed of the random choices.
    #[arg(long, default_value = "0")]
    seed: u64,
    /// Poll without sleeping when a packet is due within this time.
    #[arg(long, value_parser = |text: &str| duration(text).map(|spin| spin.0), value_name = "TIME", default_value = "0s")]
    spin: u64,
    /// Run at an ordinary priority.
    #[arg(long)]
    no_realtime: bool,
    /// Say how the two directions are understood, and do nothing.
    #[arg(long)]
    show: bool,
}

pub(crate) fn run(flags: &LinkFlags) -> Result<ExitCode, Failed> {
    if flags.down.rebind_ns.is_some() && flags.up.rebind_ns.is_none() {
        return Err(Failed::Usage(NEAR_IS_BEHIND.to_owned()));
    }
    if flags.show {
        tell("link", &json!({ "up": flags.up, "down": flags.down }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut orders = Listener::new()?;
    let ends = Ends {
        near: Device::open(&flags.near_device, &namespace(flags.near_namespace.as_ref()))?,
        far: Device::open(&flags.far_device, &namespace(flags.far_namespace.as_ref()))?,
    };
    let settings = Settings {
        up: flags.up,
        down: flags.down,
        seed: flags.seed,
        spin_ns: flags.spin,
        realtime: !flags.no_realtime,
    };
    let account = wiretrial_link::carry(&ends, &settings, &mut orders)?;
    // Whoever ended us may not listen any more.
    let _ = tell("summary", &json!(account));
    Ok(orders.signal.map_or(ExitCode::SUCCESS, |signal| ExitCode::from(128 + signal)))
}

fn namespace(file: Option<&PathBuf>) -> Namespace {
    file.map_or(Namespace::Own, |file| Namespace::File(file.clone()))
}

/// Standard input, each line of which asks for an account, and the signals that end the link.
struct Listener {
    input: io::Stdin,
    signals: io::PipeReader,
    signal: Option<u8>,
}

impl Listener {
    fn new() -> io::Result<Self> {
        Ok(Self { input: io::stdin(), signals: signals::pipe()?, signal: None })
    }
}

impl Orders for Listener {
    fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.input.as_fd(), self.signals.as_fd()]
    }

    fn started(&mut self, realtime: bool) -> Result<(), LinkError> {
        Ok(tell("ready", &json!({ "realtime": realtime }))?)
    }

    fn obey(&mut self, index: usize, account: &Account) -> Result<bool, LinkError> {
        if index == 1 {
            let mut number = [0];
            self.signals.read_exact(&mut number)?;
            self.signal = Some(number[0]);
            return Ok(false);
        }
        // All that is buffered is taken: what stayed would not wake the loop again.
        let mut input = self.input.lock();
        let bytes = input.fill_buf()?;
        let length = bytes.len();
        let asked = bytes.split(|byte| *byte == b'\n').count() - 1;
        input.consume(length);
        for _ in 0..asked {
            tell("account", &json!(account))?;
        }
        Ok(length > 0)
    }
}

/// One line of JSON.
fn tell(kind: &str, content: &Value) -> io::Result<()> {
    let mut line = json!({ "kind": kind });
    if let (Some(line), Some(content)) = (line.as_object_mut(), content.as_object()) {
        line.extend(content.clone());
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
