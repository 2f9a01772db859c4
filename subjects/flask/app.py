"""The contract `web` in Flask: routes, jsonify, and a page by its templates."""

from __future__ import annotations

import contract
from flask import Flask, Response, abort, jsonify, render_template, request
from jinja2 import DictLoader
from store_sync import Store

app = Flask(__name__)
app.jinja_loader = DictLoader({"fortunes.html": contract.TEMPLATE})
store = Store()


@app.get("/plaintext")
def plaintext() -> Response:
    """GET /plaintext."""
    return Response(contract.GREETING, content_type="text/plain")


@app.get("/json")
def greeting() -> Response:
    """GET /json."""
    return jsonify(message=contract.GREETING)


@app.get("/db")
def one() -> Response:
    """GET /db."""
    return jsonify(contract.rows([store.row(int(request.args["id"]))])[0])


@app.get("/queries")
def queries() -> Response:
    """GET /queries."""
    return jsonify(contract.rows(store.rows(contract.ids(request.args))))


@app.get("/updates")
def updates() -> Response:
    """GET /updates."""
    changes = contract.changes(request.args)
    store.change(changes)
    return jsonify(contract.rows(changes))


@app.get("/cached")
def cached() -> Response:
    """GET /cached."""
    return jsonify(contract.rows(store.cached(contract.ids(request.args))))


@app.get("/fortunes")
def fortunes() -> str:
    """GET /fortunes."""
    return render_template("fortunes.html", fortunes=contract.fortunes(store.fortunes()))


@app.post("/login")
def login() -> Response:
    """POST /login."""
    said = request.get_json()
    token = store.login(said["name"], said["password"])
    if token is None:
        abort(401)
    return jsonify(token=token)


@app.get("/items")
def items() -> Response:
    """GET /items."""
    return jsonify(store.items(known()))


@app.post("/items")
def add() -> tuple[Response, int]:
    """POST /items."""
    return jsonify(store.add(known(), request.get_json()["text"])), 201


def known() -> int:
    """Whose token it is; nobody gets further."""
    account = store.account(contract.token(request.headers.get("Authorization")))
    if account is None:
        abort(401)
    return account
