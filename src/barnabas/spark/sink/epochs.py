"""The last micro-batch that a database has of each query, written in the rows' transaction.

The number is written before the rows. If two drivers write the same micro-batch, because one was
wrongly considered dead, the second waits for the first and then skips it. The number never
decreases, so a late driver changes nothing.
"""

from typing import Any

EPOCHS = "barnabas_epochs"


def claim(cursor: Any, query: str, batch_id: int, mark: str = "?") -> bool:
    """Records the micro-batch; returns False if it, or a later one, was recorded before.

    `cursor` is a DB-API cursor in a transaction, `mark` its placeholder for a value.
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
