# Sends a text and bytes to a WebSocket and prints what comes back: websocket.py URL
import asyncio, ssl, sys, websockets

async def main():
    context = ssl.create_default_context(cafile="ca.pem") if sys.argv[1].startswith("wss") else None
    async with websockets.connect(sys.argv[1], ssl=context, max_size=None) as socket:
        await socket.send("a text")
        print(await socket.recv())
        await socket.send(b"x" * 1000000)
        print(len(await socket.recv()))

asyncio.run(main())
