//! The four methods of the contract.
//!
//! Knows messages; must not know listeners or certificates.

use std::iter;
use std::pin::Pin;

use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming, async_trait};

use crate::service::Message;
use crate::service::echo_server::Echo;

/// How often `Server` says its message.
const REPEATED: usize = 10;

type Messages = Pin<Box<dyn Stream<Item = Result<Message, Status>> + Send>>;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Service;

#[async_trait]
impl Echo for Service {
    async fn unary(&self, request: Request<Message>) -> Result<Response<Message>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    type ServerStream = Messages;

    async fn server(&self, request: Request<Message>) -> Result<Response<Messages>, Status> {
        let said = iter::repeat_n(Ok(request.into_inner()), REPEATED);
        Ok(Response::new(Box::pin(tokio_stream::iter(said))))
    }

    async fn client(
        &self,
        request: Request<Streaming<Message>>,
    ) -> Result<Response<Message>, Status> {
        let mut messages = request.into_inner();
        let mut last = Message::default();
        while let Some(message) = messages.next().await {
            last = message?;
        }
        Ok(Response::new(last))
    }

    type BidiStream = Messages;

    async fn bidi(
        &self,
        request: Request<Streaming<Message>>,
    ) -> Result<Response<Messages>, Status> {
        Ok(Response::new(Box::pin(request.into_inner())))
    }
}
