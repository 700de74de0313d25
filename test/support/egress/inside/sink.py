# Sends stdin, ends that direction, and compares what the server counted with what was sent: sink.py HOST PORT
import hashlib, socket, sys

connection = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=100)
seen, count = hashlib.sha256(), 0
while piece := sys.stdin.buffer.read1(262144):
    connection.sendall(piece)
    seen.update(piece)
    count += len(piece)
connection.shutdown(socket.SHUT_WR)
reply = connection.recv(1000).decode().strip()
print(reply, "same" if reply == "%d %s" % (count, seen.hexdigest()) else "different")
