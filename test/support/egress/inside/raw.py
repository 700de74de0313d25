# Sends bytes to HOST PORT, given as a Python string with escapes, and prints what comes back: raw.py HOST PORT TEXT...
# Each TEXT is sent by itself; between them it waits for an answer.
import codecs, socket, sys

connection = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=10)
for index, text in enumerate(sys.argv[3:]):
    if index > 0:
        print(connection.recv(65536).decode("latin1"))
    connection.sendall(codecs.escape_decode(text.encode())[0])
reply = b""
try:
    while data := connection.recv(65536):
        reply += data
except socket.timeout:
    reply += b"[silence]"
print(reply.decode("latin1"))
