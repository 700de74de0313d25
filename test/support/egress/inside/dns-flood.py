# Packets that are no questions, to the container's own name server, for some seconds: noise, loops of compression, cut
# names, a million answers. Then TCP connections that never say anything.
import os, random, socket, struct, sys, time

server = ("127.0.0.1", 53)
asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
head = struct.pack(">6H", 7, 0x100, 1, 0, 0, 0)
loop = head + b"\xc0\x0c" + struct.pack(">2H", 1, 1)
cut = head + b"\x3fabc"
many = struct.pack(">6H", 7, 0x100, 65535, 65535, 65535, 65535) + b"\x01a\x00"
sent = 0
end = time.time() + float(sys.argv[1])
while time.time() < end:
    for packet in (loop, cut, many, os.urandom(random.randint(0, 1400)), b"", head):
        try:
            asking.sendto(packet, server)
            sent += 1
        except OSError:
            pass
held = []
for _ in range(200):
    try:
        one = socket.create_connection(server, timeout=2)
        one.sendall(b"\xff\xff" if len(held) % 2 else b"\x00")
        held.append(one)
    except OSError:
        break
print("sent", sent, "held", len(held))
