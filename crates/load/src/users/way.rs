//! Where redirects have led a user's step.
//!
//! Knows one step's replies. Must not know connections, nor how the next request is laid out.

use crate::source::traffic::{is_redirect, only_gets, resolve};

/// The way of one step; nothing is kept of it where no reply was a redirect.
#[derive(Debug, Default)]
pub(super) struct Way(Option<Box<Led>>);

/// Redirects so far.
#[derive(Debug, Default)]
struct Led {
    /// What the reply that is coming says.
    location: Vec<u8>,
    /// Status of the reply that is coming; 0: it leads nowhere.
    status: u16,
    /// So many were followed.
    followed: u32,
    target: Vec<u8>,
    /// The next request has no body, whatever the first one had.
    gets: bool,
}

impl Way {
    /// Another step begins.
    #[inline]
    pub(super) fn begin(&mut self) {
        if let Some(led) = &mut self.0 {
            (led.status, led.followed, led.gets) = (0, 0, false);
        }
    }

    /// A reply with this status and these fields begins, to a step whose redirects are followed.
    pub(super) fn head<'f>(
        &mut self,
        status: u16,
        mut fields: impl Iterator<Item = (&'f [u8], &'f [u8])>,
    ) {
        if let Some(led) = &mut self.0 {
            led.status = 0;
        }
        if !is_redirect(status) {
            return;
        }
        // Without a place it is a reply like others.
        if let Some((_, value)) = fields.find(|(name, _)| name.eq_ignore_ascii_case(b"location")) {
            let led = self.0.get_or_insert_default();
            led.status = status;
            led.location.clear();
            led.location.extend_from_slice(value);
        }
    }

    /// A reply came whole: does the step go on elsewhere? None: it leads nowhere. `first`: the target of the step's
    /// own request.
    pub(super) fn lead(
        &mut self,
        most: u32,
        origin: &str,
        first: impl FnOnce() -> Vec<u8>,
    ) -> Option<Result<(), String>> {
        let led = self.0.as_mut().filter(|led| led.status > 0)?;
        Some(led.lead(most, origin, first))
    }

    /// Where the step's next request goes, and whether it only gets; none: where its route says.
    pub(super) fn target(&self) -> Option<(&[u8], bool)> {
        let led = self.0.as_ref().filter(|led| led.followed > 0)?;
        Some((&led.target, led.gets))
    }
}

impl Led {
    fn lead(
        &mut self,
        most: u32,
        origin: &str,
        first: impl FnOnce() -> Vec<u8>,
    ) -> Result<(), String> {
        let status = std::mem::take(&mut self.status);
        if self.followed == most {
            return Err(format!("status {status}, one redirect more than the {most} to follow"));
        }
        if self.followed == 0 {
            self.target = first();
        }
        let target = resolve(&self.location, origin, &self.target);
        self.target = target
            .map_err(|where_to| format!("status {status}, a redirect {where_to}, not followed"))?;
        self.followed += 1;
        self.gets |= only_gets(status);
        Ok(())
    }
}
