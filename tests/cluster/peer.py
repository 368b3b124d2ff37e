# SPDX-License-Identifier: Apache-2.0
"""Plays node 1 of two up to the handshake (src/cluster/protocol), and afterwards sends what no node would send."""
import hashlib
import hmac
import os
import socket
import struct

MAGIC = b"SUKIMA-CLUSTER-3"


def peer_message(kind, how=0, entry=1, function=0, id=0, request=0, round_trip=0):  # the names of messages.hpp
    brings_solutions = kind in (4, 6, 9)  # none
    return struct.pack("<BBIIQQI", kind, how, entry, function, id, request, round_trip) + bytes(4 * brings_solutions)


class Peer:
    HELLO, PROOF, MEMBERS, DATA, LEAVE, ALIVE, CHALLENGE = 1, 2, 3, 4, 5, 6, 8
    MAC_SIZE = 16

    def __init__(self, address, token):
        self.token = token.encode()
        self.key = None
        self.number = 0
        self.socket = socket.create_connection(address)
        challenge = self.receive(self.CHALLENGE)
        assert challenge.startswith(MAGIC)
        self.numbers = challenge[len(MAGIC):] + os.urandom(32)
        self.send(self.PROOF, self.numbers[32:] + self.mac(b"connector"))
        assert self.receive(self.PROOF) == self.mac(b"acceptor")
        hello = self.receive(self.HELLO)
        # Sends the version and the build id of the other node. The test does not check the MAC after them.
        rest = hello[struct.calcsize("<BIIHB"):len(hello) - (self.MAC_SIZE if token else 0)]
        if token:
            self.key = self.mac(b"from connector")
        self.send(self.HELLO, struct.pack("<BIIHB", 8, 2, 1, 9, 0) + rest)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def mac(self, word):
        return hmac.digest(self.token, word + self.numbers, hashlib.sha256)

    def send(self, kind, content):
        whole = struct.pack("<IB", 1 + len(content) + (self.MAC_SIZE if self.key else 0), kind) + content
        if self.key:
            whole += hmac.digest(self.key, struct.pack("<Q", self.number) + whole, hashlib.sha256)[:self.MAC_SIZE]
            self.number += 1
        self.socket.sendall(whole)

    def receive(self, kind):
        size, found = struct.unpack("<IB", self.exactly(5))
        assert found == kind, found
        return self.exactly(size - 1)

    def next_message(self):
        """The kind and the entry of the next message."""
        while True:
            size, found = struct.unpack("<IB", self.exactly(5))
            content = self.exactly(size - 1)
            if found == self.DATA:
                return content[0], struct.unpack_from("<I", content, 2)[0]
            assert found == self.ALIVE, found

    def exactly(self, size):
        got = b""
        while len(got) < size:
            more = self.socket.recv(size - len(got))
            assert more, "the connection was closed"
            got += more
        return got
