# Prints what a server says first: first.py HOST PORT
import socket, sys

print(socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=20).recv(100).decode(), end="")
