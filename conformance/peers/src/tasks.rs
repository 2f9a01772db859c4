//! What h2 and those who use it do, a step at a time, on one thread.
//!
//! Knows futures. Must not know what they are about.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use fastrand::Rng;
use h2::{RecvStream, SendStream};
use http::HeaderMap;

/// Each is polled in each turn: nobody is ever woken.
#[derive(Default)]
pub(crate) struct Tasks(Vec<Pin<Box<dyn Future<Output = ()>>>>);

impl Tasks {
    pub(crate) fn add(&mut self, task: impl Future<Output = ()> + 'static) {
        self.0.push(Box::pin(task));
    }

    pub(crate) fn turn(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        self.0.retain_mut(|task| task.as_mut().poll(&mut context).is_pending());
    }

    pub(crate) fn is_done(&self) -> bool {
        self.0.is_empty()
    }
}

/// Lets some turns pass.
pub(crate) async fn pause(mut turns: usize) {
    poll_fn(|_| {
        turns = turns.saturating_sub(1);
        if turns == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Content as it comes, to its end or to so many bytes, and what is behind it.
pub(crate) async fn hear(
    body: &mut RecvStream,
    most: usize,
    rng: &mut Rng,
) -> Result<(Vec<u8>, Option<HeaderMap>), h2::Error> {
    let mut content = Vec::new();
    while content.len() < most {
        let Some(piece) = body.data().await else {
            return Ok((content, body.trailers().await?));
        };
        let piece = piece?;
        content.extend_from_slice(&piece);
        if rng.usize(..4) == 0 {
            pause(rng.usize(..30)).await;
        }
        body.flow_control().release_capacity(piece.len())?;
    }
    Ok((content, None))
}

/// Says this content, piece by piece, as the windows allow or all at once; the end where nothing is behind it. False:
/// the other side does not want it.
pub(crate) async fn say(
    to: &mut SendStream<Bytes>,
    content: &[u8],
    is_end: bool,
    rng: &mut Rng,
) -> bool {
    let (mut rest, waits) = (content, rng.bool());
    while !rest.is_empty() {
        let mut count = rng.usize(1..=rest.len());
        if waits {
            to.reserve_capacity(count);
            if to.capacity() == 0 {
                match poll_fn(|context| to.poll_capacity(context)).await {
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return false,
                }
            }
            count = count.min(to.capacity());
        }
        let piece = Bytes::copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        if to.send_data(piece, is_end && rest.is_empty()).is_err() {
            return false;
        }
        if rng.usize(..4) == 0 {
            pause(rng.usize(..10)).await;
        }
    }
    true
}
