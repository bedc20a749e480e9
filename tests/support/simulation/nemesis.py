"""Chooses faults and their times, with the random numbers of the simulation."""

import asyncio

from support.simulation.replica_host import Stop


class Nemesis:
    """Breaks and mends a simulated cluster; `quiet` mends everything."""

    def __init__(self, world):
        self._world = world
        self._dice = world.dice
        self.faults = {}
        self._tasks = set()

    async def run(self, seconds):
        """Do harm for so long."""
        loop = self._world.loop
        end = loop.time() + seconds
        while loop.time() < end:
            await asyncio.sleep(self._dice.uniform(0.02, 0.6))
            action = self._dice.choice(self._actions())
            self.faults[action.__name__] = self.faults.get(action.__name__, 0) + 1
            await action()

    def _actions(self):
        return [
            self.crash, self.crash_leader, self.restart, self.restart, self.restart, self.isolate,
            self.one_way_cut, self.cut_from_tree, self.mend_tree, self.lossy_network,
            self.clear_network, self.clear_network, self.flush_disks, self.checkpoint,
            self.expire_session, self.burst, self.preferred_election, self.shut_down,
            self.lossy_tree, self.reassign,
        ]  # fmt: skip

    # --- brokers ---

    async def crash(self):
        up = [broker for broker in self._world.brokers.values() if broker.is_up]
        if len(up) <= 1 and self._dice.random() < 0.7:
            return
        if up:
            broker = self._dice.choice(up)
            await broker.stop(self._dice.choice(self._world.plan.stops))

    async def crash_leader(self):
        topic_partition = self._dice.choice(self._world.partitions)
        leaders = [
            broker for broker in self._world.brokers.values() if broker.leads(topic_partition)
        ]
        if leaders:
            await self._dice.choice(leaders).stop(self._dice.choice(self._world.plan.stops))

    async def shut_down(self):
        up = [broker for broker in self._world.brokers.values() if broker.is_up]
        if len(up) > 1:
            self._background(self._dice.choice(up).shut_down_in_order())

    async def preferred_election(self):
        for broker in self._world.brokers.values():
            self._background(broker.elect_preferred())

    async def reassign(self):
        topic_partition = self._dice.choice(self._world.partitions)
        target = tuple(self._dice.sample(list(self._world.brokers), 3))
        for broker in self._world.brokers.values():
            self._background(broker.reassign(topic_partition, target))

    def _background(self, coroutine):
        self._tasks.add(task := self._world.loop.create_task(coroutine))
        task.add_done_callback(self._tasks.discard)

    async def burst(self):
        """Many records at once, so that watermarks are behind when something else happens."""
        for _ in range(self._dice.randrange(2, 8)):
            self._world.produce_one()

    async def restart(self):
        down = [broker for broker in self._world.brokers.values() if not broker.is_up]
        if down:
            await self._dice.choice(down).start()

    # --- network ---

    async def isolate(self):
        everyone = [0, *self._world.brokers]
        victim = self._dice.choice(list(self._world.brokers))
        self._world.network.isolate(victim, [other for other in everyone if other != victim])

    async def one_way_cut(self):
        source, target = self._dice.sample(list(self._world.brokers), 2)
        self._world.network.cuts.add((source, target))

    async def lossy_network(self):
        network = self._world.network
        network.loss = self._dice.choice([0.0, 0.05, 0.3])
        network.duplication = self._dice.choice([0.0, 0.1, 0.3])
        network.slowness = self._dice.choice([0.0, 0.1, 0.5])

    async def clear_network(self):
        self._world.network.heal()

    # --- tree sessions ---

    async def cut_from_tree(self):
        self._dice.choice(list(self._world.brokers.values())).cut_from_tree()

    async def mend_tree(self):
        for broker in self._world.brokers.values():
            broker.mend_tree()

    async def lossy_tree(self):
        """Some responses of the ensemble are lost after the operation was applied."""
        for broker in self._world.brokers.values():
            broker.tree.loss = self._dice.choice([0.0, 0.0, 0.1])

    async def expire_session(self):
        broker = self._dice.choice(list(self._world.brokers.values()))
        broker.cut_from_tree()
        asyncio.get_running_loop().call_later(
            self._world.plan.session_timeout_s + 0.05, broker.mend_tree
        )

    # --- disks ---

    async def flush_disks(self):
        for broker in self._world.brokers.values():
            if self._dice.random() < 0.5:
                broker.host.disk.flush()

    async def checkpoint(self):
        for broker in self._world.brokers.values():
            if self._dice.random() < 0.5:
                broker.host.disk.write_checkpoint()

    # --- the end of it ---

    async def quiet(self):
        """Ends all faults and starts all brokers."""
        self._world.network.heal()
        await asyncio.gather(*self._tasks)
        for broker in self._world.brokers.values():
            broker.tree.loss = 0.0
        await self.mend_tree()
        for broker in self._world.brokers.values():
            if not broker.is_up:
                await broker.start()


__all__ = ["Nemesis", "Stop"]
