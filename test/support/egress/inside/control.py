# A server and a client of its own, TCP and UDP over lo: prints `control ok` where sockets work at all.
import socket, threading

listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: listener.accept()[0].sendall(b"ok")).start()
asking, answering = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
answering.bind(("127.0.0.1", 0))
asking.sendto(b"control ", answering.getsockname())
print(answering.recv(100).decode() + socket.create_connection(listener.getsockname()).recv(2).decode())
