# Sends datagrams, and an ICMP echo where that is allowed: udp.py ADDRESS PORT prints the error of each.
import socket, sys

address, port = sys.argv[1], int(sys.argv[2])
family = socket.AF_INET6 if ":" in address else socket.AF_INET
icmp = socket.IPPROTO_ICMPV6 if ":" in address else socket.IPPROTO_ICMP
for kind, protocol in ((socket.SOCK_DGRAM, 0), (socket.SOCK_DGRAM, icmp), (socket.SOCK_RAW, icmp)):
    try:
        one = socket.socket(family, kind, protocol)
        one.sendto(b"\x08\x00\xf7\xfe\x00\x00\x00\x01secret", (address, port))
        print("sent")
    except OSError as error:
        print(error.strerror)
