"""The contract `web` in Django: models over the tables, views, and a page by its templates.

Settings and the application of one project, in one file: `gunicorn app:application`.
"""

from __future__ import annotations

import json
import os
from urllib.parse import urlsplit

import contract
import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse, JsonResponse

DATABASE = urlsplit(os.environ["DATABASE_URL"])
POOL = {"min_size": contract.pool_size(), "max_size": contract.pool_size()}

settings.configure(
    ALLOWED_HOSTS=["*"],
    SECRET_KEY="a trial's",
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=[],
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    USE_TZ=True,
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {
                "loaders": [
                    (
                        "django.template.loaders.locmem.Loader",
                        {"fortunes.html": contract.TEMPLATE},
                    )
                ]
            },
        }
    ],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": DATABASE.path[1:],
            "USER": DATABASE.username,
            "PASSWORD": DATABASE.password,
            "HOST": DATABASE.hostname,
            "PORT": DATABASE.port,
            "OPTIONS": {"pool": POOL, "server_side_binding": True},
        }
    },
)
django.setup()

from django.db import models  # noqa: E402
from django.shortcuts import render  # noqa: E402
from django.urls import path  # noqa: E402


class Table(models.Model):
    """A table that is there already."""

    class Meta:
        """Nothing of it is made by Django."""

        abstract = True
        app_label = "web"
        managed = False


class World(Table):
    """`world`."""

    id = models.IntegerField(primary_key=True)
    number = models.IntegerField()

    class Meta(Table.Meta):
        """The table."""

        db_table = "world"


class CachedWorld(Table):
    """`cached_world`."""

    id = models.IntegerField(primary_key=True)
    number = models.IntegerField()

    class Meta(Table.Meta):
        """The table."""

        db_table = "cached_world"


class Fortune(Table):
    """`fortune`."""

    id = models.IntegerField(primary_key=True)
    message = models.TextField()

    class Meta(Table.Meta):
        """The table."""

        db_table = "fortune"


class Item(Table):
    """`item`."""

    id = models.AutoField(primary_key=True)
    account = models.IntegerField()
    text = models.TextField()

    class Meta(Table.Meta):
        """The table."""

        db_table = "item"


kept: dict[int, int] = {}


def plaintext(_: HttpRequest) -> HttpResponse:
    """GET /plaintext."""
    return HttpResponse(contract.GREETING, content_type="text/plain")


def greeting(_: HttpRequest) -> HttpResponse:
    """GET /json."""
    return JsonResponse({"message": contract.GREETING})


def one(request: HttpRequest) -> HttpResponse:
    """GET /db."""
    found = World.objects.get(id=request.GET["id"])
    return JsonResponse({"id": found.id, "number": found.number})


def queries(request: HttpRequest) -> HttpResponse:
    """GET /queries."""
    found = [World.objects.get(id=row) for row in contract.ids(request.GET)]
    return rows([(row.id, row.number) for row in found])


def updates(request: HttpRequest) -> HttpResponse:
    """GET /updates."""
    changes = contract.changes(request.GET)
    for row, number in changes:
        found = World.objects.get(id=row)
        found.number = number
        found.save(update_fields=["number"])
    return rows(changes)


def cached(request: HttpRequest) -> HttpResponse:
    """GET /cached."""
    if not kept:
        kept.update(CachedWorld.objects.values_list("id", "number"))
    return rows([(row, kept[row]) for row in contract.ids(request.GET)])


def fortunes(request: HttpRequest) -> HttpResponse:
    """GET /fortunes."""
    found = contract.fortunes(list(Fortune.objects.values_list("id", "message")))
    return render(request, "fortunes.html", {"fortunes": found})


def login(request: HttpRequest) -> HttpResponse:
    """POST /login."""
    from django.db import connection

    said = json.loads(request.body)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM account WHERE name = %s"
            " AND digest = encode(sha256(convert_to(%s, 'UTF8')), 'hex')",
            [said["name"], said["password"]],
        )
        account = cursor.fetchone()
        if account is None:
            return JsonResponse({}, status=401)
        cursor.execute("INSERT INTO session (account) VALUES (%s) RETURNING token", account)
        return JsonResponse({"token": cursor.fetchone()[0]})


def items(request: HttpRequest) -> HttpResponse:
    """GET and POST /items."""
    if request.method not in ("GET", "POST"):
        return JsonResponse({}, status=405)
    account = known(request)
    if account is None:
        return JsonResponse({}, status=401)
    if request.method == "POST":
        made = Item.objects.create(account=account, text=json.loads(request.body)["text"])
        return JsonResponse({"id": made.id, "text": made.text}, status=201)
    newest = Item.objects.filter(account=account).order_by("-id")[:20]
    return JsonResponse(list(newest.values("id", "text")), safe=False)


def known(request: HttpRequest) -> int | None:
    """Whose token it is; None: nobody's."""
    from django.db import connection

    token = contract.token(request.headers.get("Authorization"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT account FROM session WHERE token = %s", [token])
        found = cursor.fetchone()
    return found[0] if found else None


def rows(found: list[tuple[int, int]]) -> HttpResponse:
    """What a reply says of rows."""
    return JsonResponse(contract.rows(found), safe=False)


def only(method: str, view: object) -> object:
    """The view, where the method is the one; else 405."""
    from django.views.decorators.http import require_http_methods

    return require_http_methods([method])(view)


urlpatterns = [
    path("plaintext", only("GET", plaintext)),
    path("json", only("GET", greeting)),
    path("db", only("GET", one)),
    path("queries", only("GET", queries)),
    path("updates", only("GET", updates)),
    path("cached", only("GET", cached)),
    path("fortunes", only("GET", fortunes)),
    path("login", only("POST", login)),
    path("items", items),
]
application = get_wsgi_application()
