# Opens and closes connections as fast as it can: opens.py HOST PORT COUNT
import socket, sys

address = (socket.gethostbyname(sys.argv[1]), int(sys.argv[2]))
done = failed = 0
for _ in range(int(sys.argv[3])):
    one = socket.socket()
    one.settimeout(10)
    try:
        one.connect(address)
        done += 1
    except OSError:
        failed += 1
    one.close()
print("opened", done, "failed", failed)
