// The JSON of the contract `web` by RapidJSON, for the frameworks that bring none of their own.
//
// Knows what each reply holds and what comes in; must not know HTTP, nor where rows come from.

#pragma once

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contract.hpp"

namespace wiretrial::web::json {

/// The body of a refusal.
constexpr char NOTHING[] = "{}";

/// What comes to /login.
struct Login {
    std::string name;
    std::string password;
};

using Buffer = rapidjson::StringBuffer;
using Writer = rapidjson::Writer<Buffer>;

inline std::string text_of(const Buffer& buffer) {
    return std::string(buffer.GetString(), buffer.GetSize());
}

inline void add(Writer& to, const std::string& text) {
    to.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

/// An object with one member of text.
inline std::string object(const char* name, const std::string& text) {
    Buffer buffer;
    Writer to(buffer);
    to.StartObject();
    to.Key(name);
    add(to, text);
    to.EndObject();
    return text_of(buffer);
}

inline std::string message() {
    return object("message", GREETING);
}

inline std::string token(const std::string& made) {
    return object("token", made);
}

inline void add(Writer& to, const Row& one) {
    to.StartObject();
    to.Key("id");
    to.Int(one.id);
    to.Key("number");
    to.Int(one.number);
    to.EndObject();
}

inline void add(Writer& to, const Item& one) {
    to.StartObject();
    to.Key("id");
    to.Int(one.id);
    to.Key("text");
    add(to, one.text);
    to.EndObject();
}

/// A row or an item.
template <typename One>
std::string one(const One& found) {
    Buffer buffer;
    Writer to(buffer);
    add(to, found);
    return text_of(buffer);
}

/// A list of rows or items.
template <typename One>
std::string list(const std::vector<One>& found) {
    Buffer buffer;
    Writer to(buffer);
    to.StartArray();
    for (const One& each : found) {
        add(to, each);
    }
    to.EndArray();
    return text_of(buffer);
}

/// The member of text that an object has under this name.
inline std::optional<std::string> member(const rapidjson::Document& said, const char* name) {
    if (!said.IsObject()) {
        return std::nullopt;
    }
    const auto found = said.FindMember(name);
    if (found == said.MemberEnd() || !found->value.IsString()) {
        return std::nullopt;
    }
    return std::string(found->value.GetString(), found->value.GetStringLength());
}

inline rapidjson::Document parsed(const std::string& body) {
    rapidjson::Document said;
    // What is no JSON is no object afterwards.
    said.Parse(body.data(), body.size());
    return said;
}

/// What /login was sent; nothing where it is something else.
inline std::optional<Login> login(const std::string& body) {
    const rapidjson::Document said = parsed(body);
    auto name = member(said, "name");
    auto password = member(said, "password");
    if (!name || !password) {
        return std::nullopt;
    }
    return Login{std::move(*name), std::move(*password)};
}

/// The text of a new item; nothing where something else was sent.
inline std::optional<std::string> text(const std::string& body) {
    return member(parsed(body), "text");
}

}  // namespace wiretrial::web::json
