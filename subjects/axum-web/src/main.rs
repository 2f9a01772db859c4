//! The contract `web` in axum: a Router, extractors, `Json` and `Html`.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use axum::{Json, Router};
use web::{Asked, Failed, GREETING, Login, Message, Nothing, Options, Store, Text};

type Shared = State<Arc<Store>>;
type Answer<T> = Result<T, Broken>;

/// What went wrong: 500 and the reason.
struct Broken(String);

impl<E: Into<Failed>> From<E> for Broken {
    fn from(error: E) -> Self {
        Self(error.into().to_string())
    }
}

impl IntoResponse for Broken {
    fn into_response(self) -> Response {
        (StatusCode::INTERNAL_SERVER_ERROR, self.0).into_response()
    }
}

fn main() -> Result<(), Failed> {
    let options = Options::read(include_str!("../Cargo.lock"), "axum");
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(options.threads)
        .enable_all()
        .build()?
        .block_on(serve(options))
}

async fn serve(options: Options) -> Result<(), Failed> {
    let app = Router::new()
        .route("/plaintext", get(async || GREETING))
        .route("/json", get(async || Json(Message { message: GREETING })))
        .route("/db", get(one))
        .route("/queries", get(queries))
        .route("/updates", get(updates))
        .route("/cached", get(cached))
        .route("/fortunes", get(fortunes))
        .route("/login", post(login))
        .route("/items", get(items).post(add))
        .with_state(Arc::new(Store::open()?));
    let listener = tokio::net::TcpListener::bind((options.host, options.port)).await?;
    if options.tuned {
        let prompt = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        return Ok(axum::serve(prompt, app).await?);
    }
    Ok(axum::serve(listener, app).await?)
}

async fn one(State(store): Shared, Query(asked): Query<Asked>) -> Answer<Response> {
    Ok(Json(store.row(asked.id).await?).into_response())
}

async fn queries(State(store): Shared, Query(asked): Query<Asked>) -> Answer<Response> {
    Ok(Json(store.rows(&asked.ids()).await?).into_response())
}

async fn updates(State(store): Shared, Query(asked): Query<Asked>) -> Answer<Response> {
    let changes = asked.changes();
    store.change(&changes).await?;
    Ok(Json(changes).into_response())
}

async fn cached(State(store): Shared, Query(asked): Query<Asked>) -> Answer<Response> {
    Ok(Json(store.cached(&asked.ids()).await?).into_response())
}

async fn fortunes(State(store): Shared) -> Answer<Html<String>> {
    Ok(Html(web::page(store.fortunes().await?)?))
}

async fn login(State(store): Shared, Json(said): Json<Login>) -> Answer<Response> {
    Ok(match store.login(&said).await? {
        Some(token) => Json(token).into_response(),
        None => refused(),
    })
}

async fn items(State(store): Shared, headers: HeaderMap) -> Answer<Response> {
    Ok(match store.account(token(&headers)).await? {
        Some(account) => Json(store.items(account).await?).into_response(),
        None => refused(),
    })
}

async fn add(State(store): Shared, headers: HeaderMap, Json(said): Json<Text>) -> Answer<Response> {
    Ok(match store.account(token(&headers)).await? {
        Some(account) => {
            (StatusCode::CREATED, Json(store.add(account, said.text).await?)).into_response()
        }
        None => refused(),
    })
}

fn token(headers: &HeaderMap) -> &str {
    web::bearer(headers.get("authorization").and_then(|field| field.to_str().ok()))
}

fn refused() -> Response {
    (StatusCode::UNAUTHORIZED, Json(Nothing {})).into_response()
}
