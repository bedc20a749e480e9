"""Which micro-batches a database has: a row for each query, written in the same transaction.

The number is written before the rows: of two drivers with the same micro-batch, one that was
thought dead and its successor, the second waits for the first and then finds it done. A number
never goes back, so a driver that comes late changes nothing.
"""

from typing import Any

EPOCHS = "barnabas_epochs"


def claim(cursor: Any, query: str, batch_id: int, mark: str = "?") -> bool:
    """Note the micro-batch; False when it, or a later one, was noted before.

    `cursor` is a DB-API one in a transaction, `mark` stands for a value in its SQL.
    """
    cursor.execute(
        f"CREATE TABLE IF NOT EXISTS {EPOCHS} (query TEXT PRIMARY KEY, epoch BIGINT NOT NULL)"
    )
    cursor.execute(
        f"INSERT INTO {EPOCHS} (query, epoch) VALUES ({mark}, -1) ON CONFLICT DO NOTHING",
        (query,),
    )
    cursor.execute(
        f"UPDATE {EPOCHS} SET epoch = {mark} WHERE query = {mark} AND epoch < {mark}",
        (batch_id, query, batch_id),
    )
    return int(cursor.rowcount) == 1
