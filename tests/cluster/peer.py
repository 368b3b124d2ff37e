# SPDX-License-Identifier: Apache-2.0
"""Node 1 of two as far as the handshake (src/cluster/protocol), to say afterwards what no node says."""
import hashlib
import hmac
import os
import socket
import struct

MAGIC = b"SUKIMA-CLUSTER-1"


def peer_message(kind, how=0, entry=1, function=0, id=0, request=0, round_trip=0):  # the names of messages.hpp
    return struct.pack("<BBIIQQI", kind, how, entry, function, id, request, round_trip)


class Peer:
    HELLO, PROOF, MEMBERS, DATA = 1, 2, 3, 4
    MAC_SIZE = 16

    def __init__(self, address, token):
        self.token = token.encode()
        self.key = None
        self.number = 0
        # The first connection is only for the version and the build id, which the second one gives back.
        self.socket = socket.create_connection(address)
        theirs = self.greet(b"\0\0", b"\0\0")
        self.socket.close()
        version, build_id = self.texts(theirs)
        self.socket = socket.create_connection(address)
        theirs = self.greet(version, build_id)
        proof = self.receive(self.PROOF)
        assert proof == self.mac(b"acceptor", theirs)
        self.send(self.PROOF, self.mac(b"connector", theirs))
        if token:
            self.key = self.mac(b"from connector", theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    @staticmethod
    def texts(hello):
        """The version and the build id, each with its length."""
        rest = hello[len(MAGIC) + 32 + struct.calcsize("<BIIH"):]
        size = 2 + struct.unpack_from("<H", rest)[0]
        return rest[:size], rest[size:]

    def greet(self, version, build_id):
        self.own = MAGIC + os.urandom(32) + struct.pack("<BIIH", 8, 2, 1, 9) + version + build_id
        self.send(self.HELLO, self.own)
        return self.receive(self.HELLO)

    def mac(self, word, theirs):
        return hmac.digest(self.token, word + self.own + theirs, hashlib.sha256)

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

    def exactly(self, size):
        got = b""
        while len(got) < size:
            more = self.socket.recv(size - len(got))
            assert more, "the connection was closed"
            got += more
        return got
