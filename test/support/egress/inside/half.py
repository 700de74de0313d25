# Sends stdin, ends that direction, and prints all that comes back: half.py HOST PORT
import socket, sys

connection = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=20)
connection.sendall(sys.stdin.buffer.read())
connection.shutdown(socket.SHUT_WR)
reply = b""
while data := connection.recv(65536):
    reply += data
print(reply.decode())
