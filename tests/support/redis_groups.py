"""Primaries with replicas, their Sentinels, and clusters, for tests of failovers."""

import select
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from redis import Redis, RedisError

from strongroom.testing.server import free_port
from tests.support.closable_proxy import Gate
from tests.support.redis import STOP_SECONDS, executable
from tests.support.waiting import wait_until

SERVICE = "limits"
QUORUM = 2
_BUS = 10000
# Replicas of real servers reconnect at leisure; those of a test should not.
_EAGER = ("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0", "--appendonly", "no")


@dataclass
class Node:
    """A server with a fixed port, which may be killed and started again."""

    folder: Path
    port: int
    options: Sequence[str] = ()
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """The URL of this server alone."""
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and return once it answers."""
        self.folder.mkdir(exist_ok=True)
        arguments = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        log = ["--save", "", "--logfile", str(self.folder / "log")]
        self.process = subprocess.Popen([executable(), *self.options, *arguments, *log])
        wait_until(self.answers)

    def answers(self) -> bool:
        """Return whether it answers."""
        with suppress(RedisError):
            return bool(self.call("PING"))
        return False

    def call(self, *command: Any) -> Any:
        """Send a command."""
        with Redis(host="127.0.0.1", port=self.port, socket_timeout=5) as client:
            return client.execute_command(*command)

    def is_primary(self) -> bool:
        """Return whether it takes writes."""
        return self._role() == b"master"

    def is_replica(self) -> bool:
        """Return whether it answers, and follows another."""
        return self._role() == b"slave"

    def _role(self) -> bytes | None:
        with suppress(RedisError):
            role: bytes = self.call("ROLE")[0]
            return role
        return None

    def replicas(self) -> int:
        """Return how many replicas have loaded its data, and follow it."""
        with suppress(RedisError):
            info = self.call("INFO", "replication")
            states = [info[f"slave{number}"] for number in range(info["connected_slaves"])]
            return sum(state["state"] == "online" and int(state["lag"]) <= 1 for state in states)
        return 0

    def stop(self) -> None:
        """Stop it for a while, as a machine that is suspended."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it continue; it still believes to be what it was."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it as by a loss of power."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(timeout=STOP_SECONDS)
            self.process = None


@dataclass
class SentinelGroup:
    """A primary with two replicas, and three Sentinels.

    Replicas and Sentinels reach the first primary through a gate, which can be shut; its clients do not.
    """

    nodes: list[Node]
    sentinels: list[Node]
    gate: Gate
    stack: ExitStack = field(repr=False)

    @classmethod
    @contextmanager
    def serving(cls, folder: Path, *, down_after_ms: int = 1500) -> Iterator[Self]:
        """Run them until the block ends.

        Args:
            down_after_ms: after how many milliseconds of silence a Sentinel takes a primary for down.
        """
        with ExitStack() as stack:
            ports = [free_port() for _ in range(3)]
            gate = Gate(ports[0])
            gate.open()
            stack.callback(gate.shut)
            announced = ("--replica-announce-ip", "127.0.0.1", "--replica-announce-port", str(gate.port))
            follow = ("--replicaof", "127.0.0.1", str(gate.port))
            options = (announced, follow, follow)
            nodes = [
                Node(folder / f"node-{port}", port, (*_EAGER, *more))
                for port, more in zip(ports, options, strict=True)
            ]
            sentinels = [_make_sentinel(folder, gate.port, down_after_ms) for _ in range(3)]
            for node in (*nodes, *sentinels):
                stack.callback(node.kill)
                node.start()
            group = cls(nodes, sentinels, gate, stack)
            wait_until(group.is_complete)
            yield group

    @property
    def url(self) -> str:
        """The URL with the Sentinels."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.sentinels)
        return f"redis+sentinel://{hosts}/{SERVICE}/0"

    def is_complete(self) -> bool:
        """Return whether the primary has two replicas, and each Sentinel knows everything."""
        primary = self.primary()
        return self.has_all_replicas(primary) and self.is_agreed(primary)

    def has_all_replicas(self, primary: Node) -> bool:
        """Return whether all others follow a primary."""
        return primary.replicas() == len(self.nodes) - 1

    def is_agreed(self, primary: Node) -> bool:
        """Return whether each Sentinel knows everything, names this primary, and replaces none."""
        return all(
            view.get("flags") == "master"
            and self._node_at(view["port"]) is primary
            and int(view["num-slaves"]) == QUORUM
            and int(view["num-other-sentinels"]) == QUORUM
            for view in self.views()
        )

    def primary(self) -> Node:
        """Return the primary that the first Sentinel names, which may still be replacing another."""
        _, port = self.sentinels[0].call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE)
        return self._node_at(port)

    def views(self) -> list[dict[str, Any]]:
        """Return what each Sentinel knows of the primary."""
        replies = [sentinel.call("SENTINEL MASTERS") for sentinel in self.sentinels]
        return [reply[SERVICE] if isinstance(reply, dict) else {} for reply in replies]

    def _node_at(self, port: int | str) -> Node:
        ports = {self.gate.port: self.nodes[0].port}
        number = ports.get(int(port), int(port))
        return next(node for node in self.nodes if node.port == number)


def _make_sentinel(folder: Path, port: int, down_after_ms: int) -> Node:
    own = free_port()
    path = folder / f"sentinel-{own}"
    path.mkdir()
    file = path / "sentinel.conf"
    file.write_text(
        f"sentinel monitor {SERVICE} 127.0.0.1 {port} {QUORUM}\n"
        f"sentinel down-after-milliseconds {SERVICE} {down_after_ms}\n"
        f"sentinel failover-timeout {SERVICE} 3000\n"
        f"sentinel parallel-syncs {SERVICE} 2\n"
    )
    return Node(path, own, (str(file), "--sentinel"))


@dataclass
class Cluster:
    """A cluster of three primaries, with or without replicas."""

    nodes: list[Node]

    @classmethod
    @contextmanager
    def serving(cls, folder: Path, *, replicas: int = 0) -> Iterator[Self]:
        """Run it until the block ends."""
        options = ("--cluster-enabled", "yes", "--cluster-node-timeout", "1000")
        with ExitStack() as stack:
            count = 3 * (1 + replicas)
            ports = [_free_cluster_port() for _ in range(count)]
            nodes = [Node(folder / f"node-{port}", port, (*_EAGER, *options)) for port in ports]
            for node in nodes:
                stack.callback(node.kill)
                node.start()
            cluster = cls(nodes)
            cluster.join(replicas)
            yield cluster

    @property
    def url(self) -> str:
        """The URL with three of the nodes."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes[:3])
        return f"redis+cluster://{hosts}"

    def join(self, replicas: int) -> None:
        """Distribute the slots among the first three nodes, and let the others follow them."""
        first = self.nodes[0]
        for number, node in enumerate(self.nodes):
            # Different epochs, without which the nodes would first have to agree.
            node.call("CLUSTER SET-CONFIG-EPOCH", number + 1)
            if node is not first:
                node.call("CLUSTER MEET", "127.0.0.1", first.port)
        for number, node in enumerate(self.nodes[:3]):
            node.call("CLUSTER ADDSLOTS", *range(16384 * number // 3, 16384 * (number + 1) // 3))
        wait_until(self._is_joined)
        for number, node in enumerate(self.nodes[3:]):
            leader = self.nodes[number % 3].call("CLUSTER MYID").decode()
            node.call("CLUSTER REPLICATE", leader)
        wait_until(self.is_up)
        wait_until(lambda: all(node.replicas() == replicas for node in self.nodes[:3]))

    def is_complete(self) -> bool:
        """Return whether each primary has all of its replicas."""
        primaries = [node for node in self.nodes if node.is_primary()]
        replicas = len(self.nodes) // 3 - 1
        return len(primaries) == 3 and all(node.replicas() == replicas for node in primaries)

    def _is_joined(self) -> bool:
        count = len(self.nodes)
        return all(len(node.call("CLUSTER NODES")) == count for node in self.nodes)

    def is_up(self) -> bool:
        """Return whether every node that answers reports that the cluster is up."""
        return all(
            node.call("CLUSTER INFO").get("cluster_state") == "ok"
            for node in self.nodes
            if node.process is not None
        )


def _free_cluster_port() -> int:
    while True:
        port = free_port()
        with suppress(OSError, OverflowError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port + _BUS))
            return port


class TlsGate:
    """A way to a server by TLS, for which a client needs a certificate."""

    def __init__(self, target: int, context: ssl.SSLContext) -> None:
        self._target = target
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=[client], daemon=True).start()

    def _pass_on(self, raw: socket.socket) -> None:
        with (
            raw,
            suppress(OSError),
            self._context.wrap_socket(raw, server_side=True) as client,
            socket.create_connection(("127.0.0.1", self._target)) as server,
        ):
            while _pass_on_once(client, server):
                pass


def _pass_on_once(client: socket.socket, server: socket.socket) -> bool:
    """Pass on what one of them sends, and return whether it has more."""
    ready, _, _ = select.select([client, server], [], [])
    source, sink = (client, server) if client in ready else (server, client)
    data = source.recv(65536)
    sink.sendall(data)
    return bool(data)
