"""A session on the metadata tree that is slow, loses responses, and can be disconnected.

Wraps the embedded tree. While cut off the owner sees SUSPENDED; the server ends the session after
its time-out, which the owner learns only when it is let in again.
"""

import asyncio

from barnabas.zk.tree import ConnectionLossError, SessionState


class FlakyTree:
    """A `MetadataTree` for one simulated broker."""

    def __init__(self, store, dice, *, session_timeout_s):
        self._store = store
        self._inner = store.session()
        self._dice = dice
        self._timeout_s = session_timeout_s
        self._ended_by_server = False
        self._cut_off = 0  # counts cuts, so that a timer of an earlier one does nothing
        self.loss = 0.0

    @property
    def session_id(self):
        return self._inner.session_id

    @property
    def state(self):
        return self._inner.state

    def add_session_listener(self, listener):
        self._inner.add_session_listener(listener)

    # --- what happens to a session ---

    def cut(self):
        """Disconnects the session: no request reaches the ensemble."""
        if self._inner.state is not SessionState.CONNECTED:
            return
        self._inner.suspend()
        self._cut_off += 1
        loop = asyncio.get_running_loop()
        loop.call_later(self._timeout_s, self._expire_on_server, self._cut_off)

    def _expire_on_server(self, cut):
        if self._inner.state is SessionState.SUSPENDED and cut == self._cut_off:
            self._ended_by_server = True
            self._spawn(self._store.write(self._inner.session_id, None))

    def mend(self):
        """Let it in again: into the same session, or, when that has ended, into a new one."""
        if self._inner.state is not SessionState.SUSPENDED:
            return
        if self._ended_by_server:
            self._ended_by_server = False
            self._inner._become(SessionState.LOST)
            self._inner.reconnect()
        else:
            self._inner.resume()

    def abandon(self):
        """The owner died: the server ends the session after its time-out."""
        loop = asyncio.get_running_loop()
        session_id, inner = self._inner.session_id, self._inner
        inner.watches.take_all()
        inner._listeners.clear()
        if not self._ended_by_server:
            loop.call_later(
                self._timeout_s, lambda: self._spawn(self._store.write(session_id, None))
            )
        inner._state = SessionState.CLOSED

    def _spawn(self, coroutine):
        task = asyncio.get_running_loop().create_task(coroutine)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    # --- operations ---

    async def _through(self, operation, *args, **kwargs):
        await asyncio.sleep(self._dice.uniform(0.0002, 0.004))
        answer = await operation(*args, **kwargs)
        if self._dice.random() < self.loss:
            raise ConnectionLossError("the answer was lost")
        return answer

    async def create(self, path, data=b"", *, ephemeral=False, sequential=False):
        return await self._through(
            self._inner.create, path, data, ephemeral=ephemeral, sequential=sequential
        )

    async def ensure_path(self, path):
        return await self._through(self._inner.ensure_path, path)

    async def get(self, path, watch=None):
        return await self._through(self._inner.get, path, watch)

    async def exists(self, path, watch=None):
        return await self._through(self._inner.exists, path, watch)

    async def set(self, path, data, version=-1):
        return await self._through(self._inner.set, path, data, version)

    async def delete(self, path, version=-1):
        return await self._through(self._inner.delete, path, version)

    async def children(self, path, watch=None):
        return await self._through(self._inner.children, path, watch)

    async def multi(self, ops):
        return await self._through(self._inner.multi, ops)

    async def close(self):
        await self._inner.close()
