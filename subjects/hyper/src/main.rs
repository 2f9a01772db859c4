//! The contract `web` by hyper alone: a service function, a match over routes, and serde_json.

#[path = "../shared/rust-server/accept.rs"]
mod accept;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpListener;
use web::{Asked, Failed, GREETING, HTML, Login, Message, Nothing, Options, Store, Text};

const JSON: &str = "application/json";
const PLAIN: &str = "text/plain";

type Reply = Response<Full<Bytes>>;
type Answer = Result<Reply, Failed>;

fn main() -> Result<(), Failed> {
    let options = Options::read(include_str!("../Cargo.lock"), "hyper");
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(options.threads)
        .enable_all()
        .build()?
        .block_on(serve(options))
}

async fn serve(options: Options) -> Result<(), Failed> {
    let store = Arc::new(Store::open()?);
    let listener = TcpListener::bind((options.host, options.port)).await?;
    let tuned = options.tuned;
    accept::each(listener, move |stream| {
        let store = Arc::clone(&store);
        async move {
            let service = service_fn(move |request| answer(Arc::clone(&store), request));
            http1::Builder::new()
                .pipeline_flush(tuned)
                .serve_connection(TokioIo::new(stream), service)
                .await
                .map_err(io::Error::other)
        }
    })
    .await;
    Ok(())
}

async fn answer(store: Arc<Store>, request: Request<Incoming>) -> Result<Reply, Infallible> {
    Ok(routed(&store, request).await.unwrap_or_else(|error| {
        reply(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, error.to_string())
    }))
}

async fn routed(store: &Store, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    match (&head.method, head.uri.path()) {
        (&Method::GET, "/plaintext") => Ok(reply(StatusCode::OK, PLAIN, GREETING)),
        (&Method::GET, "/json") => json(StatusCode::OK, &Message { message: GREETING }),
        (&Method::GET, "/db") => json(StatusCode::OK, &store.row(asked(&head.uri)?.id).await?),
        (&Method::GET, "/queries") => {
            json(StatusCode::OK, &store.rows(&asked(&head.uri)?.ids()).await?)
        }
        (&Method::GET, "/updates") => {
            let changes = asked(&head.uri)?.changes();
            store.change(&changes).await?;
            json(StatusCode::OK, &changes)
        }
        (&Method::GET, "/cached") => {
            json(StatusCode::OK, &store.cached(&asked(&head.uri)?.ids()).await?)
        }
        (&Method::GET, "/fortunes") => {
            Ok(reply(StatusCode::OK, HTML, web::page(store.fortunes().await?)?))
        }
        (&Method::POST, "/login") => login(store, body).await,
        (&Method::GET, "/items") => items(store, &head.headers).await,
        (&Method::POST, "/items") => add(store, &head.headers, body).await,
        _ => Ok(reply(StatusCode::NOT_FOUND, PLAIN, "")),
    }
}

async fn login(store: &Store, body: Incoming) -> Answer {
    let said: Login = read(body).await?;
    match store.login(&said).await? {
        Some(token) => json(StatusCode::OK, &token),
        None => refused(),
    }
}

async fn items(store: &Store, headers: &HeaderMap) -> Answer {
    match store.account(token(headers)).await? {
        Some(account) => json(StatusCode::OK, &store.items(account).await?),
        None => refused(),
    }
}

async fn add(store: &Store, headers: &HeaderMap, body: Incoming) -> Answer {
    let said: Text = read(body).await?;
    match store.account(token(headers)).await? {
        Some(account) => json(StatusCode::CREATED, &store.add(account, said.text).await?),
        None => refused(),
    }
}

fn token(headers: &HeaderMap) -> &str {
    web::bearer(headers.get(AUTHORIZATION).and_then(|field| field.to_str().ok()))
}

fn asked(uri: &Uri) -> Result<Asked, Failed> {
    Ok(serde_urlencoded::from_str(uri.query().unwrap_or_default())?)
}

async fn read<T: DeserializeOwned>(body: Incoming) -> Result<T, Failed> {
    Ok(serde_json::from_slice(&body.collect().await?.to_bytes())?)
}

fn json(status: StatusCode, said: &impl Serialize) -> Answer {
    Ok(reply(status, JSON, serde_json::to_vec(said)?))
}

fn refused() -> Answer {
    json(StatusCode::UNAUTHORIZED, &Nothing {})
}

fn reply(status: StatusCode, kind: &'static str, content: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(content.into()));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    reply
}
