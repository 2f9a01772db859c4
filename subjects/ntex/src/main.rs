//! The contract `web` in ntex: resources, extractors, and `HttpResponse` with its `json`.

use std::fmt;
use std::sync::Arc;

use ntex::http::header::AUTHORIZATION;
use ntex::web::types::{Json, Query, State};
use ntex::web::{App, HttpRequest, HttpResponse, HttpServer, WebResponseError, get, post, resource};
use web::{Asked, Failed, GREETING, HTML, Login, Message, Nothing, Options, Store, Text};

type Shared = State<Arc<Store>>;
type Answer = Result<HttpResponse, Broken>;

/// What went wrong: 500 and the reason.
#[derive(Debug)]
struct Broken(String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl WebResponseError for Broken {}

impl<E: Into<Failed>> From<E> for Broken {
    fn from(error: E) -> Self {
        Self(error.into().to_string())
    }
}

#[ntex::main]
async fn main() -> Result<(), Failed> {
    let options = Options::read(include_str!("../Cargo.lock"), "ntex");
    let store = Arc::new(Store::open()?);
    let app = async move || {
        App::new()
            .state(store.clone())
            .service(resource("/plaintext").route(get().to(plaintext)))
            .service(resource("/json").route(get().to(json)))
            .service(resource("/db").route(get().to(one)))
            .service(resource("/queries").route(get().to(queries)))
            .service(resource("/updates").route(get().to(updates)))
            .service(resource("/cached").route(get().to(cached)))
            .service(resource("/fortunes").route(get().to(fortunes)))
            .service(resource("/login").route(post().to(login)))
            .service(resource("/items").route(get().to(items)).route(post().to(add)))
    };
    let mut server = HttpServer::new(app).workers(options.threads);
    if options.tuned {
        server = server.enable_affinity();
    }
    Ok(server.bind((options.host, options.port))?.run().await?)
}

async fn plaintext() -> &'static str {
    GREETING
}

async fn json() -> Json<Message> {
    Json(Message { message: GREETING })
}

async fn one(store: Shared, asked: Query<Asked>) -> Answer {
    Ok(HttpResponse::Ok().json(&store.row(asked.id).await?))
}

async fn queries(store: Shared, asked: Query<Asked>) -> Answer {
    Ok(HttpResponse::Ok().json(&store.rows(&asked.ids()).await?))
}

async fn updates(store: Shared, asked: Query<Asked>) -> Answer {
    let changes = asked.changes();
    store.change(&changes).await?;
    Ok(HttpResponse::Ok().json(&changes))
}

async fn cached(store: Shared, asked: Query<Asked>) -> Answer {
    Ok(HttpResponse::Ok().json(&store.cached(&asked.ids()).await?))
}

async fn fortunes(store: Shared) -> Answer {
    Ok(HttpResponse::Ok().content_type(HTML).body(web::page(store.fortunes().await?)?))
}

async fn login(store: Shared, said: Json<Login>) -> Answer {
    Ok(match store.login(&said).await? {
        Some(token) => HttpResponse::Ok().json(&token),
        None => refused(),
    })
}

async fn items(store: Shared, request: HttpRequest) -> Answer {
    Ok(match store.account(token(&request)).await? {
        Some(account) => HttpResponse::Ok().json(&store.items(account).await?),
        None => refused(),
    })
}

async fn add(store: Shared, request: HttpRequest, said: Json<Text>) -> Answer {
    Ok(match store.account(token(&request)).await? {
        Some(account) => {
            HttpResponse::Created().json(&store.add(account, said.into_inner().text).await?)
        }
        None => refused(),
    })
}

fn token(request: &HttpRequest) -> &str {
    web::bearer(request.headers().get(AUTHORIZATION).and_then(|field| field.to_str().ok()))
}

fn refused() -> HttpResponse {
    HttpResponse::Unauthorized().json(&Nothing {})
}
