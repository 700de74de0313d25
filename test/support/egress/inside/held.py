# Opens connections that say nothing and holds them all for a while: held.py HOST PORT COUNT
import socket, sys, time

address = (socket.gethostbyname(sys.argv[1]), int(sys.argv[2]))
held = []
for _ in range(int(sys.argv[3])):
    try:
        held.append(socket.create_connection(address, timeout=5))
    except OSError:
        pass
time.sleep(2)
print("held", len(held))
