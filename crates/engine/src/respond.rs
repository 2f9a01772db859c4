//! `respond`: flags become a server, which serves until a signal ends it.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::mpsc::channel;

use wiretrial_respond::{Addresses, Congestion as CongestionOf, PollerKind, Script, ServerPlan};

use crate::cli::{Congestion, Poller, RespondFlags};
use crate::exit::Failed;
use crate::signals;

pub(crate) fn serve(flags: Box<RespondFlags>) -> Result<ExitCode, Failed> {
    let (ended, end) = channel();
    signals::on_first(move |signal| {
        // Nobody listens only when the server could not start.
        let _ = ended.send(signal);
    })?;
    let server = wiretrial_respond::start(plan(*flags))?;
    say_ready(server.addresses())?;
    let signal = end.recv();
    server.stop()?;
    let signal = signal.ok().and_then(|signal| u8::try_from(signal).ok());
    Ok(signal.map_or(ExitCode::SUCCESS, |signal| ExitCode::from(128 + signal)))
}

fn plan(flags: RespondFlags) -> ServerPlan {
    ServerPlan {
        http: flags.http,
        https: flags.https,
        http2: flags.http2,
        http3: flags.http3,
        early_data: flags.early_data,
        tcp: flags.tcp,
        tls: flags.tls,
        styx: flags.styx,
        cert: flags.cert,
        key: flags.key,
        threads: flags.threads,
        cpus: flags.cpus,
        poller: match flags.poller {
            Poller::Auto => PollerKind::Auto,
            Poller::Uring => PollerKind::Uring,
            Poller::Epoll => PollerKind::Epoll,
        },
        congestion: flags.congestion.map(|typed| match typed {
            Congestion::Cubic => CongestionOf::Cubic,
            Congestion::NewReno => CongestionOf::NewReno,
            Congestion::Bbr => CongestionOf::Bbr,
        }),
        script: Script {
            delay: flags.delay,
            upgrade_delay: flags.upgrade_delay,
            stall: flags.stall,
            faults: flags.fault,
            close_after: flags.close_after,
            seed: flags.seed,
        },
        own_descriptors: flags.own_descriptors,
        max_message: flags.max_message,
        deflate: flags.deflate,
        service: None,
    }
}

/// One line that says that it listens, and where: the ports are known only now.
fn say_ready(addresses: &Addresses) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "ready")?;
    let kinds = [
        ("http", &addresses.http),
        ("https", &addresses.https),
        ("tcp", &addresses.tcp),
        ("tls", &addresses.tls),
        ("styx", &addresses.styx),
    ];
    for (kind, list) in kinds {
        for address in list {
            write!(out, " {kind}={address}")?;
        }
    }
    writeln!(out)?;
    out.flush()
}
