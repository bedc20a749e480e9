"""WriteTxnMarkers: writes commit and abort markers to partitions that this broker leads.

A transaction coordinator or an administrator sends it. v1 flexible; v2 the transaction version,
which allows to distinguish a repeated marker from a new one.
"""

from typing import Protocol

from barnabas.broker.coordinators.marker_writer import EndOfTransaction, Results
from barnabas.broker.coordinators.responses import PendingResponse
from barnabas.broker.coordinators.wiring import Coordinators
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.broker.purgatory import Purgatory
from barnabas.model.ids import TopicPartition
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    coordinators: Coordinators
    produce_purgatory: Purgatory


def handle_write_txn_markers(ctx: HandlerContext[Ports], request: WriteTxnMarkersRequest) -> Result:
    written: dict[int, Results] = {}

    def encode(_: object) -> WriteTxnMarkersResponse:
        return WriteTxnMarkersResponse(
            [_result(marker, written[index]) for index, marker in enumerate(request.markers)]
        )

    answer: PendingResponse[None] = PendingResponse(ctx, encode, encode)

    def write(index: int, marker: WritableTxnMarker) -> None:
        def done(results: Results) -> None:
            written[index] = results
            if len(written) == len(request.markers):
                answer.complete(None)

        services = ctx.services
        services.coordinators.marker_writer.write(
            _end(marker),
            _places(marker),
            services.produce_purgatory,
            services.config["request.timeout.ms"],
            done,
        )

    if not request.markers:
        answer.complete(None)
    for index, marker in enumerate(request.markers):
        write(index, marker)
    return answer.result()


def _end(marker: WritableTxnMarker) -> EndOfTransaction:
    return EndOfTransaction(
        marker.producer_id,
        marker.producer_epoch,
        marker.transaction_result,
        marker.coordinator_epoch,
        marker.transaction_version,
    )


def _places(marker: WritableTxnMarker) -> list[TopicPartition]:
    return [
        TopicPartition(topic.name, number)
        for topic in marker.topics
        for number in topic.partition_indexes
    ]


def _result(marker: WritableTxnMarker, results: Results) -> WritableTxnMarkerResult:
    return WritableTxnMarkerResult(
        marker.producer_id,
        [
            WritableTxnMarkerTopicResult(
                topic.name,
                [
                    WritableTxnMarkerPartitionResult(
                        number, results[TopicPartition(topic.name, number)]
                    )
                    for number in topic.partition_indexes
                ],
            )
            for topic in marker.topics
        ],
    )


HANDLER = ApiHandler(ApiKey.WRITE_TXN_MARKERS, (1, 2), handle_write_txn_markers)
