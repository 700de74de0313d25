# A TLS client whose first bytes the test chooses: tls.py HOST PORT SNI [whole|bytewise|padded] prints what a GET gives.
# SNI `-` sends none. The hello goes out in one piece, byte by byte, or with an extension list of more than 16 KiB.
import socket, ssl, sys

host, port, sni = sys.argv[1], int(sys.argv[2]), sys.argv[3]
how = sys.argv[4] if len(sys.argv) > 4 else "whole"
context = ssl.create_default_context(cafile="ca.pem")
context.check_hostname = False
context.set_alpn_protocols(["http/1.1"] if how != "padded" else ["p%03d" % i + "x" * 200 for i in range(90)] + ["http/1.1"])
incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
tls = context.wrap_bio(incoming, outgoing, server_hostname=None if sni == "-" else sni)
connection = socket.create_connection((host, port), timeout=20)
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def flush(slowly=False):
    data = outgoing.read()
    for piece in [data[i : i + 1] for i in range(len(data))] if slowly else [data]:
        if piece:
            connection.sendall(piece)


def step(action):
    while True:
        try:
            return action()
        except ssl.SSLWantReadError:
            flush(how == "bytewise")
            data = connection.recv(65536)
            if not data:
                sys.exit("closed")
            incoming.write(data)


step(tls.do_handshake)
flush()
tls.write(("GET /hello HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % host).encode())
flush()
print(step(lambda: tls.read(65536)).decode())
