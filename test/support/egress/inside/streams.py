# Many connections at once, each echoing bytes of its own: streams.py HOST PORT COUNT BYTES
import hashlib, os, socket, sys, threading

host, port, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
good = []
together = threading.Barrier(count)


def one():
    connection = socket.create_connection((host, port), timeout=60)
    together.wait()
    data = os.urandom(size)
    threading.Thread(target=lambda: (connection.sendall(data), connection.shutdown(socket.SHUT_WR))).start()
    seen = hashlib.sha256()
    while piece := connection.recv(65536):
        seen.update(piece)
    good.append(seen.digest() == hashlib.sha256(data).digest())


threads = [threading.Thread(target=one) for _ in range(count)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sum(good), "of", count)
