// The routes of the contract `web` as a controller of Drogon. Its handlers are coroutines, which
// answer by the callback that they are given.

#include <drogon/HttpController.h>
#include <drogon/HttpFilter.h>
#include <json/value.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shared/web-cpp/contract.hpp"
#include "tables.hpp"

namespace wiretrial {

using drogon::HttpRequestPtr;
using drogon::HttpResponse;
using drogon::HttpResponsePtr;
using drogon::Task;
using Answer = std::function<void(const HttpResponsePtr&)>;

constexpr char ACCOUNT[] = "account";

namespace {

HttpResponsePtr refused(drogon::HttpStatusCode status) {
    return HttpResponse::newHttpResponse(status, drogon::CT_NONE);
}

Json::Value of(const web::Row& row) {
    Json::Value made;
    made["id"] = row.id;
    made["number"] = row.number;
    return made;
}

Json::Value of(const web::Item& item) {
    Json::Value made;
    made["id"] = item.id;
    made["text"] = item.text;
    return made;
}

template <typename One>
HttpResponsePtr told(const One& one) {
    return HttpResponse::newHttpJsonResponse(of(one));
}

template <typename One>
HttpResponsePtr told(const std::vector<One>& found) {
    Json::Value made(Json::arrayValue);
    for (const One& one : found) {
        made.append(of(one));
    }
    return HttpResponse::newHttpJsonResponse(std::move(made));
}

/// The rows that a request is for.
std::vector<int> ids_of(const HttpRequestPtr& request) {
    const int first = web::number(request->getParameter("id"));
    return web::chain(first, web::clamped(request->getParameter("count")));
}

/// The member of text that the body has under this name.
std::optional<std::string> member(const HttpRequestPtr& request, const char* name) {
    const auto body = request->getJsonObject();
    if (!body || !body->isObject() || !(*body)[name].isString()) {
        return std::nullopt;
    }
    return (*body)[name].asString();
}

}  // namespace

/// Finds out whose token it is; nobody gets further.
class Known : public drogon::HttpCoroFilter<Known> {
public:
    Task<HttpResponsePtr> doFilter(const HttpRequestPtr& request) override;
};

// Outside of its class: only then is the class in the program, and Drogon finds it by its name.
Task<HttpResponsePtr> Known::doFilter(const HttpRequestPtr& request) {
    const std::string token = web::bearer(request->getHeader("Authorization"));
    const auto account = co_await tables::account(token);
    if (!account) {
        co_return refused(drogon::k401Unauthorized);
    }
    request->attributes()->insert(ACCOUNT, *account);
    co_return nullptr;
}

class Application : public drogon::HttpController<Application> {
public:
    METHOD_LIST_BEGIN
    ADD_METHOD_TO(Application::plaintext, "/plaintext", drogon::Get);
    ADD_METHOD_TO(Application::json, "/json", drogon::Get);
    ADD_METHOD_TO(Application::fortunes, "/fortunes", drogon::Get);
    ADD_METHOD_TO(Application::db, "/db", drogon::Get);
    ADD_METHOD_TO(Application::queries, "/queries", drogon::Get);
    ADD_METHOD_TO(Application::updates, "/updates", drogon::Get);
    ADD_METHOD_TO(Application::cached, "/cached", drogon::Get);
    ADD_METHOD_TO(Application::login, "/login", drogon::Post);
    ADD_METHOD_TO(Application::items, "/items", drogon::Get, "wiretrial::Known");
    ADD_METHOD_TO(Application::add, "/items", drogon::Post, "wiretrial::Known");
    METHOD_LIST_END

    void plaintext(const HttpRequestPtr&, Answer&& answer) {
        const auto reply = HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_TEXT_PLAIN);
        reply->setBody(web::GREETING);
        answer(reply);
    }

    void json(const HttpRequestPtr&, Answer&& answer) {
        Json::Value made;
        made["message"] = web::GREETING;
        answer(HttpResponse::newHttpJsonResponse(std::move(made)));
    }

    Task<> fortunes(HttpRequestPtr, Answer answer) {
        drogon::HttpViewData shown;
        shown.insert("fortunes", web::with_added(co_await tables::fortunes()));
        answer(HttpResponse::newHttpViewResponse("fortunes", shown));
    }

    Task<> db(HttpRequestPtr request, Answer answer) {
        answer(told(co_await tables::row(web::number(request->getParameter("id")))));
    }

    Task<> queries(HttpRequestPtr request, Answer answer) {
        answer(told(co_await tables::rows(ids_of(request))));
    }

    Task<> updates(HttpRequestPtr request, Answer answer) {
        const auto changes =
            web::changes(request->getParameter("id"), request->getParameter("count"),
                         request->getParameter("number"));
        co_await tables::change(changes);
        answer(told(changes));
    }

    Task<> cached(HttpRequestPtr request, Answer answer) {
        answer(told(co_await tables::cached(ids_of(request))));
    }

    Task<> login(HttpRequestPtr request, Answer answer) {
        const auto name = member(request, "name");
        const auto password = member(request, "password");
        if (!name || !password) {
            answer(refused(drogon::k400BadRequest));
            co_return;
        }
        const auto token = co_await tables::login(*name, *password);
        if (!token) {
            answer(refused(drogon::k401Unauthorized));
            co_return;
        }
        Json::Value made;
        made["token"] = *token;
        answer(HttpResponse::newHttpJsonResponse(std::move(made)));
    }

    Task<> items(HttpRequestPtr request, Answer answer) {
        answer(told(co_await tables::items(request->attributes()->get<int>(ACCOUNT))));
    }

    Task<> add(HttpRequestPtr request, Answer answer) {
        const auto text = member(request, "text");
        if (!text) {
            answer(refused(drogon::k400BadRequest));
            co_return;
        }
        const int account = request->attributes()->get<int>(ACCOUNT);
        const auto reply = told(co_await tables::add(account, *text));
        reply->setStatusCode(drogon::k201Created);
        answer(reply);
    }
};

}  // namespace wiretrial
