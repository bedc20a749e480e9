"""Base class and types of all models, lists in pages, the session, and the wording of counts."""

from collections.abc import Callable
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")
M = TypeVar("M", bound="Model")
MAX_PAGE = 500
INT64_MAX = 2**63 - 1

Offset = Annotated[int, Field(ge=0, le=INT64_MAX)]
PartitionIndex = Annotated[int, Field(ge=0, le=2**31 - 1)]
BrokerId = Annotated[int, Field(ge=0, le=2**31 - 1)]


class Model(BaseModel):
    """Base of all request and response bodies; unknown fields of a request are an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ErrorBody(Model):
    """The body of every response with a status of 400 or more."""

    code: str = Field(description="a stable name, such as UNKNOWN_TOPIC_OR_PARTITION")
    message: str
    cause: str | None = Field(None, description="the error that led to this one")


class ListPage(Model, Generic[T]):
    """One page of a list; `total` counts the items of all pages that match the search."""

    items: list[T]
    total: int
    offset: int
    limit: int


class ListQuery(Model):
    """The part of a list that a request selects."""

    search: str = Field("", max_length=300, description="text that the name must contain")
    sort: str = Field("", max_length=60, description="the field to sort by")
    descending: bool = False
    offset: int = Field(0, ge=0, le=2**31 - 1)
    limit: int = Field(50, ge=1, le=MAX_PAGE)


def select_page(items: list[M], query: ListQuery, default_sort: str) -> ListPage[M]:
    """Returns the wanted page of items in the wanted order; items without a value come last.

    An unknown field is sorted like the default.
    """
    known = items and query.sort in type(items[0]).model_fields
    field = query.sort if known else default_sort
    part = select_part(items, query, lambda item: getattr(item, field))
    return ListPage(items=part, total=len(items), offset=query.offset, limit=query.limit)


def select_part(items: list[T], query: ListQuery, value: Callable[[T], object]) -> list[T]:
    """Returns the items of the wanted page, sorted by their value; those without one come last."""

    def order(item: T) -> tuple[bool, object]:
        found = value(item)
        return (found is None) is not query.descending, found if found is not None else 0

    ordered = sorted(items, key=order, reverse=query.descending)
    return ordered[query.offset : query.offset + query.limit]


class LoginBody(Model):
    user: str = Field(min_length=1, max_length=200)
    password: str = Field(max_length=1000)


class SessionBody(Model):
    """The user of the session.

    `user` is None without a login. `csrf_token` belongs into the header X-CSRF-Token.
    """

    user: str | None
    role: Literal["read", "operate", "admin"] | None
    login: Literal["none", "scram", "proxy", "oidc"]
    read_only: bool
    csrf_token: str | None = None


class CapabilitiesBody(Model):
    """The APIs that the cluster serves, with their highest version."""

    apis: dict[str, int]
    bootstrap: str
    zookeeper: bool = False
    client_metrics: bool = False


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Returns a number with its noun.

    >>> counted(1, "record"), counted(1200, "record"), counted(2, "match", "matches")
    ('1 record', '1,200 records', '2 matches')
    """
    word = noun if number == 1 else plural or f"{noun}s"
    return f"{number:,} {word}"
