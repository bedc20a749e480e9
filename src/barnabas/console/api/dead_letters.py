"""Routes of dead letters."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import StreamingResponse

from barnabas.console.api.dependencies import ERRORS, ConsoleDep, Operator, Reader, audit
from barnabas.console.api.sse import event_stream
from barnabas.console.models.dead_letters import (
    DeadLetterTopic,
    LetterGroups,
    LetterPage,
    LetterQuery,
    ResendBody,
)

router = APIRouter(prefix="/dead-letters", tags=["dead letters"], responses=ERRORS)
Topic = Annotated[str, Path(min_length=1, max_length=249)]


@router.get("", dependencies=[Reader])
async def list_dead_letter_topics(console: ConsoleDep) -> list[DeadLetterTopic]:
    """Topics whose names end like those of dead letters, such as orders.dlq."""
    return await console.dead_letters.topics()


@router.get("/{topic}/groups", dependencies=[Reader])
async def group_dead_letters(console: ConsoleDep, topic: Topic) -> LetterGroups:
    """The newest letters of a topic by source topic and reason."""
    return await console.dead_letters.groups(topic)


@router.get("/{topic}/letters", dependencies=[Reader])
async def list_dead_letters(
    console: ConsoleDep, topic: Topic, query: Annotated[LetterQuery, Query()]
) -> LetterPage:
    """The newest letters, and which of them were sent back."""
    return await console.dead_letters.letters(topic, query)


@router.post("/{topic}/resend", dependencies=[Operator])
async def resend_dead_letters(
    console: ConsoleDep, topic: Topic, body: ResendBody, request: Request
) -> StreamingResponse:
    """Sends letters back to their topics, each exactly once, at a limited rate.

    Server-sent events report the progress; closing the connection stops after the current letter.
    """
    audit(request, topic=topic, letters=len(body.letters), target=body.target)
    return event_stream(await console.dead_letters.resend(topic, body))
